// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import ServiceRuntime
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// What a backend stores of its customers decides requests that cannot state it, and no others.
@Suite(.overBothEngines) struct StoredAttributesTests {
    static let offers = """
        {id: "risky", appStore: {offerId: "store_risky"}, eligibility: {attribute: {name: "churnRisk", atLeast: 0.7}}},
        {id: "two", appStore: {offerId: "store_two"}, eligibility: {all: [
          {attribute: {name: "churnRisk", atLeast: 0.7}}, {attribute: {name: "tier", in: ["gold", "silver"]}}]}},
        {id: "unflagged", appStore: {offerId: "store_unflagged"},
         eligibility: {attribute: {name: "flagged", exists: false}}},
        """
    private static let risky = #"{"churnRisk": 0.8}"#
    private static let subscribed = #""facts": {"subscribedBefore": true}"#

    private func withStored(
        wrap: @escaping TestService.Wrap = { $0 },
        _ body: (StoreService, (String) throws -> String) async throws -> Void
    ) async throws {
        try await withUsers(offers: Self.offers, wrap: wrap, body)
    }

    private static func ask(_ token: String, _ offer: String, _ members: String = "") -> Call {
        .offer(offer, with: token, members)
    }

    /// Makes it known that a customer of that name is a subscriber.
    private func subscribe(_ world: StoreService, _ name: String) async throws {
        let ids = try world.store.setCustomer(.init(name, subscriptions: [.init(.active)])).subscriptions[0]
        try await world.vouch(ids, #""customerId": "\#(name)""#)
    }

    @Test func `an app with its user's token gets what a backend stored for that user, and tells so on record`()
        async throws
    {
        try await withStored { world, token async throws in
            for name in ["anna", "eve"] { try await subscribe(world, name) }
            let anna = try token("anna")
            #expect(try await world.service.send(Self.ask(anna, "risky")).problem == "eligibility-undecided")
            try await world.service.store(Self.risky, of: "anna")
            let preview = Call.preview(anna, #""bundleId": "com.example.app", "offerIds": ["risky", "two"]"#)
            let offerPreview = try await world.service.send(preview)
            #expect(
                offerPreview.json["offers"].elements.map { $0["outcome"].text } == ["eligible", "undecided"],
                "\(offerPreview)"
            )
            let reply = try await world.service.send(Self.ask(anna, "risky"))
            #expect(reply.status == 200, "\(reply)")
            let entry = try #require(try world.service.entries("sign.intent").last)
            #expect(entry["stored"].elements == [.text("churnRisk")], "\(entry)")
            #expect(try await world.service.send(Self.ask(try token("eve"), "risky")).status == 403)
            let denied = try await world.service.send(Self.ask(anna, "two"))
            #expect(denied.problem == "eligibility-undecided", "\(denied)")
            let denial = try #require(try world.service.entries("sign.deny").last)
            #expect(denial["stored"].elements == [.text("churnRisk")], "\(denial)")
            let own = try await world.service.send(Self.ask(anna, "risky", #""attributes": {"churnRisk": 1}"#))
            #expect(own.problem == "assertion-not-allowed" && own.pointers == ["/attributes"])
        }
    }

    @Test func `signed data that names the customer opens it, and a name that an app claims does not`() async throws {
        try await withStored { world, _ async throws in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            try await world.service.store(Self.risky, of: world.token.uppercased())
            let claimed = world.service.call(as: "app", world.body("risky"))
            #expect(try await world.service.send(claimed).problem == "eligibility-undecided")
            let tokenless = try world.tokenless(ids).map { #""\#($0)""# }.joined(separator: ", ")
            let unnamed = #""formats": ["jws"], "signedTransactions": [\#(tokenless)]"#
            let other = try await world.sign(as: "app", "risky", unnamed)
            #expect(other.problem == "eligibility-undecided", "\(other)")
            let reply = try await world.service.send(world.signedDataCall("risky", ids.originalTransactionID))
            #expect(reply.status == 200, "\(reply)")
        }
    }

    @Test func `a user's token opens only what is stored of that user, also beside another customer's purchases`()
        async throws
    {
        try await withStored { world, token async throws in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            try await world.service.store(Self.risky, of: world.token.uppercased())
            let jws = try world.store.signTransaction(ids.originalTransactionID, latest: true)
            let shown = #""formats": ["jws"], "signedTransactions": ["\#(jws)"]"#
            let reply = try await world.service.send(Self.ask(try token("anna"), "risky", shown))
            #expect(reply.status == 403, "\(reply)")
            try await world.service.store(Self.risky, of: "anna")
            let entries = try world.service.entries().count
            _ = try await world.service.send(Self.ask(try token("anna"), "risky", shown))
            #expect(
                try world.service.entries().suffix(from: entries).contains { $0.contains(#""stored":["churnRisk"]"#) }
            )
        }
    }

    @Test(arguments: ["\u{1}", "x", "\u{1F600}"])
    func `the largest set that can be stored is read back`(character: Character) throws {
        let text = AttributeValue.text(String(repeating: character, count: 128))
        let attributes = try Attributes((0..<Attributes.limit).map { ("name-\($0)", text) })
        #expect(Attributes(json: attributes.json) == attributes)
    }

    @Test func `what a backend's request states counts before what is stored, one attribute at a time`() async throws {
        try await withStored { world, _ async throws in
            try await world.service.store(#"{"churnRisk": 0.8, "tier": "gold"}"#, of: "ada")
            let rows: [(attributes: String, outcome: Int, stored: [String]?)] = [
                ("", 200, ["churnRisk", "tier"]),
                (#", "attributes": {}"#, 200, ["churnRisk", "tier"]),
                (#", "attributes": {"tier": "silver"}"#, 200, ["churnRisk"]),
                (#", "attributes": {"tier": "bronze"}"#, 403, ["churnRisk"]),
                (#", "attributes": {"churnRisk": 0.1}"#, 403, ["tier"]),
                (#", "attributes": {"churnRisk": 0.9, "tier": "gold"}"#, 200, nil),
            ]
            for row in rows {
                let members = #""customerId": "ADA", \#(Self.subscribed)\#(row.attributes)"#
                let reply = try await world.sign("two", members)
                #expect(reply.status == row.outcome, "\(row): \(reply)")
                let entry = try Tree(try #require(try world.service.entries().last))
                let stored = entry.names.contains("stored") ? entry["stored"].elements.compactMap(\.text) : nil
                #expect(stored == row.stored, "\(row): \(entry)")
            }
            let missing = try await world.sign("two", #""customerId": "eve", \#(Self.subscribed)"#)
            #expect(missing.problem == "eligibility-undecided", "\(missing)")
        }
    }

    @Test func `a set that is stored says which attributes a customer does not have, until it expires`() async throws {
        try await withStored { world, _ async throws in
            func ask() async throws -> String? {
                let reply = try await world.sign("unflagged", #""customerId": "ada", \#(Self.subscribed)"#)
                return reply.status == 200 ? "granted" : reply.problem
            }
            #expect(try await ask() == "eligibility-undecided")
            try await world.service.store("{}", of: "ada", seconds: 60)
            #expect(try await ask() == "granted")
            try await world.service.store(#"{"flagged": true}"#, of: "ada", seconds: 60)
            #expect(try await ask() == "not-eligible")
            world.service.clock.advance(seconds: 59)
            #expect(try await ask() == "not-eligible")
            world.service.clock.advance(seconds: 1)
            #expect(try await ask() == "eligibility-undecided")
        }
    }

    @Test func `expired sets are gone for every caller, and are deleted`() async throws {
        try await withStored { world, _ async throws in
            let service = world.service
            for number in 0..<300 { try await service.store(Self.risky, of: "customer-\(number)", seconds: 60) }
            try await service.store(Self.risky, of: "ada", seconds: 61)
            service.clock.advance(seconds: 60)
            #expect(try await service.send(service.attributesCall("GET", of: "customer-7")).problem == "not-found")
            #expect(try await service.send(service.attributesCall("GET", of: "ada")).status == 200)
            let recorder = UnredeemedRecorder(
                ledger: service.ledger,
                committer: service.committer,
                clock: service.clock.wallClock,
                log: Log(level: .debug, clock: service.clock.wallClock, sink: service.log.sink)
            )
            await mayBlock { recorder.look() }
            #expect(try service.rows(["SELECT hex(subject) FROM customer_attributes"]).count == 1)
        }
    }

    @Test func `a device alone uses the attributes of the only customer that a backend linked to it`() async throws {
        try await withStored { world, token async throws in
            try await world.service.store(Self.risky, of: "ada")
            func ask() async throws -> Int {
                try await world.sign("risky", #""anonymousId": "device-1", \#(Self.subscribed)"#).status
            }
            #expect(try await ask() == 403)
            try await world.service.transfer(from: "device-1", to: "ada")
            #expect(try await ask() == 200)
            try await world.service.transfer(from: "device-1", to: "grace")
            #expect(try await ask() == 403, "either of the two may be asking")
            let eve = try token("eve")
            let body = """
                {"bundleId": "com.example.app", "from": {"anonymousId": "device-2"}, "to": {"customerId": "eve"}}
                """
            var transfer = Self.ask(eve, "").at("/v1/customers/transfers")
            transfer.body = Array(body.utf8)
            #expect(try await world.service.send(transfer).status == 200)
            try await world.service.store(Self.risky, of: "eve")
            let device = try await world.sign("risky", #""anonymousId": "device-2", \#(Self.subscribed)"#)
            #expect(device.problem == "eligibility-undecided", "a user's word does not open it: \(device)")
        }
    }

    @Test func `nothing is read for rules without attributes, nor where the request states them all`() async throws {
        let statements = Statements()
        try await withStored(wrap: statements.wrap) { world, _ async throws in
            func reads(_ offer: String, _ members: String) async throws -> Int {
                statements.reset()
                let reply = try await world.sign(offer, #""customerId": "ada", \#(Self.subscribed)\#(members)"#)
                #expect(reply.status == 200, "\(reply)")
                return statements.count(of: "FROM customer_attributes")
            }
            try await world.service.store(Self.risky, of: "ada")
            #expect(try await reads("open", "") == 0)
            #expect(try await reads("risky", #", "attributes": {"churnRisk": 0.9}"#) == 0)
            #expect(try await reads("risky", "") == 1)
        }
    }
}
