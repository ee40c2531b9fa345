// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Testing

@testable import OfferService

/// Something odd in the store's catalog, and what the linter finds.
struct LintRow: CustomTestStringConvertible, Sendable {
    let what: String
    /// As `warning hide-tag-on-base-plan premium/monthly`.
    let findings: [String]
    /// Whether our catalog names the offer.
    let isWanted: Bool
    /// A part of the first finding's sentence or advice.
    let saying: String
    private let change: @Sendable (inout ListedSample) throws -> Void

    var testDescription: String { what }

    init(
        _ what: String,
        _ findings: [String],
        isWanted: Bool = true,
        saying: String = "",
        _ change: @escaping @Sendable (inout ListedSample) throws -> Void = { _ in }
    ) {
        self.what = what
        self.findings = findings
        self.isWanted = isWanted
        self.saying = saying
        self.change = change
    }

    func run() throws -> [GooglePlayFinding] {
        var sample = try ListedSample()
        try change(&sample)
        let wanted = GooglePlayWantedOffer(id: try CatalogOfferID("winback-50"), key: sample.key)
        return GooglePlayLint.findings(
            wanted: isWanted ? [wanted] : [],
            hideTags: sample.hideTags,
            in: try sample.playCatalog()
        )
    }

    private static let tag = #""rc-ignore-offer""#
    private static let acquisition = #"{"acquisitionRule":{"scope":{"thisSubscription":{}}}}"#
    private static let upgrade = #"{"upgradeRule":{"scope":{"thisSubscription":{}}}}"#
    private static let place = "premium/monthly/winback-50"

    static let all = [
        LintRow("nothing", []),
        LintRow("developer-determined without a hide tag, wanted", ["error hide-tag-missing \(place)"]) { sample in
            try sample.set(.offer, "/offerTags", nil)
        },
        LintRow(
            "developer-determined without a hide tag, not wanted",
            ["warning hide-tag-missing \(place)", "note offer-not-in-catalog \(place)"],
            isWanted: false,
            saying: "have only standard, not ignore-offer"
        ) { sample in
            try sample.set(.offer, "/offerTags", nil)
        },
        LintRow(
            "a draft without a hide tag, not wanted",
            ["note hide-tag-missing \(place)", "note offer-not-in-catalog \(place)"],
            isWanted: false
        ) { sample in
            try sample.set(.offer, "/offerTags", nil)
            try sample.set(.offer, "/state", #""DRAFT""#)
        },
        LintRow(
            "a hide tag on the base plan",
            ["warning hide-tag-on-base-plan premium/monthly"],
            saying: "hides every offer of it: winback-50"
        ) { sample in
            try sample.set(.subscription, "/basePlans/0/offerTags/1", #"{"tag":"ignore-offer"}"#)
        },
        LintRow(
            "a hide tag on a base plan without offers",
            ["warning hide-tag-on-base-plan premium/prepaid-month"],
            saying: "hides every offer of it."
        ) { sample in
            try sample.set(.subscription, "/basePlans/1/offerTags", #"[{"tag":"ignore-offer"}]"#)
        },
        LintRow(
            "a hide tag on an acquisition offer",
            ["warning hide-tag-on-acquisition-offer \(place)"],
            isWanted: false,
            saying: "for new customers"
        ) { sample in
            try sample.set(.offer, "/targeting", acquisition)
        },
        LintRow("a hide tag on an upgrade offer", ["warning hide-tag-on-upgrade-offer \(place)"], isWanted: false) {
            sample in
            try sample.set(.offer, "/targeting", upgrade)
        },
        LintRow(
            "an acquisition offer that is wanted",
            ["error hide-tag-missing \(place)", "error offer-not-developer-determined \(place)"],
            saying: "Nothing hides the offer"
        ) { sample in
            try sample.set(.offer, "/targeting", acquisition)
            try sample.set(.offer, "/offerTags/0/tag", #""other""#)
        },
        LintRow("an acquisition offer without a hide tag", [], isWanted: false) { sample in
            try sample.set(.offer, "/targeting", acquisition)
            try sample.set(.offer, "/offerTags", nil)
        },
        LintRow("a draft that is wanted", ["error offer-draft \(place)"]) { try $0.set(.offer, "/state", #""DRAFT""#) },
        LintRow("an inactive offer that is wanted", ["error offer-inactive \(place)"]) { sample in
            try sample.set(.offer, "/state", #""INACTIVE""#)
        },
        LintRow("an inactive offer that is not wanted", [], isWanted: false) { sample in
            try sample.set(.offer, "/state", #""INACTIVE""#)
        },
        LintRow("an offer that is not wanted", ["note offer-not-in-catalog \(place)"], isWanted: false),
        LintRow(
            "a wanted offer that is absent",
            ["error offer-not-found premium/monthly/winback-5 (winback-50)", "note offer-not-in-catalog \(place)"],
            saying: "Google Play lists winback-50."
        ) { sample in
            sample.key = try .of("premium", "monthly", "winback-5")
        },
        LintRow(
            "a wanted base plan that is absent",
            ["error base-plan-not-found premium/yearly/winback-50", "note offer-not-in-catalog \(place)"],
            saying: "Google Play lists monthly and prepaid-month."
        ) { sample in
            sample.key = try .of("premium", "yearly", "winback-50")
        },
        LintRow(
            "a wanted subscription that is absent",
            ["error subscription-not-found pro/monthly/winback-50", "note offer-not-in-catalog \(place)"],
            saying: "Google Play lists premium."
        ) { sample in
            sample.key = try .of("pro", "monthly", "winback-50")
        },
        LintRow("a hidden offer for old libraries", ["warning legacy-offer-not-hidden \(place)"]) { sample in
            let pointer = "/basePlans/0/autoRenewingBasePlanType/legacyCompatibleSubscriptionOfferId"
            try sample.set(.subscription, pointer, #""winback-50""#)
        },
        LintRow("an acquisition offer for old libraries", [], isWanted: false) { sample in
            let pointer = "/basePlans/0/autoRenewingBasePlanType/legacyCompatibleSubscriptionOfferId"
            try sample.set(.subscription, pointer, #""winback-50""#)
            try sample.set(.offer, "/targeting", acquisition)
            try sample.set(.offer, "/offerTags", nil)
        },
        LintRow(
            "a region of the offer in which the base plan is not to be had",
            ["warning region-without-base-plan \(place)"],
            saying: "new subscribers in DE"
        ) { sample in
            try sample.set(.subscription, "/basePlans/0/regionalConfigs/1/newSubscriberAvailability", nil)
        },
        LintRow(
            "a region of the base plan in which the offer is not to be had",
            ["note offer-not-in-every-region \(place)"]
        ) { sample in
            try sample.set(.offer, "/regionalConfigs/1/newSubscriberAvailability", nil)
        },
        LintRow("a phase without a region of the offer, wanted", ["error phase-region-missing \(place)"]) { sample in
            try sample.set(.offer, "/phases/1/regionalConfigs/1", nil)
        },
        LintRow(
            "a phase without a region of the offer, not wanted",
            ["warning phase-region-missing \(place)", "note offer-not-in-catalog \(place)"],
            isWanted: false
        ) { sample in
            try sample.set(.offer, "/phases/1/regionalConfigs/1", nil)
        },
        LintRow(
            "a phase with a region that the offer has not",
            ["warning phase-region-unused \(place)"],
            saying: "Phase 1 has a price for FR"
        ) { sample in
            try sample.set(.offer, "/phases/0/regionalConfigs/2", #"{"regionCode":"FR","free":{}}"#)
        },
        LintRow(
            "RevenueCat's tag without ours, wanted",
            ["error hide-tag-missing \(place)", "warning vendor-tag-without-ours \(place)"],
            saying: "only rc-ignore-offer, standard and winback"
        ) { sample in
            try sample.set(.offer, "/offerTags/0/tag", tag)
        },
        LintRow(
            "RevenueCat's tag without ours, not wanted",
            ["warning vendor-tag-without-ours \(place)", "note offer-not-in-catalog \(place)"],
            isWanted: false,
            saying: "where RevenueCat picks one"
        ) { sample in
            try sample.set(.offer, "/offerTags/0/tag", tag)
        },
        LintRow(
            "two vendors' tags without ours",
            ["warning vendor-tag-without-ours \(place)", "note offer-not-in-catalog \(place)"],
            isWanted: false,
            saying: "The tag rc-customer-center and sw-ignore-offer hides the offer where RevenueCat and Superwall"
        ) { sample in
            try sample.set(.offer, "/offerTags", #"[{"tag":"rc-customer-center"},{"tag":"sw-ignore-offer"}]"#)
        },
        LintRow("a vendor's tag that is also ours", []) { sample in
            try sample.set(.offer, "/offerTags/0/tag", tag)
            sample.hideTags = [try OfferTag("ignore-offer"), try OfferTag("rc-ignore-offer")]
        },
        LintRow(
            "a malformed offer, wanted",
            ["error offer-malformed \(place)"],
            saying: "/phases/0/duration is missing"
        ) {
            sample in
            try sample.set(.offer, "/phases/0/duration", nil)
        },
        LintRow("a malformed offer, not wanted", ["warning offer-malformed \(place)"], isWanted: false) { sample in
            try sample.set(.offer, "/phases/0/duration", nil)
        },
        LintRow(
            "a malformed subscription, not wanted",
            ["warning subscription-malformed premium", "note offer-not-in-catalog \(place)"],
            isWanted: false
        ) { sample in
            try sample.set(.subscription, "/packageName", nil)
        },
        LintRow("a malformed subscription, wanted", ["error subscription-malformed \(place)"]) { sample in
            try sample.set(.subscription, "/packageName", nil)
        },
        LintRow("what has no name", ["warning entry-malformed "], isWanted: false, saying: "/offerId is missing") {
            sample in
            try sample.set(.offer, "/offerId", nil)
        },
    ]
}

@Suite("Google Play: the linter")
struct LintTests {
    @Test(arguments: LintRow.all)
    func `finds what is odd, and nothing else`(row: LintRow) throws {
        let findings = try row.run()
        #expect(findings.map { "\($0.severity.rawValue) \($0.code) \($0.place)" } == row.findings)
        guard let first = findings.first, !row.saying.isEmpty else { return }
        #expect("\(first.sentence) \(first.advice)".contains(row.saying), "\(first.sentence) \(first.advice)")
    }

    @Test(arguments: LadderRow.all)
    func `finds as an error whatever keeps a wanted offer from being authorized`(row: LadderRow) throws {
        let sample = try row.sample()
        let wanted = GooglePlayWantedOffer(id: try CatalogOfferID("winback-50"), key: sample.key)
        let findings = GooglePlayLint.findings(
            wanted: [wanted],
            hideTags: sample.hideTags,
            in: try sample.playCatalog()
        )
        let errors = findings.filter { $0.severity == .error }.map(\.code)
        // What depends on the customer's region is no error of the offer's.
        guard !["region-not-available", "region-unknown"].contains(row.code) else { return }
        #expect(errors.contains(row.code))
    }

    @Test
    func `has a row for each code`() throws {
        let found = Set(try LintRow.all.flatMap { try $0.run() }.map(\.code))
        for code in GooglePlayFinding.Code.allCases { #expect(found.contains(code.rawValue)) }
    }

    @Test
    func `puts the worst first`() throws {
        let findings = try LintRow.all.map { try $0.run() }
        for list in findings { #expect(list.map(\.severity) == list.map(\.severity).sorted()) }
    }
}
