// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// How much of one customer is looked at together.
@Suite(.overBothEngines) struct SubscriptionTableTests {
    private let subject = [UInt8](repeating: 7, count: 18)

    private static func key(_ number: Int) -> ChainKey {
        ChainKey([UInt8](repeating: 0, count: 14) + [UInt8(number / 256), UInt8(number % 256)])
    }

    /// Adds the numbered chains of one customer, as the store reports them.
    private func fill(_ table: ChainTable, _ numbers: Range<Int>) throws {
        var history = SubscriptionHistory()
        for number in numbers {
            var chain = SubscriptionChain()
            chain.merge(StatusRecord(.known(.active), observedAt: Timestamp(milliseconds: 0), source: .storeAPI))
            history.chains[Self.key(number)] = chain
        }
        let links = numbers.map { SubscriptionLink(subject: subject, subscription: Self.key($0).bytes) }
        _ = try table.merge(history.chains, links)
    }

    @Test func `more chains than any customer has are not looked at, but for those that are shown`() async throws {
        try await withService { service in
            let writer = LedgerWriter(connection: try service.ledger.openPatiently())
            try writer.begin(at: service.clock.now)
            defer { writer.rollback() }
            let table = writer.chains
            let most = SubscriptionCustomers.mostSubscriptions
            try fill(table, 0..<most)
            let shown = [Self.key(3)]
            for history in [try table.history(of: [subject], chains: []), try table.history(of: [], chains: shown)] {
                #expect(history.chains.count == most)
                #expect(!history.isCutShort)
            }
            try fill(table, most..<most + 40)
            for subjects in [[], [subject]] {
                let history = try table.history(of: subjects, chains: shown)
                #expect(Array(history.chains.keys) == shown)
                #expect(history.isCutShort)
            }
            #expect(try table.subscriptions(of: subject).count == most + 1)
        }
    }

    @Test func `a customer's subscriptions in one store are not among those in the other`() async throws {
        try await withService { service in
            let connection = try service.ledger.openPatiently()
            let purchase = [UInt8](repeating: 9, count: 18)
            let stores = [
                (ChainTable(connection: connection).customers, Self.key(1).bytes),
                (PurchaseTable(connection: connection).customers, purchase),
            ]
            for (customers, subscription) in stores {
                #expect(try customers.add(SubscriptionLink(subject: subject, subscription: subscription)))
                #expect(try !customers.add(SubscriptionLink(subject: subject, subscription: subscription)))
            }
            for (customers, subscription) in stores {
                #expect(try customers.subscriptions(of: subject, limit: 9) == [subscription])
                #expect(try customers.subjects(of: subscription) == [subject])
                #expect(try customers.siblings(of: subscription, limit: 9).map(\.subscription) == [subscription])
                for other in [Self.key(1).bytes, purchase] {
                    let link = SubscriptionLink(subject: subject, subscription: other)
                    #expect(try customers.has(link) == (other == subscription))
                }
            }
        }
    }

    /// A chain with the longest renewal info that is taken, and one transaction.
    private static var longest: SubscriptionChain {
        let time = Timestamp(milliseconds: 0)
        var chain = SubscriptionChain()
        var renewal = RenewalRecord(
            productID: "pro",
            environment: .production,
            signedAt: time,
            source: .notification
        )
        renewal.autoRenews = false
        renewal.eligibleWinBackOfferIDs = (0..<64).map { "\($0)" + String(repeating: "é", count: 126) }
        chain.merge(renewal)
        chain.merge(StatusRecord(.known(.active), observedAt: time, source: .storeAPI))
        chain.merge(statusesReadAt: time)
        chain.merge(historyCompleteAt: time)
        chain.transactions[TransactionKey([9])] = TransactionRecord(
            json: """
                {"productId": "pro", "purchaseDate": 0, "signedDate": 0, "environment": "Production", "source": "storeAPI"}
                """
        )
        return chain
    }

    @Test(
        arguments: [
            nil, "UPDATE subscription_records SET record = 'x'",
            "UPDATE subscription_records SET record = '{\"renewal\":1}'",
            "UPDATE subscription_records SET record = '{\"status\":{}}'",
            "UPDATE subscription_records SET record = '{\"statusesReadAt\":\"x\"}'",
            "UPDATE transaction_records SET record = '{}'",
        ] as [StaticString?]
    )
    func `a chain is read as it was written, and one that cannot be read is not a missing one`(
        damage: StaticString?
    ) async throws {
        try await withService { service in
            let connection = try service.ledger.openPatiently()
            let table = ChainTable(connection: connection)
            let chain = Self.longest
            try #require(chain.transactions.count == 1)
            _ = try table.merge([Self.key(1): chain], [])
            guard let damage else {
                #expect(try table.record(of: Self.key(1)) == chain)
                return
            }
            try connection.run(SQL(damage))
            #expect(throws: StorageError.unexpectedValue(column: 0)) { try table.record(of: Self.key(1)) }
        }
    }
}
