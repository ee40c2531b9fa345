// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

@testable import Stores

/// Batches with some requests that need the store.
struct BatchStoreTests {
    /// No attempt ends by itself while a test goes on.
    private static let patience = RetryPolicy(attempts: 2, attemptMilliseconds: 300_000, overallMilliseconds: 300_000)

    @Test(arguments: Wire.ofRun)
    func `records what needs no store, then asks the store about all others at the same time`(wire: Wire) async throws {
        try await withStoreService(wire, retries: Self.patience) { world in
            let needy = try (0..<3).map { try world.batchBody("lapsed", of: try world.leaver("leaver-\($0)")) }
            let stated = world.body("open", #""facts": {"subscribedBefore": true}"#)
            try world.store.misbehave(.hang)
            let call = world.service.batch([needy[0], stated, needy[1], needy[2]])
            async let reply = world.service.send(call)
            #expect(try await eventually { try world.store.counts().inFlight == 3 })
            #expect(try world.service.entries("sign.intent").count == 1)
            try world.store.behave()
            try world.store.dropConnections()
            let answered = try await reply
            #expect(answered.statuses == [200, 200, 200, 200], "\(answered)")
            let intents = try world.service.entries("sign.intent")
            #expect(intents.map(\.["grant"]) == [1, 0, 2, 3].map { answered.results[$0]["grant"]["grantId"] })
        }
    }

    @Test(arguments: Wire.ofRun)
    func `postpones only requests with a failed store lookup, and repeats other grants on a retry`(
        wire: Wire
    ) async throws {
        try await withStoreService(wire) { world in
            let needy = try world.batchBody("lapsed", of: try world.leaver("leaver"))
            let stated = world.body("once_a_customer", #""facts": {"subscribedBefore": true}"#)
            let call = world.service.batch([needy, stated]).with("Idempotency-Key", "k")
            try world.store.misbehave(.status(500))
            let first = try await world.service.send(call)
            #expect(first.problems == ["store-unavailable", nil], "\(first)")
            #expect((first.results[0]["retryAfter"].integer ?? 0) > 0)
            try world.store.behave()
            world.service.clock.advance(seconds: 120)
            let second = try await world.service.send(call)
            #expect(second.statuses == [200, 200], "\(second)")
            #expect(second.results[1]["grant"]["nonce"] == first.results[1]["grant"]["nonce"])
        }
    }

    @Test(arguments: Wire.ofRun)
    func `repeats the recorded grants on a retry after the rest could not be recorded`(wire: Wire) async throws {
        let faults = Faults()
        try await withStoreService(wire, wrap: faults.wrap) { world in
            let needy = try world.batchBody("lapsed", of: try world.leaver("leaver"))
            let stated = world.body("once_a_customer", #""facts": {"subscribedBefore": true}"#)
            let call = world.service.batch([needy, stated]).with("Idempotency-Key", "k")
            // The first holds what needs no store, the second that the store is asked with our key, the third the rest.
            faults.passCommits(2)
            faults.failCommits(Faults.diskFull)
            let first = try await world.service.send(call)
            #expect(first.problems == ["audit-unavailable", nil], "\(first)")
            #expect(try world.service.entries("sign.intent").count == 1)
            let second = try await world.service.send(call)
            #expect(second.statuses == [200, 200], "\(second)")
            #expect(second.results[1]["grant"]["grantId"] == first.results[1]["grant"]["grantId"])
            let third = try await world.service.send(call)
            #expect(third.results.map { $0["grant"]["nonce"] } == second.results.map { $0["grant"]["nonce"] })
        }
    }
}

extension StoreService {
    /// Makes a customer with that name who left 40 days ago, and returns one of the customer's transactions.
    fileprivate func leaver(_ name: String) throws -> String {
        let customer = FakeAppStore.Customer(
            name,
            appAccountToken: token,
            subscriptions: [.init(.expired, endsInDays: -40)]
        )
        return try store.setCustomer(customer).subscriptions[0].originalTransactionID
    }

    /// A backend's request that names a transaction and nothing else of the customer.
    fileprivate func batchBody(_ offer: String, of transactionID: String) throws -> String {
        body(offer, #""transactionId": "\#(transactionID)""#)
    }
}
