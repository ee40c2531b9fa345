# SPDX-License-Identifier: Apache-2.0
"""Calls by the client that openapi-python-client makes."""

import sys

from plain_client import AuthenticatedClient, models
from plain_client.api.audit import get_audit_entry, get_audit_log, list_audit_entries, look_up_signature, summarize_audit_log
from plain_client.api.authorizations import authorize_google_play_offer
from plain_client.api.eligibility import preview_offers
from plain_client.api.signatures import sign_promotional_offer, sign_promotional_offers

URL, BACKEND, AUDITOR = sys.argv[1:]
backend = AuthenticatedClient(base_url=URL, token=BACKEND, raise_on_unexpected_status=True)
auditor = AuthenticatedClient(base_url=URL, token=AUDITOR, raise_on_unexpected_status=True)


def request(customer, offer="winback_3m", status=models.SubscriptionStatus.EXPIRED):
    return models.SignatureRequest(
        bundle_id="com.example.app", product_id="com.example.pro.monthly", offer_id=offer, customer_id=customer,
        facts=models.Facts(status=status, expires_at="2026-01-01T00:00:00Z"), formats=[models.SignatureFormat.V1])


offer = sign_promotional_offer.sync(client=backend, body=request("plain-1"))
assert isinstance(offer, models.SignedOffer) and offer.signature, offer
refusal = sign_promotional_offer.sync_detailed(
    client=backend, body=request("plain-2", status=models.SubscriptionStatus.ACTIVE))
assert refusal.status_code == 403 and refusal.parsed.type_ == "/problems/not-eligible", refusal

batch = models.SignatureRequests(requests=[request("plain-3"), request("plain-4", offer="none")])
granted, refused = sign_promotional_offers.sync(client=backend, body=batch).results
assert granted.status == 200 and granted.grant.signature and refused.status == 404 and refused.problem.detail

preview = preview_offers.sync(client=backend, body=models.EligibilityRequest(
    bundle_id="com.example.app", customer_id="plain-5", facts=models.Facts(subscribed_before=True)))
assert isinstance(preview, models.Eligibility) and len(preview.offers) > 2 and preview.products, preview

authorization = authorize_google_play_offer.sync(client=backend, body=models.AuthorizationRequest(
    package_name="com.example.app", product_id="premium", base_plan_id="monthly", offer_id="winback-50",
    customer_id="plain-6", facts=models.Facts(subscribed_before=True)))
assert isinstance(authorization, models.Authorization) and authorization.phases[0].duration, authorization

page = list_audit_entries.sync(client=auditor, grant=offer.grant_id)
assert isinstance(page, models.AuditPage) and page.entries[0].entry["grant"] == offer.grant_id, page
assert get_audit_entry.sync(page.entries[0].index, client=auditor).entry.t == page.entries[0].entry.t
assert get_audit_log.sync(client=auditor).size >= page.size and summarize_audit_log.sync(client=auditor).decisions
found = look_up_signature.sync(client=auditor, body=models.PresentedSignature.from_dict({
    "bundleId": "com.example.app", "productId": "com.example.pro.monthly", "offerId": offer.identifier,
    "keyIdentifier": offer.key_identifier, "nonce": offer.nonce, "timestamp": offer.timestamp, "signature": offer.signature}))
assert isinstance(found, models.LookedUpSignature) and found.signature_verifies, found
print("sign, batch, eligibility, authorization and audit work")
