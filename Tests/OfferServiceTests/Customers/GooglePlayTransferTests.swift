// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService

/// A purchase at Google Play that appears under another account takes its history along.
@Suite(.overBothEngines) struct GooglePlayTransferTests {
    private static var files: TestFiles {
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

    /// A ledger, and what purchases are filed under.
    private struct World {
        let service: TestService
        let writer: LedgerWriter
        let connection: any DatabaseConnection
        let place: PlayContext

        init(_ service: TestService) throws {
            self.service = service
            connection = try service.ledger.openPatiently()
            writer = LedgerWriter(connection: connection)
            try writer.begin(at: service.clock.now)
            let packageName = try PackageName("com.example.android")
            let app = try #require(service.loaded.catalog.googlePlayApps[packageName])
            place = PlayContext(
                app,
                pseudonyms: service.loaded.keys.pseudonyms,
                catalog: service.loaded.catalog
            )
        }

        func pseudonym(_ name: String) throws -> Pseudonym {
            service.loaded.keys.pseudonyms.pseudonym(of: try Self.identity(name), in: place.app.name)
        }

        /// Names of devices are anonymous ids.
        private static func identity(_ name: String) throws -> CustomerIdentity {
            name.hasPrefix("device") ? .anonymous(try AnonymousID(name)) : .customer(try CustomerID(name))
        }

        /// Records a purchase as the store reports it after that many minutes.
        func tell(
            _ token: String,
            account: String? = nil,
            customer: String? = nil,
            linked: String? = nil,
            profile: String? = nil,
            minutes: Int = 0
        ) throws {
            var item = GooglePlayPurchase.LineItem(productID: "pro")
            item.basePlanID = "monthly"
            item.offerID = "once-offer"
            var purchase = GooglePlayPurchase(state: .known(.active), lineItems: [item])
            purchase.startedAt = service.clock.now
            purchase.accountID = try account.map { name in
                let account = place.keys.accountID(of: try Self.identity(name))
                try writer.googlePlayAccounts.add(account, of: pseudonym(name).ledgerKey, entry: 0)
                return account.text
            }
            purchase.profileID = profile
            purchase.linkedToken = try linked.map { try PurchaseToken($0) }
            var evidence = GooglePlayEvidence(observedAt: service.clock.now.adding(minutes: minutes))
            evidence.purchases = [(token: try PurchaseToken(token), answer: .purchase(purchase))]
            let key = try customer.map { try pseudonym($0).ledgerKey }
            try writer.merge(
                SubscriptionReport(evidence, place: place, customers: key.map { [$0] } ?? [], customer: key)
            )
        }

        /// The customers of each recorded transfer of a purchase: from and to.
        func transfers() throws -> [String] {
            try writer.commit()
            let names = ["ada", "grace", "edsger", "device-1"]
            let keys = try names.map { try pseudonym($0).ledgerKey }
            let entries = try service.entries("subscription.transferred")
            try writer.begin(at: service.clock.now)
            return entries.map { entry in
                ["from", "to"].map { end in
                    zip(names, keys).first { entry[end] == .text(Self.text($1)) }?.0 ?? "nobody"
                }.joined(separator: " to ")
            }
        }

        private static func text(_ key: [UInt8]) -> String {
            AuditEntry.text(ofKey: key)
        }

        /// How often the offer was granted to a customer, by all that counts.
        func grants(to name: String) throws -> Int {
            let offer = try #require(place.catalog.offers.first)
            let subject = try pseudonym(name).ledgerKey
            var grants: Set<[UInt8]> = []
            for subject in try writer.links.withLinked([subject]) {
                let sql = SQL(
                    "SELECT grant_id FROM grants WHERE subject = ? AND offer_key = ?",
                    .blob(subject),
                    .integer(offer.ledgerKey)
                )
                grants.formUnion(try connection.all(sql) { $0.blob(0) })
            }
            return grants.count
        }

        func grant(to name: String, _ id: UniqueID) throws {
            let offer = try #require(place.catalog.offers.first)
            try connection.run(
                SQL(
                    "INSERT INTO grants (subject, offer_key, grant_id, entry_index) VALUES (?, ?, ?, 0)",
                    .blob(try pseudonym(name).ledgerKey),
                    .integer(offer.ledgerKey),
                    .blob(id.bytes)
                )
            )
        }

        func transfer(from anonymous: String, to customer: String) throws {
            let transfer = CustomerTransfer(
                from: try AnonymousID(anonymous),
                to: try CustomerID(customer),
                app: try #require(AppInStores(place.app.name, in: place.catalog)),
                callerID: try #require(CallerID("backend")),
                under: EvidenceContext(catalog: place.catalog, pseudonyms: service.loaded.keys.pseudonyms)
            )
            _ = try writer.transfer(transfer)
        }
    }

    private func withWorld(_ body: (World) throws -> Void) async throws {
        try await withService(.inProcess, Self.files) { service in try body(try World(service)) }
    }

    @Test func `a purchase in the place of another account's is recorded, once`() async throws {
        try await withWorld { world in
            try world.tell("one", account: "ada")
            try world.tell("two", account: "grace", linked: "one", minutes: 1)
            try world.tell("two", account: "grace", linked: "one", minutes: 2)
            try world.tell("three", account: "grace", linked: "two", minutes: 3)
            try world.tell("four", account: "grace", minutes: 4)
            #expect(try world.transfers() == ["ada to grace"])
        }
    }

    @Test func `a purchase that a caller says is another customer's is recorded, once`() async throws {
        try await withWorld { world in
            for (minute, customer) in ["ada", "device-1", "ada", "device-1"].enumerated() {
                try world.tell("one", customer: customer, minutes: minute)
            }
            #expect(try world.transfers() == ["ada to device-1"])
            try world.transfer(from: "device-1", to: "edsger")
            try world.tell("one", customer: "edsger", minutes: 9)
            #expect(try world.transfers() == ["ada to device-1"], "device-1 is edsger")
        }
    }

    @Test func `a grant named by the purchase's mark counts for its customer and for the next one`() async throws {
        try await withWorld { world in
            let offer = try #require(world.place.catalog.offers.first)
            let grantID = UniqueID.version7(at: world.service.clock.now, 1, 2)
            try world.grant(to: "ada", grantID)
            let mark = world.place.keys.mark(of: grantID, for: offer.ledgerKey).text
            try world.tell("one", account: "ada", profile: mark)
            #expect(try world.grants(to: "grace") == 0)
            try world.tell("two", account: "grace", linked: "one", minutes: 1)
            #expect(try world.grants(to: "grace") == 1)
            #expect(try world.grants(to: "ada") == 1)
            #expect(try world.grants(to: "edsger") == 0)
        }
    }

    @Test func `a redemption of the customer is matched to the grant of the device`() async throws {
        try await withWorld { world in
            try world.grant(to: "device-1", UniqueID.version7(at: world.service.clock.now, 1, 2))
            try world.tell("one", account: "ada", minutes: 1)
            let unmatched = SQL("SELECT count(*) FROM redemptions WHERE grant_id IS NULL")
            #expect(try world.connection.first(unmatched) { $0.integer(0) } == 1)
            try world.transfer(from: "device-1", to: "ada")
            #expect(try world.connection.first(unmatched) { $0.integer(0) } == 0)
        }
    }
}
