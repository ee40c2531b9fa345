// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import OfferDomain

/// Promises of merging, tried on thousands of heaps of evidence in which copies contradict each other.
struct MergingTests {
    @Test
    func `comes to the same in any order, however often a piece comes`() throws {
        var random = SplitMix(seed: 31)
        for _ in 0..<300 {
            let pieces = try random.pieces()
            let once = pieces.reduce(SubscriptionHistory()) { $0.merged(with: $1) }
            var shuffled = pieces + pieces.filter { _ in random.chance(in: 2) }
            shuffled.shuffle(using: &random)
            let again = shuffled.reduce(SubscriptionHistory()) { $0.merged(with: $1) }
            #expect(once == again)
            #expect(try once.facts() == again.facts())
            #expect(once.redemptions(at: RuleRow.now) == again.redemptions(at: RuleRow.now))
        }
    }

    @Test
    func `comes to the same however it is grouped`() throws {
        var random = SplitMix(seed: 32)
        for _ in 0..<300 {
            let (one, two, three) = (
                try random.pieces().reduce(SubscriptionHistory()) { $0.merged(with: $1) },
                try random.pieces().reduce(SubscriptionHistory()) { $0.merged(with: $1) },
                try random.pieces().reduce(SubscriptionHistory()) { $0.merged(with: $1) }
            )
            #expect(one.merged(with: two) == two.merged(with: one))
            #expect(one.merged(with: one) == one)
            #expect(one.merged(with: two).merged(with: three) == one.merged(with: two.merged(with: three)))
        }
    }

    @Test
    func `is not moved by what it holds already, or by older copies of it`() throws {
        var random = SplitMix(seed: 33)
        for _ in 0..<150 {
            let pieces = try random.pieces()
            let whole = pieces.reduce(SubscriptionHistory()) { $0.merged(with: $1) }
            for piece in pieces { #expect(whole.merged(with: piece) == whole) }
        }
    }

    @Test
    func `takes the refunded one of two copies that were signed at the same instant`() throws {
        let bought = try Purchases.transaction(1, from: .ago(days: 9), to: .ago(days: -21))
        var refunded = bought
        refunded.revokedAt = .ago(days: 1)
        let one = SubscriptionHistory(SubscriptionEvidence(source: .storeAPI, transactions: [bought]))
        let other = SubscriptionHistory(SubscriptionEvidence(source: .signedTransaction, transactions: [refunded]))
        #expect(try one.merged(with: other).facts().refundsSeen?.value == [.ago(days: 1)])
        #expect(try other.merged(with: one).facts().refundsSeen?.value == [.ago(days: 1)])
    }

    @Test
    func `takes a refund back when the store does`() throws {
        let refunded = try Purchases.transaction(1, from: .ago(days: 9), to: .ago(days: -21), signedAt: .ago(days: 2)) {
            $0.revokedAt = .ago(days: 3)
        }
        let restored = try Purchases.transaction(1, from: .ago(days: 9), to: .ago(days: -21), signedAt: .ago(days: 1))
        let late = SubscriptionHistory(
            SubscriptionEvidence(source: .notification, transactions: [restored]),
            SubscriptionEvidence(source: .notification, transactions: [refunded])
        )
        #expect(try late.facts().status?.value == .active)
        #expect(try late.facts().refundsSeen?.value == [])
    }
}

extension SplitMix {
    /// A few answers, requests and notifications about three chains, of two instants of signing.
    mutating func pieces() throws -> [SubscriptionHistory] {
        try (0..<Int.random(in: 1...8, using: &self)).map { _ in
            var evidence = SubscriptionEvidence(source: pick([.signedTransaction, .notification, .storeAPI]))
            evidence.transactions = try (0..<Int.random(in: 0...3, using: &self)).map { _ in try transaction() }
            if chance(in: 2) { evidence.renewals = [try renewal()] }
            if chance(in: 3) {
                evidence.statuses = [
                    SubscriptionEvidence.Status(
                        originalTransactionID: try TransactionID("\(Int.random(in: 1...3, using: &self))"),
                        status: chance(in: 8) ? .unknown("9") : .known(pick(SubscriptionStatus.allCases)),
                        observedAt: .ago(days: Int.random(in: 0...6, using: &self))
                    )
                ]
            }
            if chance(in: 4) { evidence.historyReadAt = .ago(days: Int.random(in: 0...3, using: &self)) }
            if chance(in: 4) { evidence.statusesReadAt = .ago(days: Int.random(in: 0...3, using: &self)) }
            return SubscriptionHistory(evidence)
        }
    }

    private mutating func transaction() throws -> AppStoreTransaction {
        let chain = Int.random(in: 1...3, using: &self)
        let start = Int.random(in: 0...4, using: &self)
        let signedAt = Timestamp.ago(days: Int.random(in: 0...1, using: &self))
        return try Purchases.transaction(
            chain * 10 + start,
            of: chain,
            from: .ago(days: start * 7 + 1),
            to: .ago(days: start * 7 - 6),
            signedAt: signedAt
        ) {
            if chance(in: 6) { $0.revokedAt = .ago(days: 1) }
            if chance(in: 6) { $0.isUpgraded = true }
            if chance(in: 2) { $0.used(pick([.promotional, .offerCode]), pick(["a", "b"])) }
            if chance(in: 9) { $0.offerType = .unknown("7") }
            if chance(in: 6) { $0.ownership = .known(.familyShared) }
            if chance(in: 6) { $0.subscriptionGroup = try SubscriptionGroupID("20002") }
            if chance(in: 6) { $0.environment = .sandbox }
            $0.reason = pick([.known(.purchase), .known(.renewal), nil])
        }
    }

    private mutating func renewal() throws -> AppStoreRenewalInfo {
        try Purchases.renewal(
            of: Int.random(in: 1...3, using: &self),
            signedAt: .ago(days: Int.random(in: 0...6, using: &self))
        ) {
            $0.autoRenews = pick([true, false, nil])
            $0.isInBillingRetry = chance(in: 4)
            if chance(in: 4) { $0.gracePeriodExpiresAt = .ago(days: -1) }
            if chance(in: 2) { $0.expirationIntent = pick([.known(.cancelled), .unknown("8")]) }
            if chance(in: 2) { $0.offerType = .known(.promotional) }
            $0.offerID = pick(["a", "b", nil])
            if chance(in: 2) { $0.renewsAt = .ago(days: Int.random(in: -8...30, using: &self)) }
        }
    }
}
