// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import OfferService

/// A purchase names a customer only by an account ID that the service issued; a team's own account hash, which looks
/// alike, names no customer.
@Suite(.overBothEngines) struct GivenOutAccountTests {
    /// As `sha256sum` writes a user's id.
    private static let ownHash = String(repeating: "5e884898", count: 8)

    static let offers = FakePlayWorld.catalog(#"{status: {in: ["active"]}}"#)

    @Test func `a purchase with a team's own account hash belongs to the customer who sends its token`() async throws {
        try await withFakePlay(offers: Self.offers, appStoreKey: true) { world in
            let bought = try world.play.buy(.init("premium", obfuscatedAccountID: Self.ownHash))
            let named = #""anonymousId": "device-1", "purchaseTokens": ["\#(bought.token)"]"#
            let offerPreview = try await world.service.send(
                world.eligibilityCall(as: "app", #"\#(FakePlayWorld.app), \#(named)"#)
            )
            let offer = offerPreview.json["offers"].elements.first { $0["store"].text == "googlePlay" }
            #expect(offer?["outcome"].text == "eligible", "\(offerPreview)")
            let reply = try await world.service.send(world.authorizationCall(as: "app", named))
            #expect(reply.status == 200, "\(reply)")
            #expect(reply.json["obfuscatedAccountId"].text?.utf8.count == 64)
        }
    }

    @Test func `the same id is another's once it was given out, in both questions`() async throws {
        try await withFakePlay(offers: Self.offers, appStoreKey: true) { world in
            let bob = try await world.service.send(
                world.authorizationCall(
                    #""customerId": "bob", "facts": {"subscribedBefore": true, "status": "active"}"#
                )
            )
            let bobs = bob.json["obfuscatedAccountId"].text
            #expect(bobs?.utf8.count == 64, "\(bob)")
            let bought = try world.play.buy(.init("premium", obfuscatedAccountID: bobs))
            let named = #""anonymousId": "device-1", "purchaseTokens": ["\#(bought.token)"]"#
            let offerPreview = try await world.service.send(
                world.eligibilityCall(as: "app", #"\#(FakePlayWorld.app), \#(named)"#)
            )
            let offer = offerPreview.json["offers"].elements.first { $0["store"].text == "googlePlay" }
            #expect(offer?["outcome"].text == "undecided", "\(offerPreview)")
            let reply = try await world.service.send(world.authorizationCall(as: "app", named))
            #expect(reply.problem == "purchase-of-other-account", "\(reply)")
        }
    }

    @Test func `after a logout, the device may use the customer's purchase once the two are linked`()
        async throws
    {
        try await withFakePlay(offers: Self.offers, appStoreKey: true) { world in
            let bob = try await world.service.send(
                world.authorizationCall(
                    #""customerId": "bob", "facts": {"subscribedBefore": true, "status": "active"}"#
                )
            )
            let bought = try world.play.buy(
                .init("premium", obfuscatedAccountID: bob.json["obfuscatedAccountId"].text)
            )
            let call = world.authorizationCall(
                as: "app",
                #""anonymousId": "device-1", "purchaseTokens": ["\#(bought.token)"]"#
            )
            #expect(try await world.service.send(call).problem == "purchase-of-other-account")
            try await world.service.transfer(from: "device-1", to: "bob")
            let reply = try await world.service.send(call)
            #expect(reply.status == 200, "\(reply)")
        }
    }

    @Test func `neither an eligibility preview nor a refusal gives out an account ID`() async throws {
        try await withFakePlay(offers: Self.offers, appStoreKey: true) { world in
            let customer = #""customerId": "anna", "facts": {"subscribedBefore": true, "status": "active"}"#
            _ = try await world.service.send(world.eligibilityCall(#"\#(FakePlayWorld.app), \#(customer)"#))
            _ = try await world.service.send(
                world.authorizationCall(#""customerId": "anna", "facts": {"status": "expired"}"#)
            )
            #expect(try world.service.rows(["SELECT count(*) || '' FROM google_play_accounts"]) == ["0"])
            for _ in 0..<2 { _ = try await world.service.send(world.authorizationCall(customer)) }
            #expect(try world.service.rows(["SELECT count(*) || '' FROM google_play_accounts"]) == ["1"])
        }
    }

    @Test func `a purchase reported with a team's own hash is linked and transferred to no customer`() async throws {
        try await withPlayService { world in
            let grant = try world.grant(to: "anna", daysAgo: 3)
            let mark = try world.mark(grant)
            for (token, account) in [("a", Self.ownHash), ("b", String(repeating: "0f", count: 32))] {
                try world.play.answer(
                    token,
                    PlaySample(
                        "ACTIVE",
                        .init {
                            $0.offer = "winback-50"; $0.phase = "introductoryPrice"
                        }
                    ) {
                        ($0.startedDaysAgo, $0.accountID) = (token == "a" ? 2 : 1, account)
                        if token == "a" { $0.profileID = mark } else { $0.linked = "a" }
                    }
                )
                try await world.deliver(PlayService.change(4, token), id: token)
            }
            let names: [StaticString] = [
                """
                SELECT count(*) || '' FROM subscription_customers
                WHERE subject NOT IN (SELECT subscription FROM subscription_records)
                """,
                "SELECT count(*) || '' FROM subscription_holders",
                "SELECT count(*) || '' FROM subscription_records",
            ]
            #expect(try world.service.rows(names) == ["0", "0", "2"])
            #expect(try world.service.entries("subscription.transferred").isEmpty)
            #expect(try world.redemptions().first == "winback-50 redeemed mark")
            #expect(try world.service.uses().first == "redeemed grant")
        }
    }
}
