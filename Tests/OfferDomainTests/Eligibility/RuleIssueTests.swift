// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

struct RuleIssueTests {
    /// A rule and the one thing that is wrong with it.
    struct Row: CustomTestStringConvertible {
        let rule: Rule
        let pointer: String
        let kind: RuleIssue.Kind
        var testDescription: String { "\(pointer): \(RuleIssue(pointer: pointer, kind: kind))" }

        init(_ rule: Rule, _ pointer: String, _ kind: RuleIssue.Kind) {
            self.rule = rule
            self.pointer = pointer
            self.kind = kind
        }
    }

    static func rows() throws -> [Row] {
        let usa = try Storefront("USA")
        let now = RuleRow.now
        return [
            Row(.all([]), "/all", .empty),
            Row(.any([]), "/any", .empty),
            Row(.not(.all([])), "/not/all", .empty),
            Row(.all([.autoRenew(true), .cooldown(days: 0)]), "/all/1/cooldown/days", .zero),
            Row(.any([.all([.cooldown(days: -1)])]), "/any/0/all/0/cooldown/days", .negative(-1)),
            Row(.status(in: []), "/status/in", .empty),
            Row(.status(in: [.active, .active]), "/status/in", .repeated("active")),
            Row(.storefront(in: []), "/storefront/in", .empty),
            Row(.storefront(in: [usa, usa]), "/storefront/in", .repeated("USA")),
            Row(.region(in: []), "/region/in", .empty),
            Row(.lapsed(atLeastDays: nil, atMostDays: nil), "/lapsed", .unbounded),
            Row(.lapsed(atLeastDays: 9, atMostDays: 8), "/lapsed", .reversed),
            Row(.lapsed(atLeastDays: -2, atMostDays: nil), "/lapsed/atLeastDays", .negative(-2)),
            Row(.lapsed(atLeastDays: nil, atMostDays: 36_501), "/lapsed/atMostDays", .tooLarge(36_501, limit: 36_500)),
            Row(.usedOffers(type: nil, offer: nil, atMost: -1), "/usedOffers/atMost", .negative(-1)),
            Row(
                .usedOffers(type: .introductory, offer: try OfferID("a"), atMost: 0),
                "/usedOffers/offer",
                .introductoryOfferHasNoID
            ),
            Row(.grants(atMost: 0), "/grants/atMost", .zero),
            Row(.grants(atMost: 1, perDays: 0), "/grants/perDays", .zero),
            Row(.budget(atMost: -5), "/budget/atMost", .negative(-5)),
            Row(.budget(atMost: .max), "/budget/atMost", .tooLarge(.max, limit: 1_000_000_000)),
            Row(.budget(atMost: 1, perDays: -1), "/budget/perDays", .negative(-1)),
            Row(.window(from: nil, until: nil), "/window", .unbounded),
            Row(.window(from: now, until: now), "/window", .reversed),
            Row(.refunded(withinDays: 0), "/refunded/withinDays", .zero),
            Row(.refunded(withinDays: 9, atLeastPercent: 0), "/refunded/atLeastPercent", .zero),
            Row(
                .refunded(withinDays: 9, atLeastPercent: 101),
                "/refunded/atLeastPercent",
                .tooLarge(101, limit: 100)
            ),
            Row(.commitmentEnds(withinDays: 0), "/commitmentEnds/withinDays", .zero),
            Row(.commitmentPeriod(atLeast: nil, atMost: nil), "/commitmentPeriod", .unbounded),
            Row(.commitmentPeriod(atLeast: 3, atMost: 2), "/commitmentPeriod", .reversed),
            Row(.commitmentPeriod(atLeast: 0, atMost: 2), "/commitmentPeriod/atLeast", .zero),
            Row(.attribute(name: "a b", .exists(true)), "/attribute/name", .unfitAttributeName),
            Row(.attribute(name: "a", .isIn([])), "/attribute/in", .empty),
            Row(.attribute(name: "a", .range(atLeast: nil, atMost: nil)), "/attribute", .unbounded),
            Row(.attribute(name: "a", .range(atLeast: 2, atMost: 1)), "/attribute", .reversed),
            Row(
                .attribute(name: "a", .range(atLeast: .nan, atMost: nil)),
                "/attribute/atLeast",
                .unfitAttributeValue(.notFinite)
            ),
            Row(
                .attribute(name: "a", .equals(.text(String(repeating: "x", count: 129)))),
                "/attribute/equals",
                .unfitAttributeValue(.textTooLong(limit: 128))
            ),
            Row(.subscribedBefore(false), "/subscribedBefore", .contradictsFloor),
            Row(.all([.all([.subscribedBefore(false)])]), "/all/0/all/0/subscribedBefore", .contradictsFloor),
            Row(.not(.subscribedBefore(true)), "/not/subscribedBefore", .contradictsFloor),
            Row(.not(.not(.subscribedBefore(false))), "/not/not/subscribedBefore", .contradictsFloor),
            Row(
                .all([.autoRenew(true), .not(.any([.autoRenew(false), .subscribedBefore(true)]))]),
                "/all/1/not/any/1/subscribedBefore",
                .contradictsFloor
            ),
        ]
    }

    @Test(arguments: try rows())
    func `reports a rule that makes no sense, and its pointer`(row: Row) {
        #expect(EligibilityPolicy(rule: row.rule).issues == [RuleIssue(pointer: row.pointer, kind: row.kind)])
        #expect(RuleIssue(pointer: row.pointer, kind: row.kind).description.count > 8)
    }

    @Test
    func `finds nothing wrong with rules that make sense`() throws {
        let rules: [Rule] = [
            .subscribedBefore(true), .status(in: [.active]), .lapsed(atLeastDays: 0, atMostDays: 0), .autoRenew(false),
            .usedOffers(type: .introductory, offer: nil, atMost: 0), .grants(atMost: 1, perDays: 36_500),
            .cooldown(days: 1), .budget(atMost: 1), .window(from: RuleRow.now, until: nil), .refunded(withinDays: 1),
            .storefront(in: [try Storefront("USA")]), .region(in: [try Region("US")]), .ownership(.purchased),
            .environment(.sandbox), .appOrigin(in: [.appStore, .testFlight]), .deviceIntegrity(atLeast: .basic),
            .appLicensed(false),
            .attribute(name: "a", .range(atLeast: 1, atMost: 1)),
            .attribute(name: "a", .isIn([.text("x")])),
        ]
        #expect(EligibilityPolicy(rule: .all(rules + [.any(rules), .not(.all(rules))])).issues.isEmpty)
        #expect(EligibilityPolicy(rule: nil).issues.isEmpty)
        #expect(EligibilityPolicy(rule: .subscribedBefore(false), offerType: .introductory).issues.isEmpty)
        for rule: Rule in [.not(.subscribedBefore(false)), .not(.all([.subscribedBefore(true), .autoRenew(true)]))] {
            #expect(EligibilityPolicy(rule: rule).issues.isEmpty)
        }
        for rule: Rule in [.subscribedBefore(false), .not(.subscribedBefore(true))] {
            #expect(EligibilityPolicy(rule: rule, hasFloor: false).issues.isEmpty)
        }
        #expect(EligibilityPolicy(rule: .grants(atMost: 1, counting: .redeemed)).issues.isEmpty)
        #expect(EligibilityPolicy(rule: .grants(atMost: 1), offerType: .introductory).issues.isEmpty)
    }

    @Test
    func `refuses to count redemptions of introductory offers, wherever in the rule`() {
        let rule = Rule.all([
            .grants(atMost: 1, counting: .redeemed), .any([.not(.cooldown(days: 1, counting: .redeemed))]),
        ])
        let issues = EligibilityPolicy(rule: rule, offerType: .introductory).issues
        #expect(issues.map(\.pointer) == ["/all/0/grants/counting", "/all/1/any/0/not/cooldown/counting"])
        #expect(issues.allSatisfy { $0.kind == .introductoryUsesUnmatched })
    }

    @Test
    func `finds everything at once`() {
        let rule = Rule.all([.cooldown(days: 0), .status(in: []), .window(from: nil, until: nil)])
        #expect(rule.issues.map(\.pointer) == ["/all/0/cooldown/days", "/all/1/status/in", "/all/2/window"])
    }
}
