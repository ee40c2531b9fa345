// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

/// Rules about the app that asks.
struct AppRuleTests {
    private static let strong = Rule.deviceIntegrity(atLeast: .strong)

    static let rows: [RuleRow] = [
        row(
            .appOrigin(in: [.appStore, .testFlight]),
            .met,
            .appOriginMatches,
            "the app comes from one of the places listed"
        ) {
            $0.origin = .testFlight
        },
        row(.appOrigin(in: [.appStore]), .notMet, .appOriginDiffers, "the app comes from none of the places listed") {
            $0.origin = .enterprise
        },
        row(
            .appOrigin(in: [.appStore]),
            .undecided,
            .appOriginUnknown,
            "it is not known where the app comes from; send an App Attest assertion of iOS 27 or later or a token of Play "
                + "Integrity, or as a backend facts.appOrigin"
        ) { $0.device = .strong },
        row(strong, .met, .deviceIntegrityMet, "the app's device meets the integrity that is needed") {
            $0.device = .strong
        },
        row(
            .deviceIntegrity(atLeast: .basic),
            .met,
            .deviceIntegrityMet,
            "the app's device meets the integrity that is needed"
        ) {
            $0.device = .device
        },
        row(strong, .notMet, .deviceIntegrityLower, "the app's device meets a lower integrity than is needed") {
            $0.device = .device
        },
        row(
            strong,
            .undecided,
            .deviceIntegrityUnknown,
            "it is not known which integrity the app's device meets; send a token of Play Integrity, or as a backend "
                + "facts.deviceIntegrity"
        ) { $0.origin = .playStore },
        row(.appLicensed(true), .met, .appLicensed, "the user got the app from Google Play") { $0.isLicensed = true },
        row(.appLicensed(true), .notMet, .appNotLicensed, "the user did not get the app from Google Play") {
            $0.isLicensed = false
        },
        row(.appLicensed(false), .met, .appNotLicensed, "the user did not get the app from Google Play") {
            $0.isLicensed = false
        },
        row(
            .appLicensed(false),
            .undecided,
            .appLicenseUnknown,
            "it is not known whether the user got the app from Google Play; send a token of Play Integrity, or as a "
                + "backend facts.appLicensed"
        ) { $0.origin = .playStore },
    ]

    private static func row(
        _ rule: Rule,
        _ answer: Answer,
        _ code: FindingCode,
        _ because: String,
        where change: @escaping @Sendable (inout AppFacts) -> Void
    ) -> RuleRow {
        RuleRow(rule, answer, code, because) { change(&$0.facts.app) }
    }

    @Test(arguments: rows)
    func `answers, and says why`(row: RuleRow) {
        let finding = row.rule.evaluate(in: row.context)
        #expect(finding.answer == row.answer && finding.code == row.code)
        #expect(finding.because == row.because)
    }

    @Test func `asks no store about the app, and is found inside other rules`() {
        let rule = Rule.all([
            .autoRenew(true), .not(.any([Self.strong, .appLicensed(true)])), .appOrigin(in: [.other]),
        ])
        #expect(rule.factNeeds == .autoRenew)
        #expect(rule.asksAboutApp.map(\.name) == ["deviceIntegrity", "appLicensed", "appOrigin"])
        #expect(Rule.autoRenew(true).asksAboutApp.isEmpty)
    }
}
