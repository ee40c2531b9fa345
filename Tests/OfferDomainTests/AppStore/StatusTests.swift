// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

/// Pieces of evidence that disagree or say too little, and what must come of them.
struct StatusRow: CustomTestStringConvertible {
    let testDescription: String
    var transactions: [AppStoreTransaction]
    var renewal: AppStoreRenewalInfo?
    var stated: (SubscriptionStatus, Timestamp)?
    let expected: SubscriptionStatus?
}

struct StatusTests {
    private static func ended() throws -> AppStoreTransaction {
        try Purchases.transaction(1, from: .ago(days: 35), to: .ago(days: 5))
    }

    /// A period of 30 days that ended `days` days ago.
    private static func ended(days: Int) throws -> AppStoreTransaction {
        try Purchases.transaction(1, from: .ago(days: days + 30), to: .ago(days: days), signedAt: .ago(days: days))
    }

    private static func running(signedAt: Timestamp = RuleRow.now) throws -> AppStoreTransaction {
        try Purchases.transaction(1, from: .ago(days: 10), to: .ago(days: -20), signedAt: signedAt)
    }

    static func rows() throws -> [StatusRow] {
        let turnedOff = try Purchases.renewal { $0.autoRenews = false }
        let outdated = try Purchases.renewal(signedAt: .ago(days: 40)) { $0.expirationIntent = .known(.cancelled) }
        let graceOver = try Purchases.renewal { $0.gracePeriodExpiresAt = .ago(days: 1) }
        let inGraceThen = try Purchases.renewal(signedAt: .ago(days: 4)) {
            $0.isInBillingRetry = true
            $0.gracePeriodExpiresAt = .ago(days: 1)
        }
        let retriedAfterGrace = try Purchases.renewal {
            $0.isInBillingRetry = true
            $0.gracePeriodExpiresAt = .ago(days: 1)
        }
        var upgraded = try running()
        upgraded.isUpgraded = true
        return [
            StatusRow(testDescription: "a past end shows nothing", transactions: [try ended()], expected: nil),
            StatusRow(
                testDescription: "nor does a past end with renewal turned off",
                transactions: [try ended()],
                renewal: turnedOff,
                expected: nil
            ),
            StatusRow(
                testDescription: "nor a renewal info from before the purchase",
                transactions: [try ended()],
                renewal: outdated,
                expected: nil
            ),
            StatusRow(
                testDescription: "nor a grace period that is over",
                transactions: [try ended()],
                renewal: graceOver,
                expected: nil
            ),
            StatusRow(
                testDescription: "nor one that was not over when it was stated",
                transactions: [try ended()],
                renewal: inGraceThen,
                expected: nil
            ),
            StatusRow(
                testDescription: "the store goes on trying after the grace period",
                transactions: [try ended()],
                renewal: retriedAfterGrace,
                expected: .inBillingRetry
            ),
            StatusRow(
                testDescription: "nor a period that was upgraded out of",
                transactions: [upgraded],
                expected: nil
            ),
            StatusRow(
                testDescription: "nor a status from before the purchase",
                transactions: [try ended()],
                stated: (.expired, .ago(days: 40)),
                expected: nil
            ),
            StatusRow(
                testDescription: "an active status does not outlive the period",
                transactions: [try ended()],
                stated: (.active, .ago(days: 6)),
                expected: nil
            ),
            StatusRow(
                testDescription: "unless the store said so after the end that was seen",
                transactions: [try ended()],
                stated: (.active, .ago(days: 4)),
                expected: .active
            ),
            StatusRow(
                testDescription: "the store's later word counts more than a running period",
                transactions: [try running(signedAt: .ago(days: 2))],
                stated: (.revoked, .ago(days: 1)),
                expected: .revoked
            ),
            StatusRow(
                testDescription: "a running period counts more than the store's earlier word",
                transactions: [try running(signedAt: .ago(days: 1))],
                stated: (.expired, .ago(days: 2)),
                expected: .active
            ),
        ]
    }

    /// A renewal info of a refunded period says "expired", also when it was signed after the refund.
    static func refundRows() throws -> [StatusRow] {
        let refunded = try Purchases.transaction(1, from: .ago(days: 70), to: .ago(days: 40), signedAt: .ago(days: 3)) {
            $0.revokedAt = .ago(days: 50)
        }
        func expired(_ end: Int?, signed days: Int) throws -> AppStoreRenewalInfo {
            try Purchases.renewal(signedAt: .ago(days: days)) {
                $0.expirationIntent = .known(.cancelled)
                $0.renewsAt = end.map { .ago(days: $0) }
            }
        }
        let retried = try Purchases.renewal(signedAt: .ago(days: 2)) {
            $0.isInBillingRetry = true
            $0.renewsAt = .ago(days: 40)
        }
        func row(_ description: String, _ renewal: AppStoreRenewalInfo, _ expected: SubscriptionStatus) -> StatusRow {
            StatusRow(testDescription: description, transactions: [refunded], renewal: renewal, expected: expected)
        }
        return [
            row("a refund counts more than an expiry stated before it", try expired(40, signed: 4), .revoked),
            row("than one stated at the same instant", try expired(40, signed: 3), .revoked),
            row("and than one stated after it", try expired(40, signed: 2), .revoked),
            row("and than a payment that is tried again", retried, .revoked),
            row("but not than the expiry of a later period", try expired(10, signed: 2), .expired),
            row("nor than one of a period that is not named", try expired(nil, signed: 2), .expired),
        ]
    }

    /// The store tries to collect for 60 days at most.
    static func retryRows() throws -> [StatusRow] {
        let retried = try Purchases.renewal(signedAt: .ago(days: 50)) { $0.isInBillingRetry = true }
        return [
            StatusRow(
                testDescription: "the store may still be trying on the 60th day",
                transactions: [try ended(days: 59)],
                stated: (.inBillingRetry, .ago(days: 59)),
                expected: .inBillingRetry
            ),
            StatusRow(
                testDescription: "and not any more after it",
                transactions: [try ended(days: 60)],
                stated: (.inBillingRetry, .ago(days: 59)),
                expected: nil
            ),
            StatusRow(
                testDescription: "nor if a renewal info says so",
                transactions: [try ended(days: 60)],
                renewal: retried,
                expected: nil
            ),
            StatusRow(
                testDescription: "for a period that was not seen, it may be trying for 60 days more",
                transactions: [try ended(days: 200)],
                stated: (.inBillingRetry, .ago(days: 59)),
                expected: .inBillingRetry
            ),
            StatusRow(
                testDescription: "and not longer",
                transactions: [try ended(days: 200)],
                stated: (.inBillingRetry, .ago(days: 60)),
                expected: nil
            ),
            StatusRow(
                testDescription: "nor does a grace period without an end go on for longer",
                transactions: [try ended(days: 60)],
                stated: (.inGracePeriod, .ago(days: 60)),
                expected: nil
            ),
        ]
    }

    @Test(arguments: try rows() + refundRows() + retryRows())
    func `believes what shows a status, and nothing else`(row: StatusRow) throws {
        var evidence = SubscriptionEvidence(source: .signedTransaction, transactions: row.transactions)
        if let renewal = row.renewal { evidence.renewals = [renewal] }
        if let (status, instant) = row.stated {
            evidence.statuses = [
                SubscriptionEvidence.Status(
                    originalTransactionID: try TransactionID("1"),
                    status: .known(status),
                    observedAt: instant
                )
            ]
        }
        #expect(try SubscriptionHistory(evidence).facts().status?.value == row.expected)
    }

    @Test
    func `knows whether renewal is on only from the renewal info of the running purchase`() throws {
        let before = try Purchases.renewal(signedAt: .ago(days: 40))
        let now = try Purchases.renewal(signedAt: .ago(days: 1)) { $0.autoRenews = false }
        let history = SubscriptionHistory(
            SubscriptionEvidence(source: .storeAPI, transactions: [try Self.ended()], renewals: [before])
        )
        #expect(try history.facts().autoRenews == nil)
        let later = SubscriptionHistory(SubscriptionEvidence(source: .notification, renewals: [now]))
        #expect(
            try history.merged(with: later).facts().autoRenews
                == Fact(false, source: .notification, observedAt: .ago(days: 1))
        )
    }
}

// MARK: - Several chains

struct ChainChoiceTests {
    private func facts(_ transactions: AppStoreTransaction...) throws -> CustomerFacts {
        try SubscriptionHistory(SubscriptionEvidence(source: .storeAPI, transactions: transactions)).facts()
    }

    @Test
    func `prefers what the customer bought to what their family did`() throws {
        let own = try Purchases.transaction(1, from: .ago(days: 35), to: .ago(days: 5))
        let shared = try Purchases.transaction(2, of: 2, from: .ago(days: 9), to: .ago(days: -21)) {
            $0.ownership = .known(.familyShared)
        }
        #expect(try facts(own, shared).ownership?.value == .purchased)
        #expect(try facts(own, shared).status == nil)
        #expect(try facts(shared).ownership?.value == .familyShared)
    }

    @Test
    func `prefers a running chain, then a chain of unknown status, then an ended chain`() throws {
        let running = try Purchases.transaction(1, from: .ago(days: 9), to: .ago(days: -21))
        let unknown = try Purchases.transaction(2, of: 2, from: .ago(days: 35), to: .ago(days: 5))
        let ended = try Purchases.transaction(3, of: 3, from: .ago(days: 34), to: .ago(days: 4))
        var evidence = SubscriptionEvidence(source: .storeAPI, transactions: [unknown, ended])
        evidence.renewals = [
            try Purchases.renewal(of: 3) {
                $0.expirationIntent = .known(.cancelled)
                $0.renewsAt = .ago(days: 4)
            }
        ]
        #expect(try SubscriptionHistory(evidence).facts().status == nil)
        evidence.transactions = [ended]
        #expect(try SubscriptionHistory(evidence).facts().status?.value == .expired)
        evidence.transactions = [ended, unknown, running]
        let history = SubscriptionHistory(evidence)
        #expect(try history.facts().status?.value == .active)
        let key = history.relevantChain(
            group: try SubscriptionGroupID("20001"),
            productID: nil,
            at: RuleRow.now
        )
        #expect(key == PlainKeys().chainKey(of: try TransactionID("1")))
    }

    @Test
    func `never takes a test purchase for a real one`() throws {
        let real = try Purchases.transaction(1, from: .ago(days: 35), to: .ago(days: 5))
        let test = try Purchases.transaction(2, of: 2, from: .ago(days: 9), to: .ago(days: -21)) {
            $0.environment = .sandbox
            $0.used(.promotional, "spring")
        }
        #expect(try facts(real, test).status == nil)
        #expect(try facts(real, test).offersSeen?.value == [])
        #expect(try facts(real, test).environment?.value == .production)
        #expect(try facts(test).environment?.value == .sandbox)
        let history = SubscriptionHistory(SubscriptionEvidence(source: .storeAPI, transactions: [real, test]))
        let sandbox = history.facts(
            group: try SubscriptionGroupID("20001"),
            productID: nil,
            environment: .sandbox,
            at: RuleRow.now
        )
        #expect(sandbox.status?.value == .active)
    }

    @Test
    func `knows all uses and refunds only if every chain was read, and every offer is of a known type`() throws {
        let read = SubscriptionEvidence(
            source: .storeAPI,
            transactions: [try Purchases.transaction(1, from: .ago(days: 35), to: .ago(days: 5))],
            historyReadAt: .ago(days: 1)
        )
        #expect(try SubscriptionHistory(read).facts().offersUsed?.observedAt == .ago(days: 1))
        #expect(try SubscriptionHistory(read).facts().refundedAt?.value == [])
        let unread = SubscriptionEvidence(
            source: .signedTransaction,
            transactions: [try Purchases.transaction(2, of: 2, from: .ago(days: 9), to: .ago(days: -21))]
        )
        let both = try SubscriptionHistory(read, unread).facts()
        #expect(both.offersUsed == nil)
        #expect(both.refundedAt == nil)
        #expect(both.historyReadAt == nil)
        var strange = read
        strange.transactions[0].offerType = .unknown("7")
        #expect(try SubscriptionHistory(strange).facts().offersUsed?.value.map(\.type) == [nil])
        #expect(try SubscriptionHistory(strange).facts().refundedAt != nil)
    }

    @Test(arguments: [AppStoreProductType.consumable, .nonConsumable, .nonRenewingSubscription])
    func `ignores refunds of other products, from notifications and from the API`(type: AppStoreProductType) throws {
        let subscription = try Purchases.transaction(1, from: .ago(days: 35), to: .ago(days: 5))
        let other = try Purchases.transaction(9, of: 9, from: .ago(days: 9), to: nil) {
            $0.productType = .known(type)
            $0.subscriptionGroup = nil
            $0.revokedAt = .ago(days: 1)
        }
        let stated = SubscriptionEvidence(source: .notification, transactions: [other])
        let read = SubscriptionEvidence(source: .storeAPI, transactions: [subscription], historyReadAt: RuleRow.now)
        #expect(try SubscriptionHistory(stated).facts().refundsSeen == nil)
        #expect(try SubscriptionHistory(read).facts().refundedAt?.value == [])
        #expect(try SubscriptionHistory(read, stated).facts().refundedAt?.value == [])
    }

    @Test
    func `reports only what was seen if the history is cut short`() throws {
        var read = SubscriptionEvidence(
            source: .storeAPI,
            transactions: [
                try Purchases.transaction(1, from: .ago(days: 40), to: .ago(days: 10)) {
                    $0.revokedAt = .ago(days: 15)
                },
                try Purchases.transaction(2, from: .ago(days: 10), to: .ago(days: -20)),
            ],
            historyReadAt: RuleRow.now
        )
        read.statusesReadAt = RuleRow.now
        var history = SubscriptionHistory(read)
        history.isCutShort = true
        let facts = try history.facts()
        #expect(facts.status == nil && facts.expiresAt == nil && facts.hasSubscription)
        #expect(facts.refundedAt == nil && facts.refundsSeen?.value == [.ago(days: 15)])
        #expect(facts.offersUsed == nil && facts.storefront == nil)
        #expect(facts.subscribedBefore?.value == true)
        // Asking again would not show more.
        #expect(facts.unmet([.status, .refunds], olderThan: RuleRow.now) == [])
        #expect(history.merged(with: SubscriptionHistory()).isCutShort)
        history.chains = [:]
        #expect(try history.facts().offersSeen?.value == [] && history.facts().refundsSeen?.value == [])
    }

    @Test
    func `takes the end of family sharing for no refund`() throws {
        let revoked = try Purchases.transaction(1, from: .ago(days: 9), to: .ago(days: -21)) {
            $0.revokedAt = .ago(days: 1)
        }
        var shared = revoked
        shared.ownership = .known(.familyShared)
        var ended = revoked
        ended.revocationType = .known(.familyRevoked)
        #expect(try facts(revoked).refundsSeen?.value == [.ago(days: 1)])
        #expect(try facts(shared).refundsSeen?.value == [])
        #expect(try facts(ended).refundsSeen?.value == [])
    }
}
