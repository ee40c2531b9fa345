# SPDX-License-Identifier: Apache-2.0
"""Calls by the client that openapi-generator makes for Python."""

import base64
import sys
from datetime import datetime, timedelta, timezone

import offer_signer as api

URL, BACKEND, AUDITOR = sys.argv[1:]


def client(key):
    return api.ApiClient(api.Configuration(host=URL, access_token=key))


def request(customer, **members):
    facts = api.Facts(status=api.SubscriptionStatus.EXPIRED, expires_at="2026-01-01T00:00:00Z")
    return api.SignatureRequest(**{
        "bundle_id": "com.example.app", "product_id": "com.example.pro.monthly", "offer_id": "winback_3m",
        "customer_id": customer, "facts": facts, **members})


def sign(signatures):
    churn = {"churnRisk": api.AttributeValue(0.8), "beta": api.AttributeValue(True), "plan": api.AttributeValue("gold")}
    offer = signatures.sign_promotional_offer(
        request("python-1", formats=[api.SignatureFormat.V1, api.SignatureFormat.JWS], transaction_id="2000000123456789",
                attributes=churn))
    assert base64.b64decode(offer.signature) and offer.jws.count(".") == 2, offer
    assert offer.expires_at > datetime.now(timezone.utc), offer
    assert offer.decision.outcome == "eligible" and offer.decision.findings[0].code == api.FindingCode.SUBSCRIBED_MINUS_BEFORE, offer
    try:
        signatures.sign_promotional_offer(request("python-2", facts=api.Facts(status=api.SubscriptionStatus.ACTIVE)))
    except api.exceptions.ForbiddenException as refusal:
        assert refusal.data.type == "/problems/not-eligible" and refusal.data.decision.outcome == "notEligible", refusal
    else:
        sys.exit("A subscriber got a win-back offer.")
    return offer


def sign_batch(signatures):
    answer = signatures.sign_promotional_offers(
        api.SignatureRequests(requests=[request("python-3"), request("python-4", offer_id="none")]))
    first, second = answer.results
    assert first.status == 200 and first.grant.signature and first.problem is None, answer
    assert second.status == 404 and second.problem.type == "/problems/unknown-offer" and second.grant is None, answer


def preview(key):
    answer = api.EligibilityApi(key).preview_offers(
        api.EligibilityRequest(bundle_id="com.example.app", customer_id="python-5", facts=api.Facts(subscribed_before=True)))
    assert {offer.id for offer in answer.offers} >= {"winback", "stay"} and answer.products, answer


def authorize(key):
    answer = api.AuthorizationsApi(key).authorize_google_play_offer(api.AuthorizationRequest(
        package_name="com.example.app", product_id="premium", base_plan_id="monthly", offer_id="winback-50",
        customer_id="python-6", facts=api.Facts(subscribed_before=True)))
    assert answer.hide_tags[0].tag and answer.phases[0].kind and answer.if_missing_on_device == "offerNothing", answer


def audit(key, grant):
    log = api.AuditApi(key)
    since = (datetime.now(timezone.utc) - timedelta(hours=1)).isoformat(timespec="seconds")
    page = log.list_audit_entries(grant=grant, var_from=since, limit=10)
    assert page.entries and page.size > 3, page
    entry = page.entries[0].entry
    assert entry.ev.startswith("sign.") and entry.additional_properties["grant"] == grant, page
    whole = log.get_audit_entry(page.entries[0].index)
    assert whole.entry.t == entry.t and whole.bytes, whole
    assert log.get_audit_log().size >= page.size
    assert log.summarize_audit_log().decisions
    assert log.reconcile().environment == api.StoreEnvironment.PRODUCTION
    assert api.KeysAndSealApi(key).list_keys().keys[0].state == "active"
    assert not api.KeysAndSealApi(key).get_seal().is_sealed
    assert api.OperationApi(key).get_own_caller().role == "auditor"


def look_up(key, offer):
    found = api.AuditApi(key).look_up_signature(api.PresentedSignature(
        bundle_id="com.example.app", product_id="com.example.pro.monthly", offer_id=offer.identifier,
        key_identifier=offer.key_identifier, nonce=offer.nonce, timestamp=offer.timestamp, signature=offer.signature))
    assert found.signature_verifies and found.entry.additional_properties["grant"] == offer.grant_id, found


with client(BACKEND) as backend, client(AUDITOR) as auditor:
    granted = sign(api.SignaturesApi(backend))
    sign_batch(api.SignaturesApi(backend))
    preview(backend)
    authorize(backend)
    audit(auditor, granted.grant_id)
    look_up(auditor, granted)
print("sign, batch, eligibility, authorization and audit work")
