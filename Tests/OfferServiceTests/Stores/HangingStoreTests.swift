// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

@testable import Stores

/// Requests that wait for a hanging store do not hold up other requests.
struct HangingStoreTests {
    /// How many wait for the store, and how many of each other kind are answered meanwhile.
    private static let count = 40

    @Test func `answers requests that need no store while a store hangs, and the waiting requests in the end`()
        async throws
    {
        // So long that none of those who wait is answered before the others are, however slow the machine.
        let patience = RetryPolicy(attempts: 2, attemptMilliseconds: 300_000, overallMilliseconds: 300_000)
        try await withStoreService(.loopback, retries: patience) { world in
            let waiting = try (0..<Self.count).map { world.apiCall("lapsed", try world.stranger("waits-\($0)")) }
            let ben = try world.stranger("ben")
            try world.store.misbehave(.hang)
            async let late = world.service.send(waiting)
            #expect(try await eventually { try world.store.counts().inFlight == Self.count })

            for call in try world.kindsThatNeedNoStore(ben) {
                let replies = try await world.service.send(Array(repeating: call, count: Self.count))
                #expect(replies.allSatisfy { $0.status == 200 }, "\(replies.filter { $0.status != 200 })")
            }
            #expect(try await world.service.send(world.signedDataCall("running", ben)).problem == "not-eligible")
            #expect(try world.store.counts().inFlight == Self.count, "they all wait still")
            #expect(world.service.metrics[.requests(route: .offers(.promotionalOfferSignature), status: 503)] == 0)

            try world.store.behave()
            try world.store.dropConnections()
            // A request that is retried before failures open the breaker succeeds. The others get a Retry-After.
            for reply in try await late {
                let isPutOff = reply.problem == "store-unavailable" && reply.headers["retry-after"] != nil
                #expect(reply.status == 200 || isPutOff, "\(reply)")
            }
            world.service.clock.advance(seconds: 120)
            for call in waiting { #expect(try await world.service.send(call).status == 200) }
        }
    }
}

extension StoreService {
    /// Makes a customer of that name who left 40 days ago, and answers a transaction of theirs.
    fileprivate func stranger(_ name: String) throws -> String {
        let customer = FakeAppStore.Customer(
            name,
            appAccountToken: token,
            subscriptions: [.init(.expired, endsInDays: -40)]
        )
        return try store.setCustomer(customer).subscriptions[0].originalTransactionID
    }

    /// With facts that are stated, with signed data, with what a notification tells, a notification, and health.
    fileprivate func kindsThatNeedNoStore(_ transactionID: String) throws -> [Call] {
        let stated = body("open", #""facts": {"subscribedBefore": true}"#)
            .replacing(token, with: "0e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60")
        let notification = FakeAppStore.Notification("EXPIRED", "VOLUNTARY", transactionID: transactionID)
        return [
            service.call(as: "backend", stated),
            try signedDataCall("open", transactionID),
            .notification(try store.signNotification(notification).body),
            service.call(as: "backend", body("lapsed")),
            .get("/health/ready"),
        ]
    }
}
