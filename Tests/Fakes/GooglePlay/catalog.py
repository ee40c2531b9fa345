# SPDX-License-Identifier: Apache-2.0
"""The subscriptions, base plans and offers of each app, as the androidpublisher API has them.

Source: https://developers.google.com/android-publisher/api-ref/rest/v3/monetization.subscriptions and
https://developers.google.com/android-publisher/api-ref/rest/v3/monetization.subscriptions.basePlans.offers
"""
from proto3 import edit, merge

PLAN_KINDS = {
    "autoRenewing": "autoRenewingBasePlanType",
    "prepaid": "prepaidBasePlanType",
    "installments": "installmentsBasePlanType",
}
PHASE_KINDS = ("free", "price", "relativeDiscount", "absoluteDiscount")


def money(units, nanos=0, currency="USD"):
    """int64 is a string in JSON."""
    return {"currencyCode": currency, "units": str(units), "nanos": nanos}


class Catalog:
    """Resources as they are on the wire, but with false and zero written out."""

    def __init__(self):
        # Package name: product id: subscription.
        self._subscriptions = {}
        # Package name: (product id, base plan id, offer id): offer.
        self._offers = {}

    def clear(self):
        self._subscriptions.clear()
        self._offers.clear()

    def subscriptions(self, package_name):
        return list(self._subscriptions.get(package_name, {}).values())

    def offers(self, package_name, product_id="-", base_plan_id="-"):
        """Those of a base plan, of a subscription, or of the app, by wildcards."""
        own = self._offers.get(package_name, {})
        return [
            offer
            for (product, plan, _), offer in own.items()
            if product_id in ("-", product) and base_plan_id in ("-", plan)
        ]

    def subscription(self, package_name, product_id):
        return self._subscriptions.get(package_name, {}).get(product_id)

    def base_plan(self, package_name, product_id, base_plan_id):
        subscription = self.subscription(package_name, product_id) or {}
        plans = [plan for plan in subscription.get("basePlans", []) if plan.get("basePlanId") == base_plan_id]
        return plans[0] if plans else None

    def offer(self, package_name, product_id, base_plan_id, offer_id):
        return self._offers.get(package_name, {}).get((product_id, base_plan_id, offer_id))

    def tags(self, package_name, product_id, base_plan_id, offer_id=None):
        """The latest tags of an offer and of its base plan, in one list, as purchases and devices show them."""
        offer = self.offer(package_name, product_id, base_plan_id, offer_id) or {}
        plan = self.base_plan(package_name, product_id, base_plan_id) or {}
        tags = [tag["tag"] for resource in (offer, plan) for tag in resource.get("offerTags", [])]
        return list(dict.fromkeys(tags))

    def put_subscription(self, package_name, description):
        subscription = build_subscription(package_name, description)
        self._subscriptions.setdefault(package_name, {})[description["productId"]] = subscription

    def put_offer(self, package_name, description):
        key = description["productId"], description["basePlanId"], description["offerId"]
        self._offers.setdefault(package_name, {})[key] = build_offer(package_name, description)

    def find(self, package_name, product_id, base_plan_id=None, offer_id=None):
        """The subscription, the base plan or the offer that the ids name; raises KeyError."""
        ids = [identifier for identifier in (product_id, base_plan_id, offer_id) if identifier]
        find = (self.subscription, self.base_plan, self.offer)[len(ids) - 1]
        resource = find(package_name, *ids)
        if resource is None:
            raise KeyError(f"{package_name}: {'/'.join(ids)}")
        return resource

    def edit(self, names, path, value):
        edit(self.find(*names), path, value)

    def remove(self, package_name, product_id, base_plan_id=None, offer_id=None):
        resource = self.find(package_name, product_id, base_plan_id, offer_id)
        if offer_id:
            del self._offers[package_name][product_id, base_plan_id, offer_id]
        elif base_plan_id:
            self.subscription(package_name, product_id)["basePlans"].remove(resource)
        else:
            del self._subscriptions[package_name][product_id]


def build_subscription(package_name, description):
    """A subscription from what `setSubscription` says of it (see README.md)."""
    subscription = {
        "packageName": package_name,
        "productId": description["productId"],
        "basePlans": [build_base_plan(plan) for plan in description.get("basePlans", [])],
        "listings": [{"title": "Premium", "languageCode": "en-US", "benefits": ["Everything"], "description": ""}],
        "archived": False,
        "taxAndComplianceSettings": {"eeaWithdrawalRightType": "WITHDRAWAL_RIGHT_SERVICE"},
    }
    return merge(subscription, description.get("members"))


def build_base_plan(description):
    regions = description.get("regions", ["US", "DE"])
    period = description.get("billingPeriod", "P1M")
    kind = description.get("kind", "autoRenewing")
    if kind not in PLAN_KINDS:
        raise ValueError(f"no kind {kind!r}; there are {', '.join(PLAN_KINDS)}")
    plan = {
        "basePlanId": description["basePlanId"],
        "state": description.get("state", "ACTIVE"),
        PLAN_KINDS[kind]: _plan_type(kind, period, description.get("legacyCompatibleOfferId")),
        "regionalConfigs": [
            {"regionCode": region, "newSubscriberAvailability": region in regions, "price": money(9, 990_000_000)}
            for region in regions + description.get("closedRegions", [])
        ],
        "otherRegionsConfig": {
            "usdPrice": money(9, 990_000_000),
            "eurPrice": money(10, currency="EUR"),
            "newSubscriberAvailability": description.get("otherRegions", False),
        },
        "offerTags": [{"tag": tag} for tag in description.get("tags", [])],
    }
    return merge(plan, description.get("members"))


def _plan_type(kind, period, legacy_offer_id):
    if kind == "prepaid":
        return {"billingPeriodDuration": period, "timeExtension": "TIME_EXTENSION_ACTIVE"}
    plan_type = {
        "billingPeriodDuration": period,
        "gracePeriodDuration": "P3D",
        "accountHoldDuration": "P30D",
        "resubscribeState": "RESUBSCRIBE_STATE_ACTIVE",
        "prorationMode": "SUBSCRIPTION_PRORATION_MODE_CHARGE_ON_NEXT_BILLING_DATE",
    }
    if kind == "installments":
        return plan_type | {"committedPaymentsCount": 12, "renewalType": "RENEWAL_TYPE_RENEWS_WITH_COMMITMENT"}
    plan_type["legacyCompatible"] = bool(legacy_offer_id)
    if legacy_offer_id:
        plan_type["legacyCompatibleSubscriptionOfferId"] = legacy_offer_id
    return plan_type


def build_offer(package_name, description):
    """An offer from what `setOffer` says of it (see README.md)."""
    regions, closed = description.get("regions", ["US", "DE"]), description.get("closedRegions", [])
    phases = description.get("phases", [{"kind": "free", "duration": "P7D"}])
    offer = {
        "packageName": package_name,
        "productId": description["productId"],
        "basePlanId": description["basePlanId"],
        "offerId": description["offerId"],
        "state": description.get("state", "ACTIVE"),
        "phases": [_phase(phase, regions + closed) for phase in phases],
        "regionalConfigs": [
            {"regionCode": region, "newSubscriberAvailability": region in regions} for region in regions + closed
        ],
        "otherRegionsConfig": {"otherRegionsNewSubscriberAvailability": description.get("otherRegions", False)},
        "offerTags": [{"tag": tag} for tag in description.get("tags", [])],
    }
    # Without it the offer is developer-determined; an empty object stays one.
    if description.get("targeting") is not None:
        offer["targeting"] = description["targeting"]
    return merge(offer, description.get("members"))


def _phase(description, regions):
    kind = description.get("kind", "free")
    if kind not in PHASE_KINDS:
        raise ValueError(f"no kind {kind!r}; there are {', '.join(PHASE_KINDS)}")
    own = {"free": {}, "price": money(1), "relativeDiscount": 0.5, "absoluteDiscount": money(5)}[kind]
    prices = {"usdPrice": money(1), "eurPrice": money(1, currency="EUR")}
    other = {
        "free": {"free": {}},
        "price": {"otherRegionsPrices": prices},
        "relativeDiscount": {"relativeDiscount": 0.5},
        "absoluteDiscount": {"absoluteDiscounts": prices},
    }[kind]
    phase = {
        "recurrenceCount": description.get("recurrenceCount", 1),
        "duration": description.get("duration", "P1M"),
        "regionalConfigs": [{"regionCode": region, kind: own} for region in regions],
        "otherRegionsConfig": other,
    }
    return merge(phase, description.get("members"))
