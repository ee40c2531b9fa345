// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService

/// What is left of a secret version after its end: entries, but nothing that names their customers.
@Suite(.overBothEngines) struct DestructionRemnantsTests {
    /// What was named under the next secret before the earlier one ended.
    enum Named: CaseIterable {
        case nothing, customer, purchase, everything
        /// The one transaction of the subscription, not the account that it was bought by.
        case transaction
    }

    private static let ada = #""customerId": "ada""#

    @Test(arguments: Named.allCases, [4, 0])
    func `no row has a key of it, whatever of a subscription was named since`(named: Named, offsets: Int) async throws {
        var policy = CompactionOptions()
        // Offsets of grants are there as soon as grants are; or else all of them are copied.
        (policy.fewestGrants, policy.mostGrants, policy.mostOffsetsOfPrefix) = (0, 0, offsets)
        try await withStoreService(asksStore: false, compaction: policy) { world in
            let periods = named == .transaction ? 1 : 3
            let ids = try world.customer([.init(.active, periods: periods)]).subscriptions[0]
            let id = ids.originalTransactionID
            try await world.vouch(ids, Self.ada)
            #expect(try await world.service.send(world.signedDataCall("running", id)).status == 200)
            let call = world.call(as: "backend", "running", Self.ada).with("Idempotency-Key", "k")
            #expect(try await world.service.send(call).status == 200)
            try await world.service.transfer(from: "device-1", to: "ada")
            let remnants = try Self.keys(world, ids).union(Self.grants(world.service))
            #expect(try Set(world.service.rows(with: remnants)).count > 10, "they are everywhere")
            try world.service.beginSecretVersion("2")
            if [.customer, .everything].contains(named) {
                #expect(
                    try await world.sign("running", Self.ada).status == 200,
                    "the subscription is known by her name"
                )
            }
            if [.purchase, .everything].contains(named) {
                try await world.deliver(.init("DID_CHANGE_RENEWAL_STATUS", transactionID: id))
            }
            if named == .transaction {
                let facts =
                    #""facts": {"originalTransactionId": "\#(id)", "subscribedBefore": true, "status": "active"}"#
                #expect(try await world.sign("running", #""customerId": "grace", \#(facts)"#).status == 200)
            }
            #expect(try !world.service.rows(with: remnants).isEmpty)
            try world.service.destroySecretVersion("1")
            #expect(try world.service.rows(with: remnants).isEmpty)
            // Later grants still count for what was named since: the customer, and the subscription if it was named.
            let kept = try world.service.rows([
                "SELECT hex(subject) FROM grants_by_time UNION SELECT hex(subject) FROM grants"
            ])
            #expect(kept.count == [.customer: 1, .everything: 2, .transaction: 2][named, default: 0], "\(kept)")
        }
    }

    /// The entries of the offsets in the database, in the order of subjects.
    private static func indexedEntries(_ service: TestService) throws -> [Int64] {
        try service.ledger.openForReading().all(SQL("SELECT offsets FROM grant_offsets ORDER BY first_prefix")) { row in
            GrantOffsetBlock(firstPrefix: 0, bytes: row.blob(0)).offsets.map(\.entry)
        }.flatMap(\.self)
    }

    @Test(.aboutSQLite) func `no offset of a grant leads to one of its entries, and those of later stay`() async throws
    {
        var policy = CompactionOptions()
        (policy.fewestGrants, policy.mostGrants, policy.mostOffsetsOfBlock) = (1, 1, 3)
        try await withService(compaction: policy) { service async throws in
            func ask(_ customers: Range<Int>, _ status: Int) async throws {
                for number in customers {
                    #expect(try await service.sign(offer: "once", #""customerId": "\#(number)""#).status == status)
                }
            }
            try await ask(0..<10, 200)
            try service.beginSecretVersion("2")
            // Some of the first are in memory alone, and those of the last in both.
            try await ask(10..<20, 200)
            let first = SQL("SELECT max(first_entry) FROM secret_versions")
            let begun = try #require(try service.ledger.openForReading().first(first) { $0.integer(0) })
            let before = try Self.indexedEntries(service)
            let later = before.filter { $0 >= begun }
            #expect(later.count > 5 && before.count > later.count + 5)
            try service.destroySecretVersion("1")
            // Those of the last grants may have come meanwhile.
            let left = try Self.indexedEntries(service)
            #expect(left.allSatisfy { $0 >= begun } && Set(left).isSuperset(of: later))
            try await ask(10..<20, 403)
        }
    }

    @Test(.aboutSQLite) func `a service that runs on indexes no offset of it that it knew of`() async throws {
        var policy = CompactionOptions()
        (policy.fewestGrants, policy.mostGrants) = (15, 15)
        try await withService(compaction: policy) { service async throws in
            func ask(_ customers: Range<Int>) async throws {
                for number in customers {
                    #expect(try await service.sign(offer: "once", #""customerId": "\#(number)""#).status == 200)
                }
            }
            try await ask(0..<10)
            try service.beginSecretVersion("2")
            try service.destroySecretVersion("1")
            #expect(try Self.indexedEntries(service).isEmpty)
            try await ask(10..<40)
            let rows = SQL("SELECT DISTINCT place / 256 FROM grants_by_time ORDER BY place")
            let entries = try service.ledger.openForReading().all(rows) { $0.integer(0) }
            #expect(entries.count == 30)
            let placed = try Self.indexedEntries(service)
            #expect(placed.count >= 15 && Set(placed).isSubset(of: entries))
        }
    }

    @Test func `what was named whole since is known as before, and a history that lost a part is not whole`()
        async throws
    {
        try await withStoreService(asksStore: false) { world in
            let next: FakeAppStore.Members = ["offerType": 2, "offerIdentifier": "store_open"]
            let ids = try world.customer([.init(.active, periods: 3, renewalInfo: next)]).subscriptions[0]
            let id = ids.originalTransactionID
            try await world.vouch(ids, Self.ada)
            try world.service.beginSecretVersion("2")
            try world.service.moveVersions(days: -10)
            try await world.vouch(ids, Self.ada)
            try await world.deliver(.init("DID_CHANGE_RENEWAL_PREF", transactionID: id))
            #expect(try world.service.rows(["SELECT state FROM redemptions"]) == ["pending"])
            let tables: [StaticString] = [
                "SELECT record FROM transaction_records ORDER BY transaction_key",
                "SELECT state FROM redemptions",
                "SELECT hex(subscription) FROM subscription_records", "SELECT hex(subject) FROM subscription_customers",
                "SELECT hex(subject) FROM subscription_holders",
            ]
            let before = try world.service.rows(tables)
            #expect(before.count > 5)
            try world.service.destroySecretVersion("1")
            #expect(try world.service.rows(tables) == before)
            #expect(try await world.sign("running", Self.ada).status == 200)
            // The chain is named again, its last transaction alone.
            let connection = try world.service.ledger.openPatiently()
            try connection.run(SQL("UPDATE subscription_records SET history_complete_at = 1"))
            try world.service.beginSecretVersion("3")
            try await world.deliver(.init("DID_CHANGE_RENEWAL_STATUS", transactionID: id))
            try world.service.destroySecretVersion("2")
            let complete = try world.service.rows([
                "SELECT coalesce(history_complete_at, 0) || '' FROM subscription_records"
            ])
            #expect(complete == ["0"])
            let count = try world.service.rows(["SELECT count(*) || '' FROM transaction_records"])
            #expect(try #require(count.first.flatMap { Int($0) }) < ids.transactionIDs.count)
        }
    }

    @Test func `no entry has a grant of it beside names in force`() async throws {
        try await withStoreService(asksStore: false) { world in
            let facts = #""facts": {"subscribedBefore": true}"#
            let call = world.call(as: "backend", "open", #"\#(Self.ada), \#(facts)"#).with("Idempotency-Key", "k")
            let grant = try await world.service.send(call).json["grantId"]
            let offer = FakeAppStore.Offer(2, "store_open", period: 0)
            let ids = try world.customer([.init(.active, periods: 1, startedDaysAgo: -0.001, offers: [offer])])
                .subscriptions[0]
            try world.service.beginSecretVersion("2")
            let before = try world.service.entries().count
            try await world.vouch(ids, Self.ada)
            #expect(try await world.service.send(call).json["grantId"] == grant)
            let later = world.service.call(as: "backend", world.body("open", facts))
            #expect(try await world.service.send(later).status == 200)
            let entries = try world.service.entries().dropFirst(before).map(Tree.init)
            #expect(try world.service.redemptions() == ["store_open redeemed granted"])
            let use = try #require(entries.first { $0["ev"] == .text("offer.redemption") })
            #expect(use["match"] == .text("grant") && !use.names.contains("grant"), "\(use)")
            let signed = entries.filter { $0["ev"] == .text("sign.intent") }
            #expect(signed.map { $0["grant"] == grant } == [true, false])
            #expect(signed.map { $0["users"].elements.count } == [0, 1], "\(signed)")
        }
    }

    @Test func `a redemption whose start is forgotten is not recorded as unmatched`() async throws {
        try await withStoreService(asksStore: false) { world in
            let offers = (0..<4).map {
                FakeAppStore.Offer(2, "store_open", discountType: "PAY_AS_YOU_GO", period: $0)
            }
            let ids = try world.customer([.init(.active, periods: 4, startedDaysAgo: 100, offers: offers)])
                .subscriptions[0]
            try world.service.beginSecretVersion("2")
            try world.service.moveVersions(days: -60)
            for isForgotten in [false, true] {
                if isForgotten { try world.service.destroySecretVersion("1") }
                let connection = try world.service.ledger.openPatiently()
                for statement: StaticString in [
                    "DELETE FROM redemptions", "DELETE FROM transaction_records",
                    "DELETE FROM subscription_records",
                ] { try connection.run(SQL(statement)) }
                try await world.deliver(.init("DID_RENEW", transactionID: ids.originalTransactionID))
                let uses = try world.service.uses()
                #expect(uses == (isForgotten ? [] : ["redeemed none"]), "\(isForgotten)")
            }
        }
    }

    @Test func `one secret version may end before an earlier one, whose customers stay`() async throws {
        try await withStoreService(asksStore: false) { world in
            let ids = try world.customer([.init(.active), .init(.active)])
            try await world.vouch(ids.subscriptions[0], Self.ada)
            let first = try world.service.rows(["SELECT hex(subscription) FROM subscription_records"])
            try world.service.beginSecretVersion("2")
            try await world.vouch(ids.subscriptions[1], #""customerId": "grace""#)
            try world.service.beginSecretVersion("3")
            try world.service.destroySecretVersion("2")
            #expect(try world.service.rows(["SELECT hex(subscription) FROM subscription_records"]) == first)
            #expect(try await world.sign("running", Self.ada).status == 200)
            try world.service.destroySecretVersion("1")
            #expect(try await world.sign("running", Self.ada).problem == "eligibility-undecided")
        }
    }

    @Test(arguments: [Named.nothing, .customer, .everything])
    func `no row of an earlier time has a key of one that ends before it`(named: Named) async throws {
        try await withStoreService(asksStore: false) { world in
            let ids = try world.customer([.init(.active, periods: 3)]).subscriptions[0]
            let id = ids.originalTransactionID
            func name() async throws {
                try await world.vouch(ids, Self.ada)
                #expect(try await world.service.send(world.signedDataCall("running", id)).status == 200)
                try await world.service.transfer(from: "device-1", to: "ada")
            }
            try await name()
            let first = try Self.grants(world.service)
            try world.service.beginSecretVersion("2")
            try await name()
            let remnants = try Self.keys(world, ids)
            #expect(try Set(world.service.rows(with: remnants)).count > 5, "they are everywhere")
            try world.service.beginSecretVersion("3")
            if named == .customer { #expect(try await world.sign("running", Self.ada).status == 200) }
            if named == .everything { try await name() }
            try world.service.destroySecretVersion("2")
            #expect(try world.service.rows(with: remnants).isEmpty)
            let kept = try world.service.rows(["SELECT lower(hex(grant_id)) FROM grants"])
            #expect(Set(kept.compactMap { [UInt8](hexadecimal: $0) }).isSuperset(of: first) == (named == .everything))
        }
    }

    @Test func `no later grant has the key of a subscription that only another one names`() async throws {
        try await withStoreService(asksStore: false) { world in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            let chain = AppPseudonyms(world.service.current.value.pseudonyms, in: try AppName("com.example.app"))
                .key(of: .originalTransaction(try TransactionID("77")))
            var notification = FakeAppStore.Notification("SUBSCRIBED", transactionID: ids.originalTransactionID)
            notification.transaction = ["previousOriginalTransactionId": "77"]
            try await world.deliver(notification)
            let before = try world.service.rows(with: [chain]).count
            try world.service.beginSecretVersion("2")
            let signed = try world.store.signTransaction(ids.originalTransactionID)
            #expect(try await world.sign("running", #""signedTransactions": ["\#(signed)"]"#).status == 200)
            #expect(try world.service.rows(with: [chain]).count > before, "the grant counts for it")
            try world.service.destroySecretVersion("1")
            #expect(try world.service.rows(with: [chain]).isEmpty)
            #expect(try !world.service.rows(["SELECT 'a' FROM grants_by_time UNION SELECT 'a' FROM grants"]).isEmpty)
        }
    }

    @Test(arguments: [Named.nothing, .customer, .purchase, .everything], [false, true])
    func `no row has one of Google Play's purchases, or of their marks`(named: Named, hasEarlier: Bool) async throws {
        try await withPlayService { world in
            var account = try world.accountID("anna")
            var mark = try world.mark(try world.grant(to: "anna", daysAgo: 4))
            func tell(_ token: String, at id: String) async throws {
                try world.play.answer(
                    token,
                    PlaySample(
                        "ACTIVE",
                        .init {
                            $0.offer = "winback-50"; $0.phase = "introductoryPrice"
                        }
                    ) {
                        ($0.startedDaysAgo, $0.accountID, $0.profileID) = (2, account, mark)
                        $0.linked = token == "b" ? "a" : nil
                    }
                )
                try await world.deliver(PlayService.change(4, token), id: id)
            }
            if hasEarlier {
                for token in ["a", "b", "c"] { try await tell(token, at: "earlier-\(token)") }
                try world.service.beginSecretVersion("later")
                account = try world.accountID("anna")
            }
            let (anna, place) = (try world.pseudonym("anna"), try world.place)
            let grant = try world.grant(to: "anna", daysAgo: 3)
            mark = try world.mark(grant)
            for token in ["a", "b", "c"] { try await tell(token, at: "first-\(token)") }
            let purchases = try ["a", "b", "c"].map { place.keys.purchaseKey(of: try PurchaseToken($0)).bytes }
            // The grant's entry is the first of the log, so it is of the earlier one.
            let given = hasEarlier ? [] : [grant.bytes, [UInt8](hexadecimal: mark) ?? []]
            let remnants = Set(purchases + given + [anna.ledgerKey])
            #expect(try Set(world.service.rows(with: remnants)).count > (hasEarlier ? 5 : 10), "they are everywhere")
            world.service.clock.advance(days: 5)
            try world.service.beginSecretVersion("2")
            if [.customer, .everything].contains(named) {
                try await world.service.transfer(from: "device-1", to: "anna")
            }
            if [.purchase, .everything].contains(named) { try await tell("b", at: "second") }
            try world.service.destroySecretVersion(hasEarlier ? "later" : "1")
            #expect(try world.service.rows(with: remnants) == [])
            // The store still reports the account and the mark of the destroyed secret version.
            for token in ["a", "b"] { try await tell(token, at: "third-\(token)") }
            #expect(try world.service.rows(with: remnants).isEmpty)
            #expect(try world.service.rows(["SELECT count(*) || '' FROM subscription_records"]) == ["2"])
        }
    }

    @Test func `a retry under the next secret gives an id out that names its customer`() async throws {
        try await withFakePlay { world in
            let call = world.authorizationCall(#""customerId": "anna", "facts": {"subscribedBefore": true}"#)
                .with("Idempotency-Key", "k")
            let first = try await world.service.send(call)
            try world.service.beginSecretVersion("2")
            let second = try await world.service.send(call)
            #expect(first.json["grantId"] == second.json["grantId"], "\(second)")
            #expect(first.json["obfuscatedAccountId"] != second.json["obfuscatedAccountId"])
            let known = try world.service.rows([
                "SELECT lower(hex(account)) || ' ' || lower(hex(customer)) FROM google_play_accounts ORDER BY entry_index"
            ]).map { $0.split(separator: " ") }
            let accounts = try [first, second].map {
                String(try #require($0.json["obfuscatedAccountId"].text).prefix(36))
            }
            #expect(known.map { String($0[0]) } == accounts)
            #expect(Set(known.map { $0[1] }).count == 1, "both name one customer, by the key in force")
        }
    }

    @Test func `a purchase that names an id of it is still its holder's`() async throws {
        try await withFakePlay(offers: GivenOutAccountTests.offers, appStoreKey: true) { world in
            let facts = #""facts": {"subscribedBefore": true, "status": "active"}"#
            let bob = world.authorizationCall(#""customerId": "bob", \#(facts)"#)
            let id = try await world.service.send(bob).json["obfuscatedAccountId"].text
            let bought = try world.play.buy(.init("premium", obfuscatedAccountID: id))
            try await world.deliver(bought)
            try world.service.beginSecretVersion("2")
            let named = #""purchaseTokens": ["\#(bought.token)"]"#
            #expect(
                try await world.service.send(world.authorizationCall(#""customerId": "bob", \#(named)"#)).status == 200
            )
            try world.service.destroySecretVersion("1")
            let stranger = world.authorizationCall(as: "app", #""anonymousId": "device-1", \#(named)"#)
            #expect(try await world.service.send(stranger).problem == "purchase-of-other-account")
            try await world.service.transfer(from: "phone", to: "bob")
            let own = world.authorizationCall(as: "app", #""anonymousId": "phone", \#(named)"#)
            #expect(try await world.service.send(own).status == 200)
        }
    }

    /// The keys of everything that is named of the subscription, under the secret in force.
    private static func keys(_ world: StoreService, _ ids: FakeAppStore.SubscriptionIDs) throws -> Set<[UInt8]> {
        let keys = AppPseudonyms(world.service.current.value.pseudonyms, in: try AppName("com.example.app"))
        let transactions = try (ids.transactionIDs + [ids.originalTransactionID]).map {
            CustomerIdentity.originalTransaction(try TransactionID($0))
        }
        let names: [CustomerIdentity] = [
            .customer(try CustomerID("ada")), .anonymous(try AnonymousID("device-1")),
            .appAccountToken(try #require(UniqueID(world.token))),
        ]
        return Set((transactions + names).map(keys.key))
    }

    private static func grants(_ service: TestService) throws -> Set<[UInt8]> {
        Set(try service.entries("sign.intent").compactMap { $0["grant"].text.flatMap { UniqueID($0)?.bytes } })
    }
}
