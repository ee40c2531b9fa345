// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import TestSupport
import Testing

/// A way in which the store fails those who ask it.
private struct Trouble: Sendable, CustomTestStringConvertible {
    let name: String
    let misbehaviour: FakeAppStore.Misbehaviour

    var testDescription: String { name }
}

private let troubles = [
    Trouble(name: "hangs", misbehaviour: .hang),
    Trouble(name: "closes the connection", misbehaviour: .close),
    Trouble(name: "ends in the middle of the answer", misbehaviour: .cutOff),
    Trouble(name: "sends garbage", misbehaviour: .garbage),
    Trouble(name: "answers 500", misbehaviour: .status(500)),
    Trouble(name: "answers 503", misbehaviour: .status(503)),
    Trouble(name: "limits us", misbehaviour: .rateLimit(millisecondsFromNow: 90_000)),
    Trouble(name: "sends JSON that is none", misbehaviour: .wrongJSON),
    Trouble(name: "sends too much", misbehaviour: .endlessBody),
    Trouble(name: "leads elsewhere", misbehaviour: .redirect(to: "https://127.0.0.1:1/")),
]

/// While the store can't be asked, the service signs nothing and calls no customer ineligible; it recovers by itself.
struct StoreTroubleTests {
    @Test(arguments: troubles)
    fileprivate func `answers that the store is unavailable, signs nothing, and recovers`(
        trouble: Trouble
    ) async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.expired, endsInDays: -40)])
            let id = try #require(ids.subscriptions.first?.originalTransactionID)
            try world.store.misbehave(trouble.misbehaviour)
            let reply = try await world.service.send(world.apiCall("lapsed", id))
            #expect(reply.status == 503, "\(reply)")
            #expect(reply.problem == "store-unavailable", "\(reply)")
            let seconds = try #require(reply.headers["retry-after"].flatMap(Int.init))
            #expect(seconds > (trouble.name == "limits us" ? 60 : 0))
            #expect(try world.service.entries("sign.intent").isEmpty)
            #expect(try world.service.entries("sign.deny").isEmpty, "a store that is down makes no customer ineligible")

            // A request with its own evidence, or with facts from a backend, needs no store.
            let other = try await world.service.send(world.signedDataCall("lapsed", id))
            #expect(other.status == 200, "\(other)")

            try world.store.behave()
            world.service.clock.advance(seconds: 120)
            let again = try await world.service.send(world.apiCall("running", id))
            #expect(again.problem == "not-eligible", "\(again)")
        }
    }

    @Test func `believes nothing that the store did not sign`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.expired, endsInDays: -40)])
            let id = try #require(ids.subscriptions.first?.originalTransactionID)
            for fault in [FakeAppStore.Fault.badSignature, .otherRoot, .otherBundle, .xcode] {
                try world.store.misbehave(.fault(fault))
                let reply = try await world.service.send(world.apiCall("lapsed", id))
                #expect(reply.problem == "store-unavailable", "\(fault): \(reply)")
                try world.store.behave()
            }
            #expect(try world.service.entries("sign.intent").isEmpty)
        }
    }

    @Test(arguments: [
        ([StoreEnvironment.sandbox], 200, 0, 1), ([.production], 403, 1, 0), ([.production, .sandbox], 200, 1, 1),
    ])
    func `asks only where the app's purchases count`(
        environments: [StoreEnvironment],
        status: Int,
        inProduction: Int,
        inSandbox: Int
    ) async throws {
        try await withStoreService(environments: environments) { world in
            let customer = FakeAppStore.Customer(
                "ben",
                environment: .sandbox,
                subscriptions: [.init(.expired, endsInDays: -40)]
            )
            let ids = try world.store.setCustomer(customer)
            let call = world.apiCall("lapsed", try #require(ids.subscriptions.first?.originalTransactionID))
            let reply = try await world.service.send(call)
            #expect(reply.status == status, "\(reply)")
            let counts = try world.store.counts()
            #expect(counts.requests(to: .statuses, in: .production) == inProduction)
            #expect(counts.requests(to: .statuses, in: .sandbox) == inSandbox)
        }
    }

    @Test func `asks for an app that was never approved in the sandbox alone, where production would refuse it`()
        async throws
    {
        try await withStoreService(environments: [.sandbox]) { world in
            let customer = FakeAppStore.Customer(
                "ben",
                environment: .sandbox,
                subscriptions: [.init(.expired, endsInDays: -40)]
            )
            let ids = try world.store.setCustomer(customer)
            try world.store.misbehave(.unauthorized, in: .production)
            let call = world.apiCall("lapsed", try #require(ids.subscriptions.first?.originalTransactionID))
            #expect(try await world.service.send(call).status == 200)
        }
    }

    /// Answers that Apple signed, and that are none to the question.
    @Test func `signs nothing on genuine data that is another's, of long ago, without an end, or of no known value`()
        async throws
    {
        let other = "0e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"
        try await withStoreService { world in
            let others = try world.customer(other, .init(.expired, endsInDays: -40))
            let (undecided, unavailable) = ("eligibility-undecided", "store-unavailable")
            let lies: [(lie: FakeAppStore.Misbehaviour, caller: String, offer: String, problems: [String])] = [
                (.otherCustomer(others), "app", "lapsed", [undecided]),
                (.stale(days: 3), "backend", "lapsed", [undecided]),
                (.unknownValues, "backend", "running", [undecided]),
                (.wrongShape, "backend", "running", [unavailable]),
                (.repeatedPage, "backend", "unused", [unavailable]),
                // Fifty pages, or as many as there is time for.
                (.endlessPages, "backend", "unused", [undecided, unavailable]),
            ]
            for (number, row) in lies.enumerated() {
                let token = "7e3fb204-2a6b-4b2f-9a3c-00000000000\(number)"
                let id = try world.customer(
                    token,
                    row.offer == "lapsed" ? .init(.expired, endsInDays: -40) : .init(.active)
                )
                try world.store.misbehave(row.lie)
                let body = world.body(row.offer, #""transactionId": "\#(id)""#).replacing(world.token, with: token)
                let reply = try await world.service.send(world.service.call(as: row.caller, body))
                #expect(reply.problem.map(row.problems.contains) == true, "\(number) \(row.offer): \(reply)")
                try world.store.behave()
                // The same question to a store that does not lie: the answer must not always be no. The service
                // does not ask the store twice within one instant.
                world.service.clock.advance(seconds: 1)
                let truth = try await world.service.send(world.service.call(as: row.caller, body))
                #expect(truth.status == 200, "\(number) \(row.offer): \(truth)")
            }
            #expect(try world.service.entries("sign.intent").count == lies.count)
        }
    }

    @Test func `decides on what is known, up to an age, where an offer says so`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.expired, endsInDays: -40)])
            let id = try #require(ids.subscriptions.first?.originalTransactionID)
            #expect(try await world.service.send(world.apiCall("patient", id)).status == 200)
            #expect(try world.store.counts().requests(to: .statuses) == 1)
            #expect(try await world.service.send(world.apiCall("patient", id)).status == 200)
            #expect(try world.store.counts().requests(to: .statuses) == 1, "an hour is not over")

            try world.store.misbehave(.status(500))
            world.service.clock.advance(hours: 30)
            #expect(try await world.service.send(world.apiCall("patient", id)).status == 200)
            #expect(try await world.service.send(world.apiCall("lapsed", id)).problem == "store-unavailable")
            world.service.clock.advance(hours: 48)
            #expect(try await world.service.send(world.apiCall("patient", id)).problem == "store-unavailable")
        }
    }

    @Test func `asks nothing where the answer would change nothing`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.active)])
            let id = try #require(ids.subscriptions.first?.originalTransactionID)
            let refused = try await world.service.send(world.signedDataCall("lapsed", id))
            #expect(refused.problem == "not-eligible")
            let stated = world.body("open", #""transactionId": "\#(id)", "facts": {"subscribedBefore": true}"#)
            #expect(try await world.service.send(world.service.call(as: "backend", stated)).status == 200)
            #expect(try world.store.counts().toAPI == 0)
        }
    }

    @Test func `accepts a transaction that an app only names, only with that transaction's token`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.expired, endsInDays: -40)])
            let id = try #require(ids.subscriptions.first?.originalTransactionID)
            let members = #""transactionId": "\#(id)""#
            let own = try await world.service.send(world.service.call(as: "app", world.body("lapsed", members)))
            #expect(own.status == 200, "\(own)")
            let stranger = world.body("lapsed", members).replacing(
                world.token,
                with: "0e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"
            )
            let reply = try await world.service.send(world.service.call(as: "app", stranger))
            #expect(reply.problem == "eligibility-undecided", "\(reply)")
            let signed = try world.store.signTransaction(id)
            let borrowed = stranger.replacing(members, with: #""signedTransactions": ["\#(signed)"]"#)
            let refused = try await world.service.send(world.service.call(as: "app", borrowed))
            #expect(refused.problem == "signed-data-of-other-account", "\(refused)")
            #expect(refused.pointers == ["/signedTransactions/0"])
        }
    }

    @Test func `counts a subscription's grants across all callers`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.active)])
            let id = try #require(ids.subscriptions.first?.originalTransactionID)
            #expect(try await world.service.send(world.signedDataCall("once", id)).status == 200)
            #expect(try await world.service.send(world.signedDataCall("once", id)).problem == "not-eligible")
            let backend = world.body("once", #""transactionId": "\#(id)""#)
                .replacing(world.token, with: "0e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60")
            #expect(try await world.service.send(world.service.call(as: "backend", backend)).problem == "not-eligible")
        }
    }

    @Test func `records each token before the key signs it`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.expired, endsInDays: -40)])
            let id = try #require(ids.subscriptions.first?.originalTransactionID)
            _ = try await world.service.send(world.apiCall("lapsed", id))
            let tokens = try world.service.entries("store.token")
            #expect(tokens.count == 1)
            #expect(tokens.first?["kid"] == .text("ACTIVE0001"))
            #expect(tokens.first?["bundle"] == .text("com.example.app"))
        }
    }

    @Test func `refuses faulty signed data with a reason, and does not ask the store`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.active)])
            let id = try #require(ids.subscriptions.first?.originalTransactionID)
            var reasons: Set<String> = []
            // Transactions have no appAppleId to be wrong, old ones are no forgeries, both worlds are taken
            // here, and what is oversized never gets past the HTTP server.
            for fault in FakeAppStore.Fault.allCases
            where !fault.isAcceptable && ![.otherApp, .signedLongAgo, .otherEnvironment, .oversized].contains(fault) {
                let forged = try world.store.signTransaction(id, fault: fault).replacing("\n", with: "\\n")
                let members = #""signedTransactions": ["\#(forged)"]"#
                let reply = try await world.service.send(world.service.call(as: "app", world.body("open", members)))
                #expect(reply.status == 400, "\(fault): \(reply)")
                #expect(reply.problem == "invalid-signed-data", "\(fault)")
                #expect(reply.pointers == ["/signedTransactions/0"], "\(fault)")
                reasons.insert(reply.json["errors"].elements.first?["detail"].text ?? "")
            }
            #expect(reasons.count > 30, "reasons tell the faults apart")
            #expect(try world.store.counts().toAPI == 0)
            #expect(try world.service.entries("sign.intent").isEmpty)
        }
    }
}

extension StoreService {
    /// Makes a customer with that token and one subscription, and answers the subscription's first transaction.
    fileprivate func customer(_ token: String, _ subscription: FakeAppStore.Subscription) throws -> String {
        let customer = FakeAppStore.Customer(token, appAccountToken: token, subscriptions: [subscription])
        return try store.setCustomer(customer).subscriptions[0].originalTransactionID
    }
}
