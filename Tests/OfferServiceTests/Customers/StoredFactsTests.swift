// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import TestSupport
import Testing

@testable import OfferService

/// Facts that a backend stored decide what no store's answer and no request decides.
@Suite(.overBothEngines) struct StoredFactsTests {
    private static let offers = """
        {id: "back", appStore: {offerId: "store_back"}, eligibility: {status: {in: ["expired"]}}},
        {id: "away", appStore: {offerId: "store_away"}, eligibility: {lapsed: {atLeastDays: 10}}},
        {id: "fresh", appStore: {offerId: "store_fresh"}, eligibility: {usedOffers: {atMost: 0}}},
        """

    private func withStored(
        asksStore: Bool = false,
        wrap: @escaping TestService.Wrap = { $0 },
        _ body: (StoreService, (String) throws -> String) async throws -> Void
    ) async throws {
        try await withUsers(asksStore: asksStore, offers: Self.offers, wrap: wrap, body)
    }

    private static func ago(days: Int, _ world: StoreService) -> String {
        "\(world.service.clock.now.adding(days: -days).milliseconds)"
    }

    @Test func `an app with its user's token is decided on what a backend stored, which is on record`() async throws {
        try await withStored { world, token async throws in
            let anna = try token("anna")
            let ended = #"{"status": "expired", "expiresAt": \#(Self.ago(days: 12, world))}"#
            #expect(try await world.service.send(.offer("away", with: anna)).problem == "eligibility-undecided")
            try await world.service.storeFacts(ended, of: "anna")
            let reply = try await world.service.send(.offer("away", with: anna))
            #expect(reply.status == 200, "\(reply)")
            let entry = try #require(try world.service.entries("sign.intent").last)
            #expect(entry["storedFacts"].elements == [.text("expiresAt"), .text("status")], "\(entry)")
            #expect(!entry.names.contains("stored"), "no attribute was looked at")
            let offerPreview = try await world.service.send(
                .preview(anna, #""bundleId": "com.example.app", "offerIds": ["back", "fresh"]"#)
            )
            let outcomes = offerPreview.json["offers"].elements.map { $0["outcome"].text }
            #expect(outcomes == ["eligible", "undecided"], "\(offerPreview)")
            try await world.service.storeFacts(#"{"status": "active"}"#, of: "anna")
            #expect(try await world.service.send(.offer("back", with: anna)).problem == "not-eligible")
            #expect(
                try world.service.entries("sign.deny").last?["storedFacts"].elements == [.text("status")]
            )
            #expect(try await world.service.send(.offer("back", with: token("eve"))).problem == "eligibility-undecided")
        }
    }

    @Test func `what a request states counts first, and a name that an app claims opens nothing`() async throws {
        try await withStored { world, _ async throws in
            try await world.service.storeFacts(#"{"status": "expired"}"#, of: "ada")
            for (facts, status, stored) in [
                ("", 200, true), (#", "facts": {"status": "active"}"#, 403, false),
                (#", "facts": {"status": "expired"}"#, 200, false),
                (#", "facts": {"subscribedBefore": true}"#, 200, true),
                // What is stated of the subscription in the request is newer as a whole.
                (#", "facts": {"subscribedBefore": true, "autoRenew": "on"}"#, 403, false),
            ] {
                let reply = try await world.sign("back", #""customerId": "ada"\#(facts)"#)
                #expect(reply.status == status, "\(facts): \(reply)")
                let entry = try Tree(try #require(try world.service.entries().last))
                #expect(entry.names.contains("storedFacts") == stored, "\(facts): \(entry)")
            }
            try await world.service.storeFacts(#"{"status": "expired"}"#, of: world.token.uppercased())
            let claimed = world.service.call(as: "app", world.body("back"))
            #expect(try await world.service.send(claimed).problem == "eligibility-undecided")
        }
    }

    @Test func `the store is asked first, and what is stored counts where it does not answer`() async throws {
        try await withStored(asksStore: true) { world, _ async throws in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            let members = #""customerId": "ada", "transactionId": "\#(ids.originalTransactionID)""#
            try await world.service.storeFacts(#"{"status": "expired"}"#, of: "ada")
            try world.store.misbehave(.status(503))
            let silent = try await world.sign("back", members)
            #expect(silent.status == 200, "the backend's word is all there is: \(silent)")
            try world.store.behave()
            world.service.clock.advance(seconds: 61)
            let answered = try await world.sign("back", members)
            #expect(answered.problem == "not-eligible", "\(answered)")
            #expect(try world.service.entries("sign.deny").last?.names.contains("storedFacts") == false)
        }
    }

    @Test func `facts of a period that has ended since do not count`() async throws {
        try await withStored { world, _ async throws in
            let end = world.service.clock.now.adding(seconds: 3600).milliseconds
            try await world.service.storeFacts(#"{"status": "active", "expiresAt": \#(end)}"#, of: "ada")
            #expect(try await world.sign("back", #""customerId": "ada""#).problem == "not-eligible")
            world.service.clock.advance(seconds: 3601)
            #expect(try await world.sign("back", #""customerId": "ada""#).problem == "eligibility-undecided")
            // That there was a subscription stays true.
            #expect(try await world.sign("open", #""customerId": "ada""#).status == 200)
        }
    }

    @Test func `they expire, are replaced and deleted with the attributes`() async throws {
        try await withStored { world, _ async throws in
            func ask() async throws -> Int { try await world.sign("back", #""customerId": "ada""#).status }
            try await world.service.storeFacts(#"{"status": "expired"}"#, of: "ada", seconds: 60)
            #expect(try await ask() == 200)
            world.service.clock.advance(seconds: 60)
            #expect(try await ask() == 403)
            try await world.service.storeFacts(#"{"status": "expired"}"#, of: "ada")
            #expect(try await ask() == 200)
            try await world.service.storeFacts(#"{"subscribedBefore": true}"#, of: "ada")
            #expect(try await ask() == 403)
            try await world.service.storeFacts(#"{"status": "expired"}"#, of: "ada")
            #expect(try await world.service.send(world.service.attributesCall("DELETE", of: "ada")).status == 200)
            #expect(try await ask() == 403)
        }
    }

    @Test func `nothing is read where the request decides`() async throws {
        let statements = Statements()
        try await withStored(wrap: statements.wrap) { world, _ async throws in
            try await world.service.storeFacts(#"{"status": "expired"}"#, of: "ada")
            for (members, reads) in [(#", "facts": {"status": "expired"}"#, 0), ("", 1)] {
                statements.reset()
                #expect(try await world.sign("back", #""customerId": "ada"\#(members)"#).status == 200)
                #expect(statements.count(of: "FROM customer_attributes") == reads)
            }
        }
    }
}
