// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService

/// Caps and history hold for a customer while the secret of customers' ids changes.
@Suite(.overBothEngines) struct RotationCapTests {
    @Test(arguments: Wire.ofRun, LinkedCapTests.rows)
    func `who used an offer and logged in under one secret is refused under the next, by every name`(
        wire: Wire,
        row: LinkedCapTests.Row
    ) async throws {
        try await withService(wire) { service in
            #expect(try await service.sign(offer: "once", row.granted).status == 200)
            try await service.transfer(from: row.from, to: row.to)
            for (index, ask) in row.asks.enumerated() {
                if index < 3 { try service.beginSecretVersion("e\(index)") }
                let reply = try await service.sign(offer: "once", ask)
                #expect(reply.problem == "not-eligible", "\(ask): \(reply)")
            }
            #expect(try service.entries("sign.intent").count == 1)
        }
    }

    @Test(arguments: [false, true])
    func `a link from before leads to what was granted afterwards, in both directions`(isFromDevice: Bool) async throws
    {
        try await withService { service in
            let names = [#""customerId": "ada""#, #""anonymousId": "device-1""#]
            let (first, second) = isFromDevice ? (names[1], names[0]) : (names[0], names[1])
            try await service.transfer(from: "device-1", to: "ada")
            try service.beginSecretVersion("2")
            #expect(try await service.sign(offer: "once", first).status == 200)
            #expect(try await service.sign(offer: "once", second).problem == "not-eligible")
            // Everything has moved: the old secret is not needed any more.
            try service.forgetEarlierVersions()
            for name in names { #expect(try await service.sign(offer: "once", name).problem == "not-eligible") }
        }
    }

    @Test func `a grant from before counts once, and those of later secret versions with it`() async throws {
        try await withService { service in
            for secretVersion in ["2", "3", "4"] {
                let reply = try await service.sign(offer: "cooldown", #""customerId": "ada""#)
                #expect(reply.status == 200, "\(secretVersion): \(reply)")
                try service.beginSecretVersion(secretVersion)
                let early = try await service.sign(offer: "cooldown", #""customerId": "ADA""#)
                #expect(early.problem == "not-eligible", "\(secretVersion): \(early)")
                service.clock.advance(days: 30)
            }
            let rows = try service.rows([
                "SELECT hex(subject) FROM grants UNION ALL SELECT hex(subject) FROM grants_by_time"
            ])
            #expect(rows.count == 3 && Set(rows).count == 1, "all of one customer")
        }
    }

    @Test func `nothing is granted under a secret that another instance has replaced`() async throws {
        try await withService { service in
            let ada = #""customerId": "ada""#
            let before = service.current.value
            #expect(try await service.sign(offer: "once", ada).status == 200)
            try service.beginSecretVersion("2")
            let after = service.current.value
            #expect(try await service.sign(offer: "once", ada).problem == "not-eligible")
            // As a service that has not read the new secret: it knows ada by a name under which nothing is kept any more.
            service.current.swap(before)
            for name in [ada, #""customerId": "grace""#] {
                let reply = try await service.sign(offer: "once", name)
                #expect(reply.status == 503 && reply.problem == "audit-unavailable", "\(reply)")
            }
            service.current.swap(after)
            #expect(try await service.sign(offer: "once", #""customerId": "grace""#).status == 200)
            #expect(try service.entries("sign.intent").count == 2)
        }
    }

    @Test func `eligibility previews count grants under the earlier secret`() async throws {
        try await withService { service in
            #expect(try await service.sign(offer: "once", #""customerId": "ada""#).status == 200)
            try service.beginSecretVersion("2")
            var call = service.call(
                #"{"bundleId": "com.example.app", "customerId": "ada", "facts": {"subscribedBefore": true}}"#
            )
            call.path = "/v1/eligibility"
            let offers = try await service.send(call).json["offers"].elements
            let once = try #require(offers.first { $0["id"] == .text("once") })
            #expect(once["outcome"] == .text("notEligible"))
        }
    }

    @Test func `a retry under the next secret gets the answer of the first`() async throws {
        try await withService { service in
            let call = service.call(offer: "once", #""customerId": "ada""#).with("Idempotency-Key", "k")
            let first = try await service.send(call)
            try service.beginSecretVersion("2")
            let again = try await service.send(call)
            #expect(first.status == 200 && again.json["nonce"] == first.json["nonce"])
        }
    }

    @Test(arguments: Wire.ofRun)
    func `evidence recorded under the earlier secret stays the customer's and counts once`(wire: Wire) async throws {
        try await withStoreService(wire, asksStore: false) { world in
            let ada = #""customerId": "ada""#
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            try await world.vouch(ids, ada)
            let before = try world.service.counts()
            try world.service.beginSecretVersion("2")
            #expect(try await world.sign("running", ada).status == 200)
            try await world.vouch(ids, ada)
            #expect(try world.service.counts() == before, "the same rows, under other keys")
            #expect(try world.service.entries("subscription.transferred").isEmpty)
            try world.service.forgetEarlierVersions()
            #expect(try await world.sign("running", ada).status == 200)
            // The subscription still has its customer.
            try await world.vouch(ids, #""customerId": "grace""#)
            #expect(try world.service.entries("subscription.transferred").count == 1)
        }
    }

    @Test func `a purchase at Google Play keeps its customer, its predecessor and its mark`() async throws {
        try await withService(.inProcess, Self.playFiles) { service in
            let world = try PlayLedger(service)
            try world.tell("first", customer: "ada", minutes: 0)
            try world.tell("second", customer: "ada", linked: "first", minutes: 1)
            let grantID = UniqueID.version4(1, 2)
            let mark = try world.place().keys.mark(of: grantID, for: 7)
            let before = try world.purchases(of: "ada")
            #expect(before == 2)
            try service.beginSecretVersion("2")
            try world.tell("second", customer: "ada", linked: "first", minutes: 2)
            #expect(try world.place().keys.isGenuine(mark, for: 7))
            #expect(try !world.place().keys.isGenuine(mark, for: 8))
            try service.forgetEarlierVersions()
            #expect(try world.purchases(of: "ada") == 2)
            let records = try service.rows(["SELECT record FROM subscription_records"])
            #expect(records.count == 2)
            let links = try service.rows([
                "SELECT hex(subject) FROM subscription_customers WHERE subject = subscription"
            ])
            #expect(links.count == 1)
            let first = try world.place().keys.purchaseKey(of: try PurchaseToken("first"))
            let name = String(decoding: Base64.encodeURL(first.bytes), as: UTF8.self)
            #expect(records.count { $0.contains(name) } == 1, "the record names its predecessor by the new key")
        }
    }

    @Test(arguments: [true, false])
    func `a purchase at Google Play goes on to name its account as it did when it was made`(
        isDestroyed: Bool
    ) async throws {
        try await withService(.inProcess, Self.playFiles) { service in
            let world = try PlayLedger(service)
            let ada = try world.accountID("ada")
            try world.tell("one", customer: "ada", account: ada, minutes: 0)
            try service.beginSecretVersion("2")
            try world.tell("one", customer: "ada", account: ada, minutes: 1)
            if isDestroyed { try service.forgetEarlierVersions() }
            // As the store's notification reports it, and as the app sends it.
            try world.tell("one", account: ada, minutes: 2)
            try world.tell("one", customer: "ada", account: ada, minutes: 3)
            #expect(try service.entries("subscription.transferred").isEmpty)
            #expect(try world.otherNames(than: "ada") == 0)
            // A purchase of another account in its place still goes from one to the other.
            try world.tell("two", account: try world.accountID("grace"), linked: "one", minutes: 4)
            #expect(try service.entries("subscription.transferred").count == 1)
        }
    }

    @Test func `a purchase with the account id of before is the customer's, also one of later`() async throws {
        try await withService(.inProcess, Self.playFiles) { service in
            let world = try PlayLedger(service)
            let ada = try world.accountID("ada")
            try world.tell("one", account: ada, minutes: 0)
            try service.beginSecretVersion("2")
            try world.tell("other", customer: "ada", minutes: 1)
            // The app has kept the id that it was given.
            try world.tell("two", account: ada, linked: "one", minutes: 2)
            #expect(try service.entries("subscription.transferred").isEmpty)
            #expect(try world.otherNames(than: "ada") == 0)
            #expect(try world.purchases(of: "ada") == 3)
            try service.beginSecretVersion("3")
            try world.tell("three", customer: "ada", account: ada, linked: "two", minutes: 3)
            #expect(try service.entries("subscription.transferred").isEmpty)
            #expect(try world.otherNames(than: "ada") == 0)
        }
    }

    private static var playFiles: TestFiles {
        var files = TestFiles()
        files.offers = """
            {
              apps: [{
                packageName: "com.example.android",
                plans: [{
                  googlePlay: {productId: "pro", basePlanId: "monthly"},
                  offers: [{id: "once", googlePlay: {offerId: "once-offer"}, eligibility: {grants: {atMost: 1}}}],
                }],
              }],
            }
            """
        return files
    }
}

extension TestService {
    /// How many rows each table of the App Store's has.
    fileprivate func counts() throws -> [String] {
        try rows([
            "SELECT count(*) || ' chains' FROM subscription_records",
            "SELECT count(*) || ' transactions' FROM transaction_records",
            "SELECT count(*) || ' customers' FROM subscription_customers WHERE store = 'app-store'",
            "SELECT count(*) || ' holders' FROM subscription_holders",
            "SELECT count(*) || ' redemptions' FROM redemptions",
        ])
    }
}

/// A ledger with purchases of one app at Google Play, recorded under the secrets in force.
private struct PlayLedger {
    let service: TestService

    init(_ service: TestService) throws {
        self.service = service
    }

    func place() throws -> PlayContext {
        try #require(PlayContext(try PackageName("com.example.android"), in: service.current.value.evidence))
    }

    /// Records a purchase as the store reports it after that many minutes, or as a caller reports it for a customer;
    /// the account is the one that the app had at the purchase.
    func tell(
        _ token: String,
        customer: String? = nil,
        account: String? = nil,
        linked: String? = nil,
        minutes: Int
    ) throws {
        let place = try place()
        var item = GooglePlayPurchase.LineItem(productID: "pro")
        item.basePlanID = "monthly"
        var purchase = GooglePlayPurchase(state: .known(.active), lineItems: [item])
        purchase.startedAt = service.clock.now
        purchase.accountID = account
        purchase.linkedToken = try linked.map { try PurchaseToken($0) }
        var evidence = GooglePlayEvidence(observedAt: service.clock.now.adding(minutes: minutes))
        evidence.purchases = [(token: try PurchaseToken(token), answer: .purchase(purchase))]
        let name = try customer.map(pseudonym)
        try write { writer throws(LedgerError) in
            try writer.apply([name.flatMap(RotatedKey.init)].compactMap(\.self))
            let keys = name.map { [$0.ledgerKey] } ?? []
            try writer.merge(SubscriptionReport(evidence, place: place, customers: keys, customer: keys.first))
        }
    }

    func purchases(of customer: String) throws -> Int {
        let key = try pseudonym(customer).ledgerKey
        let purchases = PurchaseTable(connection: try service.ledger.openForReading())
        return try purchases.history(of: [key], purchases: [PurchaseKey]()).purchases.count
    }

    /// How many rows name another customer as the holder of a purchase.
    func otherNames(than customer: String) throws -> Int64 {
        let key = SQLValue.blob(try pseudonym(customer).ledgerKey)
        let sql = SQL(
            """
            SELECT (SELECT count(*) FROM subscription_holders WHERE subject <> ?)
                + (SELECT count(*) FROM subscription_customers WHERE store = 'google-play' AND subject <> ?
                    AND subject NOT IN (SELECT subscription FROM subscription_records))
            """,
            key,
            key
        )
        return try #require(try service.ledger.openForReading().first(sql) { $0.integer(0) })
    }

    func pseudonym(_ name: String) throws -> Pseudonym {
        service.current.value.pseudonyms.pseudonym(of: .customer(try CustomerID(name)), in: try place().app.name)
    }

    /// The account id of the customer under the secret in force, which is given out here.
    func accountID(_ name: String) throws -> String {
        try service.giveOutAccountID(of: .customer(try CustomerID(name)), in: try place().app.name)
    }

    private func write(_ body: (LedgerWriter) throws(LedgerError) -> Void) throws {
        let writer = LedgerWriter(connection: try service.ledger.openPatiently())
        try writer.begin(at: service.clock.now)
        try body(writer)
        try writer.commit()
    }
}
