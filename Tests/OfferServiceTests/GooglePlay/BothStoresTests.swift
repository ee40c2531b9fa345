// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import OfferDomain
import OfferService
import TestSupport
import Testing

@testable import Ledger

/// One entry of the catalog in both stores: one decision, and caps that count over both.
struct BothStoresTests {
    private static func catalog(_ eligibility: String) -> String {
        """
        {
          apps: [{
            bundleId: "com.example.app", packageName: "\(FakeGooglePlay.firstApp)",
            plans: [{
              appStore: {productId: "pro.monthly", subscriptionGroupId: "1"},
              googlePlay: {productId: "premium", basePlanId: "monthly"},
              offers: [{id: "back", appStore: {offerId: "store_back"}, googlePlay: {offerId: "winback-50"},
                eligibility: \(eligibility)}],
              introductoryOffer: {id: "trial"},
            }],
          }],
        }
        """
    }

    private static func members(_ facts: String, customer: String = "anna") -> String {
        #""customerId": "\#(customer)", "facts": {\#(facts)}"#
    }

    private static func appStoreCall(_ world: FakePlayWorld, _ members: String) -> Call {
        world.service.call(
            as: "backend",
            #"{"bundleId": "com.example.app", "productId": "pro.monthly", "offerId": "back", \#(members)}"#
        )
    }

    @Test(arguments: [
        (#""status": "expired", "expiresAt": "2020-01-01T00:00:00Z", "subscribedBefore": true"#, true),
        (#""status": "active", "expiresAt": "2099-01-01T00:00:00Z", "subscribedBefore": true"#, false),
        (#""subscribedBefore": false"#, false),
    ])
    func `the same customer gets the same decision in both`(facts: String, isEligible: Bool) async throws {
        let rule = "{all: [{status: {in: [\"expired\"]}}, {lapsed: {atLeastDays: 30}}]}"
        try await withFakePlay(.inProcess, offers: Self.catalog(rule), appStoreKey: true) { world in
            let members = Self.members(facts)
            let apple = try await world.service.send(Self.appStoreCall(world, members))
            let google = try await world.service.send(world.authorizationCall(members))
            #expect(apple.status == (isEligible ? 200 : 403), "\(apple)")
            #expect(google.status == apple.status && google.problem == apple.problem, "\(google)")
            let (one, other) = (apple.json["decision"], google.json["decision"])
            #expect(one["outcome"] == other["outcome"] && one["findings"] == other["findings"])
        }
    }

    @Test(arguments: [(#", "subscriptionGroupId": "1""#, "eligible"), (#", "subscriptionGroupId": "2""#, "undecided")])
    func `what is stated of a subscription in another group decides no offer of this one`(
        group: String,
        outcome: String
    ) async throws {
        let rule = "{lapsed: {atLeastDays: 30}}"
        try await withFakePlay(.inProcess, offers: Self.catalog(rule), appStoreKey: true) { world in
            let lapsed = #""status": "expired", "expiresAt": "2020-01-01T00:00:00Z", "offersUsed": []"#
            let members = Self.members(lapsed + group)
            for call in [Self.appStoreCall(world, members), world.authorizationCall(members)] {
                let reply = try await world.service.send(call)
                #expect(reply.status == (outcome == "eligible" ? 200 : 403), "\(reply)")
                #expect(reply.json["decision"]["outcome"].text == outcome, "\(reply)")
            }
            let preview = try await world.service.send(world.eligibilityCall("\(Self.app), \(members)"))
            #expect(
                preview.json["offers"].elements.map(\.["outcome"].text) == [outcome, outcome, "eligible"],
                "which offers were used is of the whole app: \(preview)"
            )
        }
    }

    @Test(arguments: [("both", 403), ("each", 200)])
    func `a cap counts over both when the rule says so`(stores: String, second: Int) async throws {
        for rule in ["grants: {atMost: 1", "cooldown: {days: 30", "budget: {atMost: 1"] {
            let catalog = Self.catalog("{\(rule), stores: \"\(stores)\"}}")
            try await withFakePlay(.inProcess, offers: catalog, appStoreKey: true) { world in
                let members = Self.members(#""subscribedBefore": true"#)
                #expect(try await world.service.send(Self.appStoreCall(world, members)).status == 200)
                let google = try await world.service.send(world.authorizationCall(members))
                #expect(google.status == second, "\(rule): \(google)")
                let again = try await world.service.send(world.authorizationCall(members))
                #expect(again.status == 403, "\(rule): \(again)")
            }
        }
    }

    @Test func `what is paid for at Google Play is no lapsed subscription in the App Store`() async throws {
        let rule = "{status: {in: [\"expired\"]}}"
        try await withFakePlay(offers: Self.catalog(rule), appStoreKey: true) { world in
            let bought = try world.play.buy(.init("premium", daysAgo: 2))
            let google = try await world.service.send(
                world.authorizationCall(#""customerId": "anna", "purchaseTokens": ["\#(bought.token)"]"#)
            )
            #expect(google.problem == "not-eligible", "\(google)")
            let apple = try await world.service.send(
                Self.appStoreCall(world, #""customerId": "anna", "facts": {"subscribedBefore": true}"#)
            )
            #expect(apple.problem == "not-eligible", "\(apple)")
        }
    }

    // MARK: - POST /v1/eligibility

    private static let app = #""bundleId": "com.example.app", "packageName": "\#(FakeGooglePlay.firstApp)""#

    @Test(arguments: Wire.allCases)
    func `returns all offers of an app at once, and reserves and records nothing`(wire: Wire) async throws {
        let catalog = Self.catalog("{grants: {atMost: 1}}")
        try await withFakePlay(wire, offers: catalog, appStoreKey: true) { world in
            let call = world.eligibilityCall(
                "\(Self.app), " + Self.members(#""subscribedBefore": true, "offersUsed": []"#)
            )
            for _ in 0..<3 {
                let reply = try await world.service.send(call)
                #expect(reply.status == 200, "\(reply)")
                let offers = reply.json["offers"].elements
                #expect(offers.map(\.["id"].text) == ["back", "back", "trial"])
                #expect(offers.map(\.["store"].text) == ["appStore", "googlePlay", "appStore"])
                #expect(offers.allSatisfy { $0["outcome"].text == "eligible" }, "\(reply)")
                let products = reply.json["products"].elements
                #expect(products.map(\.["promotionalOfferId"].text) == ["store_back", "winback-50"])
                #expect(products.map(\.["introductoryOfferEligibility"].text) == ["eligible", nil])
                #expect(products.allSatisfy { $0["promotionalOfferEligibility"] == .boolean(true) })
            }
            #expect(try world.service.entries().filter { $0.contains("\"ev\":\"sign") }.isEmpty)
            #expect(try world.service.entries("authorize.intent").isEmpty)
            #expect(
                try await world.service.send(world.authorizationCall(Self.members(#""subscribedBefore": true"#))).status
                    == 200
            )
            let after = try await world.service.send(call)
            #expect(
                after.json["offers"].elements.map(\.["outcome"].text) == ["notEligible", "notEligible", "eligible"],
                "the grant counts in both: \(after)"
            )
        }
    }

    @Test func `names the obstacle of an offer that no customer can get`() async throws {
        try await withFakePlay(offers: Self.catalog("{grants: {atMost: 1}}"), appStoreKey: true) { world in
            try world.play.setOffer(.init("winback-50", of: "premium", state: "DRAFT"))
            let reply = try await world.service.send(
                world.eligibilityCall("\(Self.app), " + Self.members(#""subscribedBefore": true"#))
            )
            let google = reply.json["offers"].elements.first { $0["store"].text == "googlePlay" }
            #expect(google?["outcome"].text == "eligible" && google?["obstacle"].text == "offer-draft", "\(reply)")
            let product = reply.json["products"].elements.first { $0["store"].text == "googlePlay" }
            #expect(product?["promotionalOfferEligibility"] == .boolean(false))
        }
    }

    @Test(arguments: Wire.ofRun)
    func `promises nothing while the service is sealed, and is not kept`(wire: Wire) async throws {
        try await withFakePlay(wire, offers: Self.catalog("{grants: {atMost: 1}}"), appStoreKey: true) { world in
            let call = world.eligibilityCall(
                "\(Self.app), " + Self.members(#""subscribedBefore": true, "offersUsed": []"#)
            )
            try await world.service.seal.seal(.administrator, detail: "leak", by: .service)
            let sealed = try await world.service.send(call)
            #expect(sealed.headers["cache-control"] == "private, max-age=0")
            #expect(
                sealed.json["offers"].elements.allSatisfy {
                    $0["outcome"].text == "eligible" && $0["obstacle"].text == "sealed"
                },
                "\(sealed)"
            )
            let products = sealed.json["products"].elements
            #expect(products.allSatisfy { $0["promotionalOfferEligibility"] == .boolean(false) }, "\(sealed)")
            #expect(products.map(\.["introductoryOfferEligibility"].text) == ["unknown", nil])
            try await world.service.seal.unseal(try SealReason(Array("over".utf8)), by: .service)
            // While nothing was signed, Google Play could not be asked either; it is, a little later.
            world.service.clock.advance(seconds: 60)
            let open = try await world.service.send(call)
            #expect(open.json["offers"].elements.allSatisfy { $0["obstacle"].text == nil }, "\(open)")
            #expect(open.headers["cache-control"] == "private, max-age=300" && open.headers["etag"] != nil)
        }
    }

    @Test func `answers 412 if nothing changed, and is cached only until the decision changes`() async throws {
        try await withFakePlay(offers: Self.catalog("{cooldown: {days: 1}}"), appStoreKey: true) { world in
            let call = world.eligibilityCall("\(Self.app), " + Self.members(#""subscribedBefore": true"#))
            let first = try await world.service.send(call)
            let tag = try #require(first.headers["etag"])
            #expect(first.headers["cache-control"] == "private, max-age=300" && first.headers["vary"] != nil)
            let same = try await world.service.send(call.with("If-None-Match", "\"x\", W/\(tag)"))
            #expect(same.status == 412 && same.body.isEmpty && same.headers["etag"] == tag, "\(same)")
            #expect(
                try await world.service.send(world.authorizationCall(Self.members(#""subscribedBefore": true"#))).status
                    == 200
            )
            let changed = try await world.service.send(call.with("If-None-Match", tag))
            #expect(changed.status == 200 && changed.headers["etag"] != tag, "\(changed)")
            world.tick(seconds: 86_400 - 60)
            let soon = try await world.service.send(call)
            let age = soon.headers["cache-control"]?.split(separator: "=").last.flatMap { Int($0) } ?? 0
            #expect((1...60).contains(age), "\(soon.headers)")
        }
    }

    @Test func `tells an app no findings, and takes no assertions from it`() async throws {
        try await withFakePlay(.inProcess, offers: Self.catalog("{grants: {atMost: 1}}"), appStoreKey: true) {
            world in
            let reply = try await world.service.send(
                world.eligibilityCall(as: "app", "\(Self.app), \"anonymousId\": \"device\"")
            )
            #expect(reply.status == 200 && !reply.body.contains("findings"), "\(reply)")
            #expect(reply.json["offers"].elements.allSatisfy { $0["outcome"].text == "undecided" }, "\(reply)")
            let asserting = world.eligibilityCall(
                as: "app",
                "\(Self.app), " + Self.members(#""subscribedBefore": true"#)
            )
            #expect(try await world.service.send(asserting).problem == "assertion-not-allowed")
            for (members, pointers) in [
                ("\"customerId\": \"a\"", ["/bundleId"]), ("\(Self.app), \"offerIds\": []", ["/offerIds"]),
                ("\(Self.app), \"offerIds\": [\"back\", \"none\"]", ["/offerIds/1"]),
                ("\(Self.app), \"offerIds\": [\"back\", \"back\"]", ["/offerIds"]),
            ] {
                let reply = try await world.service.send(world.eligibilityCall(members))
                #expect(reply.status == 400 && reply.pointers == pointers, "\(reply)")
            }
            let unknown = try await world.service.send(world.eligibilityCall("\(Self.app), \"offerIds\": [\"none\"]"))
            #expect(
                unknown.json["detail"].text?.contains("ids of the offers file, not of a store") == true,
                "\(unknown)"
            )
            let one = try await world.service.send(world.eligibilityCall("\(Self.app), \"offerIds\": [\"trial\"]"))
            #expect(one.json["offers"].elements.map(\.["id"].text) == ["trial"], "\(one)")
        }
    }
}
