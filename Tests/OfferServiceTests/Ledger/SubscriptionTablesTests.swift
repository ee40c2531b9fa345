// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// How much of one customer is looked at together.
@Suite(.overBothEngines) struct SubscriptionTablesTests {
    private let subject = [UInt8](repeating: 7, count: 16)

    private static func key(_ number: Int) -> ChainKey {
        ChainKey([UInt8](repeating: 0, count: 14) + [UInt8(number / 256), UInt8(number % 256)])
    }

    /// Adds the numbered chains of one customer, as the store reports them.
    private func fill(_ tables: SubscriptionTables, _ numbers: Range<Int>) throws {
        var history = SubscriptionHistory()
        for number in numbers {
            var chain = SubscriptionChain()
            chain.merge(StatusRecord(.known(.active), observedAt: Timestamp(milliseconds: 0), source: .storeAPI))
            history.chains[Self.key(number)] = chain
        }
        let links = numbers.map { SubscriptionLink(subject: subject, subscription: Self.key($0).bytes) }
        _ = try tables.merge(history, Set(links))
    }

    @Test func `more chains than any customer has are not looked at, but for those that are shown`() async throws {
        try await withService { service in
            let writer = LedgerWriter(connection: try service.ledger.openPatiently())
            try writer.begin(at: service.clock.now)
            defer { writer.rollback() }
            let tables = writer.subscriptions
            let most = SubscriptionTables.mostChains
            try fill(tables, 0..<most)
            let shown = [Self.key(3)]
            for history in [try tables.history(of: [subject], chains: []), try tables.history(of: [], chains: shown)] {
                #expect(history.chains.count == most)
                #expect(!history.isCutShort)
            }
            try fill(tables, most..<most + 40)
            for subjects in [[], [subject]] {
                let history = try tables.history(of: subjects, chains: shown)
                #expect(Array(history.chains.keys) == shown)
                #expect(history.isCutShort)
            }
            #expect(try tables.chains(of: subject).count == most + 1)
        }
    }

    @Test func `a customer's subscriptions in one store are not among those in the other`() async throws {
        try await withService { service in
            let connection = try service.ledger.openPatiently()
            let purchase = [UInt8](repeating: 9, count: 16)
            let stores = [
                (SubscriptionTables(connection: connection).customers, Self.key(1).bytes),
                (GooglePlayTables(connection: connection).customers, purchase),
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
}
