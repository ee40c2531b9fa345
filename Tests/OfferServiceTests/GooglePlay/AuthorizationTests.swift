// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import OfferDomain
import OfferService
import TestSupport
import Testing

@testable import Ledger

/// `POST /v1/google-play/offers/authorizations`, beside a fake Google Play.
@Suite(.overBothEngines) struct AuthorizationTests {
    private static let anna = #""customerId": "anna", "facts": {"subscribedBefore": true}"#

    private static func catalog(_ offer: String, app: String = "") -> String {
        """
        {
          apps: [{
            packageName: "\(FakeGooglePlay.firstApp)", \(app)
            plans: [{
              googlePlay: {productId: "premium", basePlanId: "monthly"},
              offers: [{id: "back", googlePlay: {offerId: "winback-50"} \(offer)}],
            }],
          }],
        }
        """
    }

    @Test(arguments: Wire.allCases)
    func `tells the app what it needs to buy the right offer, and records it first`(wire: Wire) async throws {
        try await withFakePlay(wire) { world in
            let reply = try await world.service.send(world.authorizationCall(Self.anna))
            #expect(reply.status == 200, "\(reply)")
            let answer = reply.json
            for (name, value) in [
                ("packageName", FakeGooglePlay.firstApp), ("productId", "premium"), ("basePlanId", "monthly"),
                ("offerId", "winback-50"), ("ifMissingOnDevice", "offerNothing"),
            ] {
                #expect(answer[name].text == value)
            }
            #expect(answer["offerTags"].elements.map(\.text) == ["ignore-offer"])
            #expect(answer["hideTags"].elements.first?["foundOn"].text == "offer")
            #expect(answer["phases"].elements.first?["kind"].text == "freeTrial")
            #expect(answer["phases"].elements.first?["duration"].text == "P1W")
            #expect(answer["decision"]["outcome"].text == "eligible")
            let hexadecimal = try #require(answer["obfuscatedAccountId"].text?.wholeMatch(of: /[0-9a-f]{64}/)).output
            let mark = try #require(GrantMark(answer["obfuscatedProfileId"].text ?? ""))
            #expect(mark.grantID.description == answer["grantId"].text)
            let entry = try #require(try world.service.entries("authorize.intent").first)
            #expect(entry["grant"] == answer["grantId"] && entry["offer"].text == "winback-50")
            #expect(entry["package"].text == FakeGooglePlay.firstApp && entry["base"].text == "monthly")
            #expect(!"\(entry)".contains("anna") && !"\(entry)".contains(hexadecimal))
        }
    }

    @Test(arguments: Wire.ofRun)
    func `is ready with offers at Google Play alone, which need no key of the App Store`(wire: Wire) async throws {
        try await withFakePlay(wire) { world in
            let ready = try await world.service.send(.get("/health/ready"))
            #expect(ready.status == 200 && ready.json["obstacles"].elements.isEmpty, "\(ready)")
        }
    }

    @Test(
        arguments: [
            ("DE", "US", false), ("US", "DE", true), (nil, "DE", false), (nil, "US", true), ("US", nil, true),
            ("DE", nil, false),
        ] as [(String?, String?, Bool)]
    )
    func `looks where the device buys, and only without that where a backend says`(
        regionCode: String?,
        fact: String?,
        isOpen: Bool
    ) async throws {
        try await withFakePlay { world in
            try world.play.setOffer(.init("winback-50", of: "premium", regions: ["US"], closedRegions: ["DE"]))
            let region = regionCode.map { #", "regionCode": "\#($0)""# } ?? ""
            let facts = fact.map { #", "region": "\#($0)""# } ?? ""
            let members = #""customerId": "anna", "facts": {"subscribedBefore": true\#(facts)}\#(region)"#
            let reply = try await world.service.send(world.authorizationCall(members))
            #expect(reply.status == (isOpen ? 200 : 409), "\(reply)")
            let app = #""packageName": "\#(FakeGooglePlay.firstApp)""#
            let preview = try await world.service.send(world.eligibilityCall("\(app), \(members)"))
            #expect((preview.json["offers"][0]["obstacle"].text == nil) == isOpen, "\(preview)")
        }
    }

    @Test func `takes the catalog's own name of the offer too`() async throws {
        try await withFakePlay { world in
            let reply = try await world.service.send(world.authorizationCall(Self.anna, offer: "back"))
            #expect(reply.status == 200 && reply.json["offerId"].text == "winback-50", "\(reply)")
        }
    }

    @Test func `answers a retry with the same grant, and counts it once`() async throws {
        let offers = Self.catalog(", eligibility: {grants: {atMost: 1}}")
        try await withFakePlay(offers: offers) { world in
            let call = world.authorizationCall(Self.anna).with("Idempotency-Key", "k")
            let first = try await world.service.send(call)
            let again = try await world.service.send(call)
            #expect(first.status == 200 && again.json["grantId"] == first.json["grantId"], "\(again)")
            #expect(again.json["obfuscatedProfileId"] == first.json["obfuscatedProfileId"])
            let other = try await world.service.send(world.authorizationCall(Self.anna))
            #expect(other.status == 403 && other.problem == "not-eligible", "\(other)")
            let entry = try #require(try world.service.entries("authorize.deny").first)
            #expect(entry["outcome"].text == "notEligible" && entry["why"].elements.first?["rule"].text == "grants")
        }
    }

    @Test func `evaluates the rules first, and only then the offer`() async throws {
        try await withFakePlay { world in
            try world.play.setOffer(.init("winback-50", of: "premium", tags: []))
            let refused = try await world.service.send(
                world.authorizationCall(#""customerId": "anna", "facts": {"subscribedBefore": false}"#)
            )
            #expect(refused.problem == "not-eligible", "\(refused)")
            let faulty = try await world.service.send(world.authorizationCall(Self.anna))
            #expect(faulty.status == 409 && faulty.problem == "offer-not-usable", "\(faulty)")
            #expect(faulty.json["errors"].elements.first?["detail"].text == "hide-tag-missing", "\(faulty)")
            let entry = try #require(try world.service.entries("authorize.deny").last)
            #expect(entry["fault"].text == "hide-tag-missing" && entry["outcome"].text == "eligible")
            #expect(try world.service.entries("authorize.intent").isEmpty)
            let page = try await world.service.send(.get("/metrics")).body
            #expect(page.contains(#"authorization_faults_total{offer="back",fault="hide-tag-missing"} 1"#))
        }
    }

    @Test func `takes the tag that the app's settings want, letter for letter`() async throws {
        let offers = Self.catalog("", app: #"googlePlay: {hideTags: ["rc-ignore-offer", "sw-ignore-offer"]},"#)
        try await withFakePlay(offers: offers) { world in
            let wanting = try await world.service.send(world.authorizationCall(Self.anna))
            #expect(wanting.problem == "offer-not-usable", "\(wanting)")
        }
        try await withFakePlay(offers: offers) { world in
            try world.play.setOffer(.init("winback-50", of: "premium", tags: ["sw-ignore-offer"]))
            #expect(try await world.service.send(world.authorizationCall(Self.anna)).status == 200)
        }
    }

    @Test func `is 503 while Google Play can't be asked and there is no copy, and goes on with a copy`() async throws {
        try await withFakePlay { world in
            try world.play.listen(false)
            let down = try await world.service.send(world.authorizationCall(Self.anna))
            #expect(down.status == 503 && down.problem == "store-unavailable", "\(down)")
            #expect(down.headers["retry-after"] != nil)
            #expect(try world.service.entries("authorize.intent").isEmpty)
            let refused = try await world.service.send(
                world.authorizationCall(#""customerId": "anna", "facts": {"subscribedBefore": false}"#)
            )
            #expect(refused.problem == "not-eligible", "the rules need no store: \(refused)")
            try world.play.listen(true)
            world.tick(seconds: 120)
            try world.play.advance(seconds: 120)
            let back = try await world.service.send(world.authorizationCall(Self.anna))
            #expect(back.status == 200, "\(back)")
            try world.play.listen(false)
            world.tick(seconds: 3600)
            #expect(
                try await world.service.send(world.authorizationCall(Self.anna)).status == 200,
                "a copy of an hour ago is good"
            )
            world.tick(seconds: 25 * 3600)
            #expect(try await world.service.send(world.authorizationCall(Self.anna)).problem == "store-unavailable")
        }
    }

    @Test func `decides from a purchase token whether the subscription lapsed, and needs nothing else`() async throws {
        let offers = Self.catalog(
            ", eligibility: {all: [{status: {in: [\"expired\"]}}, {lapsed: {atLeastDays: 30}}]}"
        )
        try await withFakePlay(offers: offers) { world in
            let lapsed = try world.play.buy(.init("premium", daysAgo: 80, periodDays: 30))
            try world.play.happen(.expire, to: lapsed.token)
            let active = try world.play.buy(.init("premium", daysAgo: 2))
            func ask(_ token: String, _ name: String) async throws -> Reply {
                try await world.service.send(
                    world.authorizationCall(as: "app", #""anonymousId": "\#(name)", "purchaseTokens": ["\#(token)"]"#)
                )
            }
            let unknown = try await world.service.send(
                world.authorizationCall(as: "app", #""anonymousId": "device-0""#)
            )
            #expect(unknown.problem == "eligibility-undecided", "\(unknown)")
            let no = try await ask(active.token, "device-1")
            #expect(no.problem == "not-eligible", "\(no)")
            let missing = try await ask("made-up", "device-2")
            #expect(missing.problem == "eligibility-undecided", "\(missing)")
            let yes = try await ask(lapsed.token, "device-3")
            #expect(yes.status == 200, "it ended 50 days ago: \(yes)")
        }
    }

    @Test func `does not query Google Play for refunds, since its answers never report them`() async throws {
        let offers = Self.catalog(", eligibility: {not: {refunded: {withinDays: 90}}}")
        try await withFakePlay(offers: offers) { world in
            let bought = try world.play.buy(.init("premium"))
            let call = world.authorizationCall(#"\#(Self.anna), "purchaseTokens": ["\#(bought.token)"]"#)
            for _ in 0..<4 {
                let reply = try await world.service.send(call)
                #expect(reply.problem == "eligibility-undecided", "\(reply)")
            }
            #expect(try world.play.counts().requests(to: .purchase) == 0)
            let learning = world.authorizationCall(#""customerId": "bob", "purchaseTokens": ["\#(bought.token)"]"#)
            for _ in 0..<4 {
                let reply = try await world.service.send(learning)
                #expect(reply.problem == "eligibility-undecided", "\(reply)")
            }
            #expect(try world.play.counts().requests(to: .purchase) == 1, "whether there was a subscription")
            try world.play.listen(false)
            let silent = try await world.service.send(learning)
            #expect(silent.problem == "eligibility-undecided", "\(silent)")
        }
    }

    @Test func `queries Google Play for a purchase's owner even if messages report its refunds`() async throws {
        let offers = Self.catalog(", eligibility: {not: {refunded: {withinDays: 90}}}, facts: {maximumAgeHours: 6}")
        try await withFakePlay(offers: offers) { world in
            let bought = try world.play.buy(.init("premium"))
            try await world.deliver(bought)
            func ask(_ caller: String, _ name: String) async throws -> Reply {
                let members = #""\#(name)": "anna", "purchaseTokens": ["\#(bought.token)"]"#
                return try await world.service.send(world.authorizationCall(as: caller, members))
            }
            #expect(try await ask("app", "anonymousId").status == 200)
            #expect(try await ask("backend", "customerId").status == 200)
            world.tick(seconds: 7 * 3600)
            try world.play.advance(seconds: 7 * 3600)
            let before = try world.play.counts().requests(to: .purchase)
            #expect(try await ask("backend", "customerId").status == 200, "it is still as it was")
            #expect(try world.play.counts().requests(to: .purchase) == before + 1)
        }
    }

    @Test func `refuses an app's purchase that names another account, and believes a backend`() async throws {
        let offers = Self.catalog(", eligibility: {status: {in: [\"active\"]}}")
        try await withFakePlay(offers: offers) { world in
            let account = try await world.service.send(
                world.authorizationCall(
                    #""customerId": "bob", "facts": {"subscribedBefore": true, "status": "active"}"#
                )
            )
            let bobs = try world.play.buy(
                .init("premium", obfuscatedAccountID: account.json["obfuscatedAccountId"].text)
            )
            let stranger = try await world.service.send(
                world.authorizationCall(as: "app", #""anonymousId": "mallory", "purchaseTokens": ["\#(bobs.token)"]"#)
            )
            #expect(stranger.status == 403 && stranger.problem == "purchase-of-other-account", "\(stranger)")
            #expect(stranger.pointers == ["/purchaseTokens/0"])
            let claimed = try await world.service.send(
                world.authorizationCall(as: "app", #""anonymousId": "BOB", "purchaseTokens": ["\#(bobs.token)"]"#)
            )
            #expect(claimed.problem == "purchase-of-other-account", "a claimed name proves nothing: \(claimed)")
            var transfer = world.service.call(
                """
                {"packageName": "\(FakeGooglePlay.firstApp)", "from": {"anonymousId": "phone"},
                 "to": {"customerId": "bob"}}
                """
            )
            transfer.path = "/v1/customers/transfers"
            #expect(try await world.service.send(transfer).status == 200)
            let owner = try await world.service.send(
                world.authorizationCall(as: "app", #""anonymousId": "PHONE", "purchaseTokens": ["\#(bobs.token)"]"#)
            )
            #expect(owner.status == 200, "\(owner)")
            let backend = try await world.service.send(
                world.authorizationCall(#""customerId": "carol", "purchaseTokens": ["\#(bobs.token)"]"#)
            )
            #expect(backend.status == 200, "\(backend)")
        }
    }

    @Test(arguments: [
        ("{}", ["/packageName", "/productId", "/basePlanId", "/offerId", "/customerId"]),
        (
            #"{"packageName": "1x", "productId": "P", "basePlanId": "-", "offerId": "a", "anonymousId": "d"}"#,
            ["/packageName", "/productId", "/basePlanId"]
        ),
        (
            #"{"packageName": "a.b", "productId": "p", "basePlanId": "b", "offerId": "a", "anonymousId": "d", "regionCode": "us", "purchaseTokens": ["a b", 1], "more": 1}"#,
            ["/regionCode", "/purchaseTokens/0", "/purchaseTokens/1", "/more"]
        ),
    ])
    func `names every member that is not as expected`(body: String, pointers: [String]) async throws {
        try await withFakePlay(.inProcess) { world in
            var call = world.service.call(as: "backend", body)
            call.path = "/v1/google-play/offers/authorizations"
            let reply = try await world.service.send(call)
            #expect(reply.status == 400 && reply.problem == "invalid-request", "\(reply)")
            #expect(Set(reply.pointers) == Set(pointers), "\(reply)")
        }
    }

    @Test func `refuses offers outside the catalog, and callers that may not ask`() async throws {
        try await withFakePlay(.inProcess) { world in
            for (old, new, pointer) in [
                (FakeGooglePlay.firstApp, "com.example.none", "/packageName"), ("premium", "basic", "/productId"),
                ("monthly", "yearly", "/basePlanId"), ("winback-50", "winback-90", "/offerId"),
            ] {
                var call = world.authorizationCall(Self.anna)
                call.body = Array(String(decoding: call.body, as: UTF8.self).replacing(old, with: new).utf8)
                let reply = try await world.service.send(call)
                #expect(reply.status == 404 && reply.pointers == [pointer], "\(reply)")
            }
            #expect(
                try await world.service.send(world.authorizationCall(as: "auditor", Self.anna)).problem
                    == "role-not-allowed"
            )
            #expect(
                try await world.service.send(world.authorizationCall(as: "app", Self.anna)).problem
                    == "assertion-not-allowed"
            )
            #expect(try await world.service.send(world.authorizationCall(as: "nobody", Self.anna)).status == 401)
        }
    }
}

extension AuthorizationTests {
    @Test func `check warns about an app without a service account for its Google Play offers`() async throws {
        try await withFakePlay(.inProcess) { world in
            #expect(world.service.loaded.warnings.isEmpty)
        }
        var files = TestFiles()
        files.offers = files.offers.replacing(
            #"bundleId: "com.example.other","#,
            with: #"bundleId: "com.example.other", packageName: "com.example.none","#
        ).replacing(
            #"{id: "once", appStore: {offerId: "store_once"}, eligibility: {grants: {atMost: 1}}},"#,
            with: #"{id: "once", appStore: {offerId: "store_once"}},"#
        )
        try await withService(.inProcess, files) { service in
            #expect(service.loaded.warnings.isEmpty, "no offer of it is at Google Play")
        }
        files.offers = Self.catalog("")
        files.offers = files.offers.replacing(FakeGooglePlay.firstApp, with: "com.example.none")
        try await withService(.inProcess, files) { service in
            let warnings = service.loaded.warnings.map(\.description)
            #expect(warnings.contains { $0.contains("no service account is for com.example.none") }, "\(warnings)")
        }
    }
}
