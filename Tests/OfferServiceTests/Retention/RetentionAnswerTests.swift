// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import Storage
import TestSupport
import Testing

/// `POST /v1/retention/app-store/{app}`: what Apple is answered.
@Suite(.overBothEngines) struct RetentionAnswerTests {
    @Test(arguments: Wire.allCases)
    func `an offer is a JWS bound to the subscription, recorded, and decided without asking the store`(
        wire: Wire
    ) async throws {
        try await withRetention(wire) { world in
            let id = try world.subscriber()
            let reply = try await world.ask(about: id)
            #expect(reply.shown?.answer == "promotionalOffer" && reply.shown?.message == Shown.once, "\(reply)")
            #expect(reply.json["promotionalOffer"].names == ["messageIdentifier", "promotionalOfferSignatureV2"])
            let claims = reply.shownOffer.jwsClaims
            #expect(claims["aud"] == .text("promotional-offer") && claims["bid"] == .text("com.example.app"))
            #expect(claims["transactionId"] == .text(id))
            #expect(claims["productId"] == .text("com.example.monthly"))
            #expect(claims["offerIdentifier"] == .text("store_once"))
            #expect(reply.shownOffer.isJWSSigned(by: try #require(world.service.publicKeys["active.p8"])))
            let entry = try #require(try world.service.entries("sign.intent").first)
            #expect(entry["caller"] == .text("app-store:retention") && entry["rule"] == .text("once"))
            #expect(entry["nonce"] == claims["nonce"] && entry["fmt"] == .text("jws"))
            #expect(!(try world.service.entries().contains { $0.contains(id) }), "the log has pseudonyms alone")
            #expect(world.count("promotionalOffer", "eligible") == 1)
            #expect(try world.store.counts().toAPI == 0)
        }
    }

    @Test func `what is shown counts once, and what is redeemed of it counts apart from all other grants`() async throws
    {
        try await withRetention { world in
            let id = try world.subscriber()
            let same: FakeAppStore.Members = ["requestIdentifier": "b7a1c1de-0000-4000-8000-00000000000d"]
            let shown = Metric.retentionOffersShown(environment: "production", offer: "once")
            for _ in 0..<2 {
                #expect(try await world.ask(about: id, changing: same).shown?.answer == "promotionalOffer")
                #expect(world.service.metrics[shown] == 1)
            }
            #expect(try await world.ask(about: id).shown?.answer == "alternateProduct")
            #expect(world.service.metrics[shown] == 1)
            #expect(world.service.metrics[.offersSigned(offer: "once", client: "app-store:retention")] >= 1)
            world.service.clock.advance(seconds: 60)
            let redeemed = Metric.offersRedeemed(offer: "once", client: "app-store:retention")
            #expect(world.service.metrics[redeemed] == 0)
            var notification = FakeAppStore.Notification("OFFER_REDEEMED", transactionID: id)
            notification.transaction = [
                "transactionId": .text("\(id)9"), "offerType": 2, "offerIdentifier": "store_once",
                "purchaseDate": .integer(Int(world.service.clock.now.milliseconds - 30_000)),
            ]
            try await world.deliver(notification)
            #expect(world.service.metrics[redeemed] == 1)
        }
    }

    @Test func `a cap counts what was shown and what the customer was granted elsewhere`() async throws {
        try await withRetention { world in
            let id = try world.subscriber()
            let granted = try await world.service.send(
                world.service.call(
                    as: "backend",
                    """
                    {"bundleId": "com.example.app", "productId": "com.example.monthly", "offerId": "once", \
                    "customerId": "ada", "facts": {"subscribedBefore": true, "originalTransactionId": "\(id)"}}
                    """
                )
            )
            #expect(granted.status == 200, "\(granted)")
            let reply = try await world.ask(about: id)
            #expect(reply.shown?.answer == "alternateProduct" && reply.shown?.message == Shown.alternative, "\(reply)")
            let product = reply.json["alternateProduct"]
            #expect(product["productId"] == .text("com.example.yearly"))
            #expect(product["billingPlanType"] == .text("MONTHLY"))
            #expect(world.count("alternateProduct", "not-eligible") == 1)
            let refusals = try world.service.entries("sign.deny")
            #expect(refusals.compactMap(\.["rule"].text) == ["once", "yearly"], "each offer of the group was tried")
            #expect(refusals.map(\.["outcome"].text) == ["notEligible", "undecided"])
        }
    }

    @Test func `the offer of another product of the group is shown once notifications tell enough`() async throws {
        try await withRetention { world in
            let grace = FakeAppStore.Subscription(.gracePeriod, productID: "com.example.basic", group: "20000001")
            let ids = try world.store.setCustomer(FakeAppStore.Customer("bert", subscriptions: [grace]))
            let id = ids.subscriptions[0].originalTransactionID
            #expect(try await world.ask(about: id).shown?.answer == "message", "no plan of the catalog, so no group")
            let known: FakeAppStore.Members = ["productId": "com.example.monthly"]
            try await world.deliver(.init("DID_FAIL_TO_RENEW", "GRACE_PERIOD", transactionID: id))
            #expect(try await world.ask(about: id, changing: known).shown?.message == Shown.once)
            let reply = try await world.ask(about: id, changing: known)
            #expect(reply.shown?.message == Shown.yearly, "\(reply)")
            #expect(reply.shownOffer.jwsClaims["productId"] == .text("com.example.yearly"))
            #expect(reply.shownOffer.jwsClaims["transactionId"] == .text(id))
        }
    }

    /// What a request says, and what is answered to the second one of a customer who was shown the offer.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let members: FakeAppStore.Members
        let answer: String
        let message: String

        init(_ name: String, _ members: FakeAppStore.Members, _ answer: String, _ message: String) {
            (testDescription, self.members, self.answer, self.message) = (name, members, answer, message)
        }
    }

    static let rows = [
        Row("its own product", [:], "promotionalOffer", Shown.once),
        Row("a locale of its own", ["userLocale": "de-AT"], "promotionalOffer", Shown.onceInGerman),
        Row("a locale in other letters", ["userLocale": "DE_at"], "promotionalOffer", Shown.onceInGerman),
        Row("a locale without a message", ["userLocale": "de-DE"], "promotionalOffer", Shown.once),
        Row("a product without an offer", ["productId": "com.example.weekly"], "message", Shown.weekly),
        Row("an unknown product", ["productId": "gone"], "message", Shown.anything),
        Row("the same in German", ["productId": "gone", "userLocale": "de-CH"], "message", Shown.anythingInGerman),
        Row("a product whose offer needs facts", ["productId": "com.example.yearly"], "promotionalOffer", Shown.once),
    ]

    @Test(arguments: rows)
    func `the answer fits the product and the language`(row: Row) async throws {
        try await withRetention { world in
            let reply = try await world.ask(about: try world.subscriber(), changing: row.members)
            #expect(reply.shown?.answer == row.answer && reply.shown?.message == row.message, "\(reply)")
        }
    }

    // MARK: - Where nothing can be signed

    @Test func `a message is answered while the service is sealed, and again to the same request later`() async throws {
        try await withRetention { world in
            let id = try world.subscriber()
            let same: FakeAppStore.Members = ["requestIdentifier": "b7a1c1de-0000-4000-8000-00000000000a"]
            let seal = Call(path: "/v1/seal", body: Array(#"{"reason": "drill"}"#.utf8))
                .with("Content-Type", "application/json")
            #expect(try await world.service.send(world.service.authorized(seal, as: "admin")).status == 200)
            let sealed = try await world.ask(about: id, changing: same)
            #expect(sealed.shown?.answer == "message" && sealed.shown?.message == Shown.anything, "\(sealed)")
            #expect(world.count("message", "sealed") == 1)
            let unseal = Call(path: "/v1/unseal", body: Array(#"{"reason": "over"}"#.utf8))
                .with("Content-Type", "application/json")
            #expect(try await world.service.send(world.service.authorized(unseal, as: "admin")).status == 200)
            #expect(try await world.ask(about: id, changing: same).body == sealed.body)
            #expect(try await world.ask(about: id).shown?.answer == "promotionalOffer")
        }
    }

    @Test func `a message is answered while the key is disabled`() async throws {
        try await withRetention { world in
            let call = Call(path: "/v1/keys/ACTIVE0001/disable")
            #expect(try await world.service.send(world.service.authorized(call, as: "admin")).status == 200)
            let reply = try await world.ask(about: try world.subscriber())
            #expect(reply.shown?.answer == "message", "\(reply)")
            #expect(world.count("message", "key-unavailable") == 1)
        }
    }

    @Test func `a message is answered while the disk is full, and an offer once it is not`() async throws {
        let faults = Faults()
        try await withRetention(wrap: faults.wrap) { world in
            let id = try world.subscriber()
            faults.passCommits(1)
            faults.failCommits(Faults.diskFull, Faults.diskFull)
            let reply = try await world.ask(about: id)
            #expect(reply.shown?.answer == "message" && reply.shown?.message == Shown.anything, "\(reply)")
            #expect(world.count("message", "audit-unavailable") == 1)
            #expect(try await world.ask(about: id).shown?.answer == "promotionalOffer")
        }
    }

    @Test(arguments: Wire.allCases)
    func `a message is answered within the time that Apple waits, though the disk is slow`(wire: Wire) async throws {
        let faults = Faults()
        try await withRetention(wire, milliseconds: 1500, wrap: faults.wrap) { world in
            let id = try world.subscriber()
            let same: FakeAppStore.Members = [
                "requestIdentifier": "b7a1c1de-0000-4000-8000-00000000000b", "userLocale": "de-DE",
            ]
            let clock = ContinuousClock()
            faults.hold()
            let begun = clock.now
            let reply = try await world.ask(about: id, changing: same)
            let seconds = begun.duration(to: clock.now)
            faults.release()
            #expect(reply.shown?.answer == "message" && reply.shown?.message == Shown.anythingInGerman, "\(reply)")
            #expect(seconds >= .milliseconds(1480) && seconds < .seconds(10), "\(seconds)")
            #expect(world.count("message", "late") == 1)
            #expect(try await world.ask(about: id, changing: same).body == reply.body, "what was sent counts")
        }
    }
}
