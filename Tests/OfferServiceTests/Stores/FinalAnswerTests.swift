// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import TestSupport
import Testing

/// The service never reports a final answer of a store as “try again”.
struct FinalAnswerTests {
    @Test func `decides on the sandbox about an app that was never released`() async throws {
        try await withStoreService { world in
            let customer = FakeAppStore.Customer(
                "ben",
                environment: .sandbox,
                subscriptions: [.init(.expired, endsInDays: -40)]
            )
            let ids = try world.store.setCustomer(customer)
            try world.store.misbehave(.unauthorized, in: .production)
            let call = world.apiCall("lapsed", try #require(ids.subscriptions.first?.originalTransactionID))
            let reply = try await world.service.send(call)
            #expect(reply.status == 200, "\(reply)")
            #expect(world.service.log.lines.contains { $0.contains("first release") && $0.contains("com.example.app") })
            let page = try await world.service.get("/metrics", as: "admin").body
            #expect(page.contains("outcome=\"refused-before-release\""), "\(page)")
            #expect(!page.contains("outcome=\"credentials-refused\""), "the operator need not act")
        }
    }

    @Test func `asks once more with a new token after one 401`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.expired, endsInDays: -40)])
            let id = try #require(ids.subscriptions.first?.originalTransactionID)
            try world.store.misbehave(.unauthorized, times: 1)
            let reply = try await world.service.send(world.apiCall("lapsed", id))
            #expect(reply.status == 200, "\(reply)")
            #expect(try world.service.entries("store.token").count == 2)
        }
    }

    @Test func `says that waiting does not help where the store refuses the service`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.expired, endsInDays: -40)])
            let id = try #require(ids.subscriptions.first?.originalTransactionID)
            for misbehaviour in [FakeAppStore.Misbehaviour.unauthorized, .error(4_040_003), .error(4_000_002)] {
                try world.store.misbehave(misbehaviour)
                let reply = try await world.service.send(world.apiCall("lapsed", id))
                #expect(reply.problem == "store-refuses-service", "\(reply)")
                #expect(reply.headers["retry-after"] == nil)
                try world.store.behave()
            }
            #expect(try world.service.entries("sign.deny").isEmpty)
        }
    }

    @Test(arguments: [4_000_006, 4_000_008, 4_000_185, 4_000_187, 4_000_023])
    func `refuses at the member what the store refuses, and logs its code`(code: Int) async throws {
        try await withStoreService { world in
            try world.store.misbehave(.error(code))
            let reply = try await world.service.send(world.apiCall("lapsed", "77"))
            #expect(reply.problem == "refused-by-store" && reply.status == 400, "\(reply)")
            #expect(reply.pointers == ["/transactionId"] && reply.body.contains("\(code)"))
            #expect(reply.headers["retry-after"] == nil)
            let lines = world.service.log.lines.filter { $0.contains("\"code\":\(code)") }
            #expect(lines.count == 1 && lines.allSatisfy { $0.contains("com.example.app") }, "\(lines)")
        }
    }

    @Test func `decides on the entries that can be read, and logs where the other is wrong`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([
                .init(.expired, endsInDays: -40),
                .init(.expired, productID: "com.example.old", group: "20000009", allTransactions: ["bundleId": .null]),
            ])
            let id = try #require(ids.subscriptions.first?.originalTransactionID)
            let reply = try await world.service.send(world.apiCall("lapsed", id))
            #expect(reply.status == 200, "\(reply)")
            let lines = world.service.log.lines.filter { $0.contains("was left out") }
            #expect(lines.count == 1 && lines.allSatisfy { $0.contains("/signedTransactionInfo/bundleId") }, "\(lines)")
            #expect(lines.allSatisfy { $0.contains("production") && $0.contains("com.example.app") })
        }
    }

    @Test func `does not take an answer with an entry left out for the whole`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.active, allTransactions: ["bundleId": .null])])
            let id = try #require(ids.subscriptions.first?.originalTransactionID)
            let reply = try await world.service.send(world.apiCall("open", id))
            #expect(reply.problem == "eligibility-undecided", "\(reply)")
            #expect(reply.body.contains("store-entry-unreadable") && !reply.body.contains("never-subscribed"))
        }
    }

    @Test(arguments: ["backend", "app"])
    func `tells an id that the store does not know from none`(caller: String) async throws {
        try await withStoreService { world in
            func ask(_ members: String) async throws -> Reply {
                try await world.service.send(world.service.call(as: caller, world.body("lapsed", members)))
            }
            let unknown = try await ask(#""transactionId": "2000000999999999""#)
            #expect(unknown.problem == "eligibility-undecided", "\(unknown)")
            #expect(unknown.body.contains("the App Store was asked and does not know /transactionId"), "\(unknown)")
            let unnamed = try await ask("")
            #expect(unnamed.problem == "eligibility-undecided" && !unnamed.body.contains("was asked"), "\(unnamed)")
        }
    }
}
