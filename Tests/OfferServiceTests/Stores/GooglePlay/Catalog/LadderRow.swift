// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Testing

/// One thing that is wrong with an offer, and how the refusal names it.
struct LadderRow: CustomTestStringConvertible, Sendable {
    let code: String
    let what: String
    /// Whether the store states two things that exclude each other, so that removing one fixes the offer.
    let isContradiction: Bool
    private let change: @Sendable (inout ListedSample) throws -> Void

    var testDescription: String { "\(code): \(what)" }

    init(
        _ code: String,
        _ what: String,
        isContradiction: Bool = false,
        _ change: @escaping @Sendable (inout ListedSample) throws -> Void
    ) {
        self.code = code
        self.what = what
        self.isContradiction = isContradiction
        self.change = change
    }

    /// One value of a part changed.
    init(
        _ code: String,
        _ part: ListedSample.Part,
        _ pointer: String,
        _ json: String?,
        isContradiction: Bool = false
    ) {
        self.init(code, "\(part) \(pointer) \(json ?? "left out")", isContradiction: isContradiction) {
            try $0.set(part, pointer, json)
        }
    }

    func sample() throws -> ListedSample {
        var sample = try ListedSample()
        try change(&sample)
        return sample
    }

    static let all = basePlans + offers + tags + phases + regions

    private static let basePlans = [
        LadderRow("subscription-not-found", "another product is asked for") { sample in
            sample.key = try .of("other", "monthly", "winback-50")
        },
        LadderRow("subscription-malformed", .subscription, "/packageName", nil),
        LadderRow("subscription-malformed", .subscription, "/basePlans/1/basePlanId", nil),
        LadderRow("subscription-malformed", .subscription, "/basePlans/1/basePlanId", #""monthly""#),
        LadderRow("subscription-malformed", .subscription, "/basePlans/0/regionalConfigs/1/regionCode", #""US""#),
        LadderRow(
            "subscription-malformed",
            .subscription,
            "/basePlans/0/offerTags",
            #""standard""#,
            isContradiction: true
        ),
        LadderRow("answer-names-another-offer", .subscription, "/packageName", #""com.example.app2""#),
        LadderRow("base-plan-not-found", "another base plan is asked for") { sample in
            sample.key = try .of("premium", "yearly", "winback-50")
        },
        LadderRow("base-plan-not-active", .subscription, "/basePlans/0/state", #""DRAFT""#),
        LadderRow("base-plan-not-active", .subscription, "/basePlans/0/state", #""INACTIVE""#),
        LadderRow("base-plan-not-active", .subscription, "/basePlans/0/state", #""active""#),
        LadderRow("base-plan-not-active", .subscription, "/basePlans/0/state", #""ACTIVE_SOMEHOW""#),
        LadderRow("base-plan-not-active", .subscription, "/basePlans/0/state", nil),
        LadderRow("base-plan-not-auto-renewing", .subscription, "/basePlans/0/autoRenewingBasePlanType", nil),
        LadderRow("base-plan-not-auto-renewing", .subscription, "/basePlans/0/autoRenewingBasePlanType", "null"),
        LadderRow(
            "base-plan-not-auto-renewing",
            .subscription,
            "/basePlans/0/installmentsBasePlanType",
            "{}",
            isContradiction: true
        ),
        LadderRow("base-plan-not-auto-renewing", "the base plan is prepaid") { sample in
            try sample.set(.subscription, "/basePlans/0/autoRenewingBasePlanType", nil)
            try sample.set(.subscription, "/basePlans/0/prepaidBasePlanType", #"{"billingPeriodDuration":"P1M"}"#)
        },
        LadderRow("base-plan-not-auto-renewing", "the base plan is of a type of the future") { sample in
            try sample.set(.subscription, "/basePlans/0/autoRenewingBasePlanType", nil)
            try sample.set(.subscription, "/basePlans/0/futureBasePlanType", #"{"billingPeriodDuration":"P1M"}"#)
        },
    ]

    private static let offers = [
        LadderRow("offer-not-found", "another offer is asked for") { sample in
            sample.key = try .of("premium", "monthly", "winback-5")
        },
        LadderRow("offer-not-found", "there are no offers") { $0.isOfferListed = false },
        LadderRow("offer-not-found", .offer, "/basePlanId", #""prepaid-month""#),
        LadderRow("offer-malformed", .offer, "/packageName", nil),
        LadderRow("offer-malformed", .offer, "/phases/0/duration", nil),
        LadderRow("offer-malformed", .offer, "/phases/0/duration", #""P1H""#),
        LadderRow("offer-malformed", .offer, "/phases/0/recurrenceCount", nil),
        LadderRow("offer-malformed", .offer, "/phases/0/recurrenceCount", "0"),
        LadderRow("offer-malformed", .offer, "/phases/0/regionalConfigs/1/regionCode", nil),
        LadderRow("offer-malformed", .offer, "/phases/0/regionalConfigs/1/regionCode", #""US""#),
        LadderRow("offer-malformed", .offer, "/regionalConfigs/1/regionCode", #""US""#),
        LadderRow("offer-malformed", .offer, "/regionalConfigs/1/regionCode", #""Germany""#),
        LadderRow("offer-malformed", .offer, "/offerTags/0/tag", nil),
        LadderRow("offer-malformed", .offer, "/offerTags", #""ignore-offer""#),
        LadderRow("offer-malformed", .offer, "/phases/0/regionalConfigs/0/free", "true"),
        LadderRow(
            "offer-malformed",
            .offer,
            "/regionalConfigs/1/newSubscriberAvailability",
            #""true""#,
            isContradiction: true
        ),
        LadderRow("answer-names-another-offer", .offer, "/packageName", #""com.example.app2""#),
        LadderRow("offer-draft", .offer, "/state", #""DRAFT""#),
        LadderRow("offer-inactive", .offer, "/state", #""INACTIVE""#),
        LadderRow("offer-state-unknown", .offer, "/state", #""STATE_UNSPECIFIED""#),
        LadderRow("offer-state-unknown", .offer, "/state", #""PAUSED""#),
        LadderRow("offer-state-unknown", .offer, "/state", nil),
        LadderRow("offer-state-unknown", .offer, "/state", "null"),
        LadderRow(
            "offer-not-developer-determined",
            .offer,
            "/targeting",
            #"{"acquisitionRule":{"scope":{"thisSubscription":{}}}}"#
        ),
        LadderRow(
            "offer-not-developer-determined",
            .offer,
            "/targeting",
            #"{"upgradeRule":{"scope":{"specificSubscriptionInApp":"basic"},"oncePerUser":true}}"#
        ),
        LadderRow("offer-not-developer-determined", .offer, "/targeting", #"{"acquisitionRule":{}}"#),
        LadderRow("targeting-unknown", .offer, "/targeting", "{}"),
        LadderRow("targeting-unknown", .offer, "/targeting", "null"),
        LadderRow("targeting-unknown", .offer, "/targeting", "false"),
        LadderRow("targeting-unknown", .offer, "/targeting", #"{"futureRule":{}}"#),
        LadderRow("targeting-unknown", .offer, "/targeting", #"{"acquisitionRule":null}"#),
        LadderRow("targeting-unknown", .offer, "/targeting", #"{"acquisitionRule":{},"upgradeRule":{}}"#),
    ]

    private static let tags = [
        LadderRow("hide-tag-missing", .offer, "/offerTags", nil),
        LadderRow("hide-tag-missing", .offer, "/offerTags", "[]"),
        LadderRow("hide-tag-missing", .offer, "/offerTags/0/tag", #""rc-ignore-offer""#),
        LadderRow("hide-tag-missing", .offer, "/offerTags/0/tag", #""ignore-offers""#),
        LadderRow("hide-tag-missing", .offer, "/offerTags/0/tag", #""Ignore-Offer""#),
        LadderRow("hide-tag-missing", .offer, "/offerTags/0/tag", #""ignore-offer ""#),
        LadderRow("hide-tag-missing", "the tag is on another base plan") { sample in
            try sample.set(.offer, "/offerTags", nil)
            try sample.set(.subscription, "/basePlans/1/offerTags", #"[{"tag":"ignore-offer"}]"#)
        },
        LadderRow("hide-tag-missing", "no tag is named as one that hides") { $0.hideTags = [] },
    ]

    private static let phases = [
        LadderRow("no-phases", .offer, "/phases", nil),
        LadderRow("no-phases", .offer, "/phases", "[]"),
        LadderRow("too-many-phases", "three phases") { sample in
            try sample.set(.offer, "/phases/2", sample.offer["phases"][0].json)
        },
        LadderRow("phase-kind-unknown", .offer, "/phases/0/regionalConfigs", nil),
        LadderRow("phase-kind-unknown", .offer, "/phases/0/regionalConfigs/0/free", nil),
        LadderRow("phase-kind-unknown", .offer, "/phases/0/regionalConfigs/1", #"{"regionCode":"DE","futureKind":{}}"#),
        LadderRow(
            "phase-kind-unknown",
            .offer,
            "/phases/1/regionalConfigs/0/free",
            "{}",
            isContradiction: true
        ),
        LadderRow("phase-kinds-not-allowed", "two free trials") { sample in
            try sample.set(.offer, "/phases/1/regionalConfigs", sample.offer["phases"][0]["regionalConfigs"].json)
        },
        LadderRow("phase-kinds-not-allowed", "two price discounts") { sample in
            try sample.set(.offer, "/phases/0/regionalConfigs", sample.offer["phases"][1]["regionalConfigs"].json)
        },
        LadderRow("mixed-phase-kind", "one phase, free in the US and discounted in Germany") { sample in
            try sample.set(.offer, "/phases/1", nil)
            let discount = #"{"regionCode":"DE","absoluteDiscount":{"currencyCode":"EUR","units":"1"}}"#
            try sample.set(.offer, "/phases/0/regionalConfigs/1", discount)
        },
        LadderRow("phase-region-missing", .offer, "/phases/1/regionalConfigs/1", nil),
        LadderRow(
            "phase-region-missing",
            .offer,
            "/regionalConfigs/2",
            #"{"regionCode":"FR"}"#
        ),
    ]

    private static let regions = [
        LadderRow("region-not-available", .offer, "/regionalConfigs/0/newSubscriberAvailability", nil),
        LadderRow("region-not-available", .offer, "/regionalConfigs/0/newSubscriberAvailability", "false"),
        LadderRow("region-not-available", .offer, "/regionalConfigs", nil),
        LadderRow(
            "region-not-available",
            .subscription,
            "/basePlans/0/regionalConfigs/0/newSubscriberAvailability",
            nil
        ),
        LadderRow("region-not-available", .subscription, "/basePlans/0/regionalConfigs", nil),
        LadderRow("region-not-available", "a region that only otherRegionsConfig could mean") { sample in
            sample.region = try Region("FR")
        },
        LadderRow("region-not-available", "no region is stated, and there is none") { sample in
            sample.region = nil
            try sample.set(.offer, "/regionalConfigs/0/newSubscriberAvailability", nil)
            try sample.set(.subscription, "/basePlans/0/regionalConfigs/1/newSubscriberAvailability", nil)
        },
        LadderRow("region-unknown", "no region is stated, and the offer is not open in each") { sample in
            sample.region = nil
            try sample.set(.offer, "/regionalConfigs/1/newSubscriberAvailability", nil)
        },
        LadderRow("region-unknown", "no region is stated, and the base plan is not open in each") { sample in
            sample.region = nil
            try sample.set(.subscription, "/basePlans/0/regionalConfigs/1/newSubscriberAvailability", nil)
        },
    ]
}

extension GooglePlayOfferKey {
    static func of(_ productID: String, _ basePlanID: String, _ offerID: String) throws -> GooglePlayOfferKey {
        GooglePlayOfferKey(
            packageName: ListedSample.key.packageName,
            productID: try GooglePlayProductID(productID),
            basePlanID: try BasePlanID(basePlanID),
            offerID: try GooglePlayOfferID(offerID)
        )
    }
}
