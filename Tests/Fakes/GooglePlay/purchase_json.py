# SPDX-License-Identifier: Apache-2.0
"""SubscriptionPurchaseV2: what purchases.subscriptionsv2.get says of a purchase.

Source: https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2
"""
import copy
import hashlib

import purchases
from catalog import money
from proto3 import edit
from times import rfc3339


class PurchaseWriter:
    def __init__(self, catalog, clock, habits):
        self._catalog = catalog
        self._clock = clock
        self._habits = habits

    def write(self, purchase):
        """The resource, with false and zero written out."""
        state = purchase.state_at(self._clock.now())
        resource = {
            "kind": "androidpublisher#subscriptionPurchaseV2",
            "regionCode": purchase.region,
            "lineItems": [self._line_item(purchase, item) for item in purchase.items],
            "subscriptionState": f"SUBSCRIPTION_STATE_{state}",
            "acknowledgementState": "ACKNOWLEDGEMENT_STATE_"
            + ("ACKNOWLEDGED" if purchase.is_acknowledged else "PENDING"),
            "etag": hashlib.sha256(f"{purchase.token} {purchase.version}".encode()).hexdigest()[:24],
        }
        resource |= self._contexts(purchase, state)
        if purchase.started_at is not None:
            resource["startTime"] = self._time(purchase.started_at)
        if purchase.linked_token:
            resource["linkedPurchaseToken"] = purchase.linked_token
        if purchase.is_test:
            resource["testPurchase"] = {}
        if identifiers := account_identifiers(purchase):
            resource["externalAccountIdentifiers"] = identifiers
        if purchase.out_of_app:
            resource["outOfAppPurchaseContext"] = purchase.out_of_app
        if self._habits.writes_legacy_members:
            resource["latestOrderId"] = order_id(purchase, purchase.items[0])
        resource = copy.deepcopy(resource)
        for path, value in purchase.edits:
            try:
                edit(resource, path, value)
            except (KeyError, IndexError):
                # What was edited is not there in every state.
                pass
        return resource

    def _contexts(self, purchase, state):
        declined = {"renewalDeclined": {"pendingOrderId": f"{order_id(purchase, purchase.items[0])}..99"}}
        match state:
            case purchases.IN_GRACE_PERIOD:
                return {"inGracePeriodStateContext": declined}
            case purchases.ON_HOLD:
                return {"onHoldStateContext": declined}
            case purchases.CANCELED | purchases.EXPIRED if purchase.cancellation is not None:
                return {"canceledStateContext": self._with_time(purchase.cancellation)}
        if purchase.paused_until is not None:
            return {"pausedStateContext": {"autoResumeTime": self._time(purchase.paused_until)}}
        return {}

    def _with_time(self, cancellation):
        return {
            name: context | ({"cancelTime": self._time(context["cancelTime"])} if "cancelTime" in context else {})
            for name, context in cancellation.items()
        }

    def _line_item(self, purchase, item):
        is_pending = purchase.started_at is None
        line = {"productId": item.product_id, "offerDetails": self._offer_details(purchase, item)}
        if not is_pending:
            line |= {
                "expiryTime": self._time(item.expires_at),
                "latestSuccessfulOrderId": order_id(purchase, item),
            }
            if item.phase:
                line["offerPhase"] = {item.phase: {}}
        if item.kind == "prepaid":
            line["prepaidPlan"] = {} if is_pending else {"allowExtendAfterTime": self._time(purchase.started_at)}
        else:
            line["autoRenewingPlan"] = {
                "autoRenewEnabled": item.renews, "recurringPrice": money(9, 990_000_000),
            } | ({"installmentDetails": installments(item)} if item.kind == "installments" else {})
        return join(line, item.members)

    def _offer_details(self, purchase, item):
        ids = item.product_id, item.base_plan_id, item.offer_id
        details = {"basePlanId": item.base_plan_id, "offerTags": self._catalog.tags(purchase.package_name, *ids)}
        return details | ({"offerId": item.offer_id} if item.offer_id else {})

    def _time(self, milliseconds):
        return rfc3339(milliseconds, self._habits.fraction_digits)


def order_id(purchase, item):
    """Renewals are counted from 0 behind the id of the first order."""
    return purchase.order_id + (f"..{item.order_number - 1}" if item.order_number else "")


def installments(item):
    paid = 1 + item.order_number
    return {
        "initialCommittedPaymentsCount": 12,
        "subsequentCommittedPaymentsCount": 12,
        "remainingCommittedPaymentsCount": max(12 - paid, 0),
    }


def account_identifiers(purchase):
    own = {
        "obfuscatedExternalAccountId": purchase.account_id, "obfuscatedExternalProfileId": purchase.profile_id,
    }
    return {name: value for name, value in own.items() if value is not None}


def join(members, changes):
    """Sets members, in objects within objects too, or takes away those set to None."""
    for name, value in changes.items():
        if value is None:
            members.pop(name, None)
        elif isinstance(value, dict) and isinstance(members.get(name), dict):
            members[name] = join(dict(members[name]), value)
        else:
            members[name] = value
    return members
