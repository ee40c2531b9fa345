# SPDX-License-Identifier: Apache-2.0
"""The offers that both services of `differential` have, and what the fakes of the stores know of them.

All caps look back over a year or for ever. So they count the same on both sides, though one of the two services is
often asked some seconds later than the other.
"""
from place import Place
from stores import FakeAppStore, FakeGooglePlay

BUNDLE, PACKAGE = "com.example.app", "com.example.app"
MONTHLY, YEARLY = "com.example.pro.monthly", "com.example.pro.yearly"
GROUPS = {MONTHLY: "21234567", YEARLY: "21234568"}
PLAY_PRODUCT, PLAY_PLAN = "premium", "monthly"
# Every promotional offer of the App Store: product, identifier there.
APP_STORE_OFFERS = [
    (MONTHLY, "winback_3m"), (MONTHLY, "stay_half_price"), (MONTHLY, "once_a_chain"), (MONTHLY, "each_store"),
    (MONTHLY, "if_redeemed"), (MONTHLY, "few_in_all"), (YEARLY, "yearly_upgrade"), (YEARLY, "gold")]
GOOGLE_PLAY_OFFERS = ["winback-50", "each-store", "if-redeemed", "new-customers"]

OFFERS = """
{
  apps: [
    {
      bundleId: "com.example.app",
      packageName: "com.example.app",
      appAppleId: 1234567890,
      plans: [
        {
          id: "pro_monthly",
          appStore: { productId: "com.example.pro.monthly", subscriptionGroupId: "21234567" },
          googlePlay: { productId: "premium", basePlanId: "monthly" },
          offers: [
            {
              id: "winback",
              appStore: { offerId: "winback_3m" },
              googlePlay: { offerId: "winback-50" },
              eligibility: {
                all: [
                  { status: { in: ["expired"] } },
                  { lapsed: { atLeastDays: 30 } },
                  { grants: { atMost: 3, perDays: 365 } },
                ],
              },
            },
            {
              id: "stay",
              appStore: { offerId: "stay_half_price" },
              eligibility: {
                all: [
                  { status: { in: ["active"] } },
                  { any: [{ autoRenew: "off" }, { attribute: { name: "churnRisk", atLeast: 0.7 } }] },
                  { not: { refunded: { withinDays: 90 } } },
                  { cooldown: { days: 30 } },
                ],
              },
            },
            {
              id: "chain",
              appStore: { offerId: "once_a_chain" },
              eligibility: { grants: { atMost: 1, perDays: 365, per: "originalTransaction" } },
            },
            {
              id: "each",
              appStore: { offerId: "each_store" },
              googlePlay: { offerId: "each-store" },
              eligibility: { grants: { atMost: 2, perDays: 365, stores: "each" } },
            },
            {
              id: "redeemed",
              appStore: { offerId: "if_redeemed" },
              googlePlay: { offerId: "if-redeemed" },
              eligibility: { all: [{ grants: { atMost: 2, perDays: 365, counting: "redeemed" } },
                                   { usedOffers: { type: "promotional", atMost: 1 } }] },
            },
            {
              id: "few",
              appStore: { offerId: "few_in_all" },
              eligibility: { all: [{ grants: { atMost: 4 } }, { budget: { atMost: 60 } }] },
            },
            {
              id: "welcome",
              googlePlay: { offerId: "new-customers", admitsNewCustomers: true },
              admitsUnprovenCustomers: true,
              eligibility: { grants: { atMost: 1 } },
            },
          ],
          introductoryOffer: {
            id: "trial",
            eligibility: { all: [{ usedOffers: { type: "introductory", subscriptionGroupId: "21234567", atMost: 0 } },
                                 { grants: { atMost: 1 } }] },
          },
        },
        {
          id: "pro_yearly",
          appStore: { productId: "com.example.pro.yearly", subscriptionGroupId: "21234568" },
          offers: [
            { id: "yearly_upgrade", appStore: { offerId: "yearly_upgrade" } },
            {
              id: "gold",
              appStore: { offerId: "gold" },
              eligibility: { all: [{ attribute: { name: "tier", in: ["gold", "silver"] } },
                                   { grants: { atMost: 2 } }] },
            },
          ],
        },
      ],
    },
  ],
}
"""


def furnish(place: Place, app_store: FakeAppStore, play: FakeGooglePlay) -> None:
    """Gives a service the offers, and lets it ask its stores about them."""
    place.write("offers", OFFERS)
    app_store.admit(place)
    play.admit(place)
    play.call("setSubscription", productId=PLAY_PRODUCT, basePlans=[{"basePlanId": PLAY_PLAN}])
    for offer in GOOGLE_PLAY_OFFERS:
        play.call("setOffer", productId=PLAY_PRODUCT, basePlanId=PLAY_PLAN, offerId=offer, tags=["ignore-offer"],
                  regions=["US", "DE"], phases=[{"kind": "free", "duration": "P7D"}])
