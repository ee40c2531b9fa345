// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService

/// The same at Google Play, where an app shows purchases by their tokens, and the store says what they are.
@Suite(.overBothEngines) struct ProvenPurchaseTests {
    private static let offers = """
        {
          apps: [{
            packageName: "\(FakeGooglePlay.firstApp)",
            customers: {mostCustomersPerAnonymousId: 2},
            plans: [{
              googlePlay: {productId: "premium", basePlanId: "monthly"},
              offers: [
                {id: "once", googlePlay: {offerId: "once-50", admitsNewCustomers: true},
                 eligibility: {grants: {atMost: 1}}},
                {id: "twice", googlePlay: {offerId: "twice-50", admitsNewCustomers: true},
                 eligibility: {grants: {atMost: 2}}},
                {id: "bounded", googlePlay: {offerId: "bounded-50", admitsNewCustomers: true},
                 eligibility: {budget: {atMost: 3}}},
                {id: "anybody", googlePlay: {offerId: "anybody-50", admitsNewCustomers: true},
                 admitsUnprovenCustomers: true, eligibility: {grants: {atMost: 1}}},
                {id: "bounded_anybody", googlePlay: {offerId: "bounded-anybody-50", admitsNewCustomers: true},
                 admitsUnprovenCustomers: true, eligibility: {budget: {atMost: 3}}},
                {id: "once_or_bounded", googlePlay: {offerId: "once-or-bounded-50", admitsNewCustomers: true},
                 admitsUnprovenCustomers: true, eligibility: {any: [{grants: {atMost: 1}}, {budget: {atMost: 3}}]}},
              ],
            }],
          }],
        }
        """

    private func withWorld(
        disk: DiskReserve.Room? = nil,
        _ body: (FakePlayWorld) async throws -> Void
    ) async throws {
        try await withFakePlay(.inProcess, offers: Self.offers, disk: disk) { world in
            try world.play.setSubscription(.init("other", basePlans: [.init("monthly")]))
            for offer in [
                "once-50", "twice-50", "bounded-50", "anybody-50", "bounded-anybody-50", "once-or-bounded-50",
            ] {
                try world.play.setOffer(.init(offer, of: "premium"))
            }
            try await body(world)
        }
    }

    private func ask(
        _ world: FakePlayWorld,
        as caller: String = "app",
        _ offer: String,
        _ members: String
    ) async throws -> Reply {
        world.tick()
        return try await world.service.send(world.authorizationCall(as: caller, members, offer: offer))
    }

    @Test func `a purchase of another product has a capped offer once, by whatever names it is asked for`() async throws
    {
        try await withWorld { world in
            let token = try world.play.buy(.init("other")).token
            var statuses: [Int] = []
            for number in 0..<4 {
                let members = #""anonymousId": "device-\#(number)", "purchaseTokens": ["\#(token)"]"#
                statuses.append(try await ask(world, "once", members).status)
            }
            #expect(statuses == [200, 403, 403, 403])
        }
    }

    @Test func `purchases count with all that they took the place of, also beyond those that the store is asked about`()
        async throws
    {
        try await withWorld { world in
            var tokens = [try world.play.buy(.init("other")).token]
            func ask() async throws -> Int {
                let shown = try #require(tokens.last)
                return try await self.ask(world, "once", #""anonymousId": "eve", "purchaseTokens": ["\#(shown)"]"#)
                    .status
            }
            #expect(try await ask() == 200)
            for _ in 0..<3 {
                for _ in 0..<6 {
                    tokens.append(try world.play.buy(.init("other", linkedToken: tokens.last)).token)
                }
                #expect(try await ask() == 403, "after \(tokens.count) purchases")
            }
        }
    }

    /// Chains of purchases, each shown by any of its own, together with others or alone.
    @Test(arguments: UInt64(1)...2)
    func `no purchase has more than its cap, whatever is shown beside it`(seed: UInt64) async throws {
        try await withWorld { world in
            var random = SplitMix(seed: seed)
            var chains = try (0..<4).map { _ in [try world.play.buy(.init("other")).token] }
            var grants: [Set<Int>] = Array(repeating: [], count: chains.count)
            for number in 0..<TestRing.rounds(60, nightly: 600) {
                let shown = Array(chains.indices.shuffled(using: &random).prefix(Int.random(in: 1...2, using: &random)))
                if random.pick([true, false, false]) {
                    let next = try world.play.buy(.init("other", linkedToken: chains[shown[0]].last))
                    chains[shown[0]].append(next.token)
                }
                let tokens = shown.map { "\"\(random.pick(Array(chains[$0].suffix(3))))\"" }.joined(separator: ", ")
                let members = #""anonymousId": "device-\#(random.next())", "purchaseTokens": [\#(tokens)]"#
                // Advance the clock so that the rate limit of one device is not reached.
                world.tick(seconds: 120)
                try world.play.advance(seconds: 120)
                let reply = try await ask(world, "twice", members)
                let had = shown.reduce(into: Set<Int>()) { $0.formUnion(grants[$1]) }
                #expect(reply.status == (had.count < 2 ? 200 : 403), "\(shown) \(grants): \(reply)")
                if reply.status == 200 { for chain in shown { grants[chain].insert(number) } }
            }
            #expect(grants.allSatisfy { (1...2).contains($0.count) }, "\(grants)")
        }
    }

    @Test func `an app repeats itself under an idempotency key as often as it may ask about one customer`() async throws
    {
        try await withWorld { world in
            let asked = world.authorizationCall(as: "app", #""anonymousId": "eve""#, offer: "anybody")
            var statuses: [Int] = []
            for number in 0..<122 {
                let call = asked.with("Idempotency-Key", "k").from("198.51.100.\(number)")
                statuses.append(try await world.service.send(call).status)
            }
            #expect(statuses == [Int](repeating: 200, count: 120) + [429, 429])
            let other = try await world.service.send(asked.with("Idempotency-Key", "another").from("198.51.100.1"))
            #expect(other.problem == "not-eligible", "\(other)")
        }
    }

    @Test func `an offer that is not as it must be fills the records no more than another refusal`() async throws {
        try await withFakePlay(.inProcess, offers: Self.offers) { world in
            try world.play.setOffer(.init("anybody-50", of: "premium", tags: []))
            for number in 0..<300 {
                let call = world.authorizationCall(as: "app", #""anonymousId": "n\#(number)""#, offer: "anybody")
                let reply = try await world.service.send(call.from("198.51.\(number % 100).1"))
                #expect(reply.problem == "offer-not-usable", "\(reply)")
            }
            #expect(try world.service.entries("authorize.deny").count == 240)
            await world.service.stop()
            let counted = try world.service.entries("refusals")
            #expect(counted.map { $0["counts"][0]["count"].integer } == [60], "\(counted)")
        }
    }

    @Test func `an app with made-up names and tokens does not use up a budget`() async throws {
        try await withWorld { world in
            for offer in ["bounded", "bounded_anybody"] {
                for number in 0..<8 {
                    let tokens = number % 2 == 0 ? "" : #", "purchaseTokens": ["made-up-\#(number)"]"#
                    let reply = try await ask(world, offer, #""anonymousId": "device-\#(number)"\#(tokens)"#)
                    #expect(reply.problem == "eligibility-undecided", "\(reply)")
                }
                for number in 0..<4 {
                    let token = try world.play.buy(.init("other")).token
                    let members = #""anonymousId": "device-\#(number)", "purchaseTokens": ["\#(token)"]"#
                    let reply = try await ask(world, offer, members)
                    #expect(reply.status == (number < 3 ? 200 : 403), "\(offer) \(number): \(reply)")
                }
            }
        }
    }

    @Test func `pending purchases do not prove a customer`() async throws {
        try await withWorld { world in
            for number in 0..<4 {
                let token = try world.play.buy(.init("other", pending: true)).token
                let members = #""anonymousId": "device-\#(number)", "purchaseTokens": ["\#(token)"]"#
                let reply = try await ask(world, "bounded_anybody", members)
                #expect(reply.problem == "eligibility-undecided", "\(reply)")
            }
        }
    }

    @Test func `what made-up names are granted by another rule takes nothing of a budget`() async throws {
        try await withWorld { world in
            for number in 0..<8 {
                let reply = try await ask(world, "once_or_bounded", #""anonymousId": "device-\#(number)""#)
                #expect(reply.status == 200, "\(reply)")
            }
            var statuses: [Int] = []
            for _ in 0..<4 {
                statuses.append(try await ask(world, as: "backend", "once_or_bounded", #""customerId": "bob""#).status)
            }
            #expect(statuses == [200, 200, 200, 403])
        }
    }

    @Test func `on a nearly full disk, proven customers get offers and made-up names do not`()
        async throws
    {
        try await withWorld(disk: (left: 63 << 20, all: 1 << 40)) { world in
            let reply = try await ask(world, "anybody", #""anonymousId": "device-1""#)
            #expect(reply.problem == "audit-unavailable", "\(reply)")
            let token = try world.play.buy(.init("other")).token
            let shown = #""anonymousId": "device-1", "purchaseTokens": ["\#(token)"]"#
            #expect(try await ask(world, "once", shown).status == 200)
            #expect(try await ask(world, as: "backend", "anybody", #""customerId": "bob""#).status == 200)
        }
        try await withWorld(disk: (left: 65 << 20, all: 1 << 40)) { world async throws in
            #expect(try await ask(world, "anybody", #""anonymousId": "device-1""#).status == 200)
        }
    }

    @Test func `an offer for unproven customers is counted by the names they claim, and is warned of`() async throws {
        try await withWorld { world in
            var statuses: [Int] = []
            for name in ["one", "ONE", "two"] {
                statuses.append(try await ask(world, "anybody", #""anonymousId": "\#(name)""#).status)
            }
            #expect(statuses == [200, 403, 200])
            #expect(try await ask(world, as: "backend", "anybody", #""customerId": "one""#).status == 200)
            let warnings = world.service.loaded.warnings.map(\.message)
            #expect(warnings.contains { $0.contains("the offer anybody has admitsUnprovenCustomers") })
            #expect(warnings.contains { $0.contains("bounded_anybody") && $0.contains("budget") })
            #expect(!warnings.contains { $0.contains("the offer once ") })
        }
    }

    @Test func `what leaves the service is equal to nothing in its records`() async throws {
        try await withWorld { world in
            let reply = try await ask(world, as: "backend", "once", #""customerId": "bob""#)
            #expect(reply.status == 200, "\(reply)")
            let answer = reply.json
            let account = try #require(answer["obfuscatedAccountId"].text.flatMap { [UInt8](hexadecimal: $0) })
            let mark = try #require(answer["obfuscatedProfileId"].text.flatMap { [UInt8](hexadecimal: $0) })
            for entry in try world.service.entries().map(Tree.init) {
                for user in entry["users"].elements {
                    let pseudonym = try #require(user.text?.split(separator: ":").last)
                    let bytes = try #require(Base64.decodeURL(Array(pseudonym.utf8)))
                    #expect(bytes != account && bytes.prefix(16) != account.prefix(16))
                    #expect(!mark.starts(with: bytes.prefix(16)) && bytes.prefix(16) != mark.suffix(16))
                }
            }
            // The account id of a customer id does not reveal that of an anonymous id with the same text.
            let claimed = try await ask(world, as: "backend", "anybody", #""anonymousId": "bob""#)
            #expect(claimed.json["obfuscatedAccountId"] != answer["obfuscatedAccountId"])
        }
    }

    @Test func `an anonymous id is linked to as many customers as the app's file says`() async throws {
        try await withWorld { world in
            for (customer, status) in [("ada", 200), ("grace", 200), ("edith", 409), ("ada", 200)] {
                var call = world.service.call(
                    """
                    {"packageName": "\(FakeGooglePlay.firstApp)", "from": {"anonymousId": "tablet"},
                     "to": {"customerId": "\(customer)"}}
                    """
                )
                call.path = "/v1/customers/transfers"
                let reply = try await world.service.send(call)
                #expect(reply.status == status, "\(customer): \(reply)")
            }
        }
    }
}
