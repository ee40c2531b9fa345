// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

struct StoreFindingTests {
    private let undecided = EligibilityPolicy(rule: .status(in: [.active])).decide(.about())

    @Test(arguments: [
        (StoreFinding.transactionUnknown(.transactionID), "the App Store was asked and does not know /transactionId"),
        (.transactionUnknown(.signedTransaction), "the App Store was asked and does not know /signedTransactions/0"),
        (.purchaseUnknown(index: 2), "Google Play was asked and does not know /purchaseTokens/2"),
        (
            .purchaseExpiredTooLong(index: 0),
            "Google Play was asked and no longer tells of /purchaseTokens/0: it expired more than 60 days ago"
        ),
        (
            .purchaseUnreadable(index: 1),
            "Google Play's answer about /purchaseTokens/1 cannot be read; the service's log names its member"
        ),
    ])
    func `explains an undecided decision`(finding: StoreFinding, because: String) throws {
        let explained = undecided.explained(by: [finding])
        #expect(explained.outcome == .undecided)
        #expect(explained.findings.dropLast() == undecided.findings[...])
        let last = try #require(explained.findings.last)
        #expect(last.rule == "storeAnswer" && last.answer == .undecided && last.because == because)
    }

    @Test
    func `names the group that is known, and says less of one that is no number`() throws {
        func because(_ group: String) throws -> String? {
            undecided.explained(by: [.otherGroup(try SubscriptionGroupID(group))]).findings.last?.because
        }
        #expect(try because("21234567")?.contains("in the group 21234567, not in the subscriptionGroupId") == true)
        #expect(try because("Premium")?.contains("in another group, not in") == true)
    }

    @Test
    func `changes no other decision`() {
        let refused = EligibilityPolicy(rule: nil).decide(.about { $0.facts.subscribedBefore = .stated(false) })
        #expect(refused.outcome == .notEligible)
        #expect(refused.explained(by: [.entryUnreadable]) == refused)
        #expect(undecided.explained(by: []) == undecided)
    }

    @Test
    func `finds the other group only where no subscription is in the one asked for`() throws {
        let known = SubscriptionEvidence(
            source: .storeAPI,
            transactions: [try Purchases.transaction(1, from: .ago(days: 35), to: .ago(days: 5))]
        )
        let history = SubscriptionHistory(known)
        let own = try #require(history.chains.values.first?.latest?.subscriptionGroup)
        #expect(history.otherGroup(than: try SubscriptionGroupID("Premium")) == own)
        #expect(history.otherGroup(than: own) == nil)
        #expect(SubscriptionHistory().otherGroup(than: own) == nil)
    }
}
