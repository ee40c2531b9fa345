// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import Storage
import TestSupport
import Testing

/// However notifications arrive, they leave the same.
@Suite(.overBothEngines) struct DeliveryOrderTests {
    @Test func `twice, late and out of order leaves the same ledger and the same decisions as once and in order`()
        async throws
    {
        try await withStoreService(asksStore: false) { world in
            let life = SubscriptionLife(
                beginning: world.service.clock.now.milliseconds
                    - Int64(SubscriptionLife.end * SubscriptionLife.periodMilliseconds),
                store: world.store
            )
            let messages = try SubscriptionLife.events.enumerated().map {
                try life.call(of: $1, number: $0, to: world.service)
            }
            try await live(life, messages, world)
            let tables = try world.service.storeTables()
            #expect(
                try world.service.rows([
                    "SELECT state FROM redemptions WHERE refunded_millipercent = 60000 AND refunded_at > redeemed_at"
                ]) == ["converted"]
            )
            let decisions = try await decisions(world)
            #expect(
                try world.service.redemptions() == [
                    "store_open converted granted", "store_open undone granted",
                    "store_elsewhere converted without grant",
                ]
            )
            #expect(tables.count { $0.hasPrefix("transaction ") } == 8)
            #expect(tables.count { $0.hasPrefix("customer ") } == 1)
            let notifications = SubscriptionLife.events.count { !$0.isFromApp }
            #expect(tables.count { $0.hasPrefix("notification ") } == notifications)

            var seeds = SystemRandomNumberGenerator()
            for round in 0..<24 {
                let seed = seeds.next()
                var random = SplitMix(seed: seed)
                let calls = Self.shuffled(messages, &random)
                try forgetStoreReports(world.service)
                if round % 4 == 0 {
                    let replies = try await world.service.send(calls)
                    #expect(replies.allSatisfy { $0.status == 200 })
                } else {
                    for call in calls { #expect(try await world.service.send(call).status == 200) }
                }
                #expect(try world.service.storeTables() == tables, "seed \(seed)")
                #expect(try await self.decisions(world) == decisions, "seed \(seed)")
            }
        }
    }

    /// Each at its time, once and in order, with the grants between.
    private func live(_ life: SubscriptionLife, _ messages: [Call], _ world: StoreService) async throws {
        let service = world.service
        var grants = SubscriptionLife.grants
        for (event, message) in zip(SubscriptionLife.events, messages) {
            if let time = grants.first, time < event.time {
                grants.removeFirst()
                service.clock.advance(milliseconds: life.instant(time) - service.clock.now.milliseconds)
                let facts = #""facts": {"subscribedBefore": true}"#
                let reply = try await service.send(service.call(as: "backend", world.body("open", facts)))
                #expect(reply.status == 200, "\(reply)")
            }
            service.clock.advance(milliseconds: life.instant(event.time) - service.clock.now.milliseconds)
            let reply = try await service.send(message)
            #expect(reply.status == 200, "\(event.type): \(reply)")
        }
        service.clock.advance(milliseconds: life.instant(SubscriptionLife.end) - service.clock.now.milliseconds)
    }

    /// Each one to three times, in any order.
    private static func shuffled(_ messages: [Call], _ random: inout SplitMix) -> [Call] {
        messages.flatMap { Array(repeating: $0, count: Int.random(in: 1...3, using: &random)) }.shuffled(using: &random)
    }

    /// What is decided of the customer; by offers without caps, so that asking changes no answer.
    private func decisions(_ world: StoreService) async throws -> [String: Tree] {
        var decisions: [String: Tree] = [:]
        for offer in ["lapsed", "running", "stay", "grace", "unused", "unrefunded", "own", "american"] {
            let reply = try await world.service.send(world.service.call(as: "app", world.body(offer)))
            decisions[offer] = reply.json["decision"]
        }
        return decisions
    }

    private func forgetStoreReports(_ service: TestService) throws {
        let connection = try service.ledger.openPatiently()
        for statement: StaticString in [
            "DELETE FROM subscription_records", "DELETE FROM transaction_records", "DELETE FROM subscription_customers",
            "DELETE FROM store_notifications", "DELETE FROM redemptions",
        ] {
            _ = try connection.run(SQL(statement))
        }
    }
}
