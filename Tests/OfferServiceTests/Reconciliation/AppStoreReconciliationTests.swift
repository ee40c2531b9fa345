// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferDomain
import OfferService
import ServiceRuntime
import TestSupport
import Testing

@testable import Ledger

private let anna = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"
private let bert = "11111111-2222-4333-8444-555555555555"
/// The original transactions of ``Bought/first`` and ``Bought/second``.
private let (firstChain, secondChain) = ("2000000000000071", "2000000000000072")

/// What was granted, what was bought, and what a reconciliation must make of it.
private struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let grants: [Granted]
    let purchases: [FakeAppStore.Subscription]
    var link: (from: String, to: String)?
    /// Of each use, oldest first, its state and what it is.
    let expected: [String]

    init(
        _ name: String,
        _ grants: [Granted],
        _ purchases: [FakeAppStore.Subscription],
        link: (from: String, to: String)? = nil,
        _ expected: [String]
    ) {
        (testDescription, self.grants, self.purchases, self.link) = (name, grants, purchases, link)
        self.expected = expected
    }
}

/// A request for `store_open` that was granted `hoursAgo` hours before now; `members` name the customer.
private struct Granted: Sendable {
    let hoursAgo: Double
    let members: String

    init(_ hoursAgo: Double, _ members: String) { (self.hoursAgo, self.members) = (hoursAgo, members) }

    static func to(_ token: String, hoursAgo: Double = 25, chain: String? = nil) -> Granted {
        Granted(hoursAgo, #""appAccountToken": "\#(token)", \#(facts(chain))"#)
    }

    static func facts(_ chain: String?) -> String {
        let more = chain.map { #", "originalTransactionId": "\#($0)""# } ?? ""
        return #""facts": {"subscribedBefore": true\#(more)}"#
    }
}

/// A subscription of Anna's that began a day ago with `store_open`.
private func bought(
    _ chain: String = firstChain,
    _ state: FakeAppStore.Subscription.State = .active,
    daysAgo: Double = 1,
    by token: String? = anna,
    _ change: (inout FakeAppStore.Subscription) -> Void = { _ in }
) -> FakeAppStore.Subscription {
    var subscription = FakeAppStore.Subscription(
        state,
        originalTransactionID: chain,
        periods: 1,
        startedDaysAgo: daysAgo,
        offers: [.init(2, "store_open", period: 0)],
        allTransactions: ["appAccountToken": token.map { .text($0) } ?? .null]
    )
    change(&subscription)
    return subscription
}

private let rows = [
    Row("a use that was granted to the account", [.to(anna)], [bought()], ["redeemed grant"]),
    Row("a use without a grant", [], [bought()], ["redeemed none"]),
    Row("a grant to another customer is none", [.to(bert)], [bought()], ["redeemed none"]),
    Row(
        "a grant for the subscription, and to a different account than bought",
        [.to(bert, chain: firstChain)],
        [bought()],
        ["redeemed other-account"]
    ),
    Row(
        "a device of that name is linked to the account, and is not the account that it is named like",
        [.to(bert, chain: firstChain)],
        [bought()],
        link: (bert, anna),
        ["redeemed other-account"]
    ),
    Row(
        "a purchase that names no account",
        [.to(bert, chain: firstChain)],
        [bought(by: nil)],
        ["redeemed grant"]
    ),
    Row("a grant to no account", [Granted(25, Granted.facts(firstChain))], [bought()], ["redeemed grant"]),
    Row(
        "a user name that is a UUID is an account",
        [Granted(25, #""applicationUsername": "\#(anna.uppercased())", \#(Granted.facts(nil))"#)],
        [bought()],
        ["redeemed grant"]
    ),
    Row(
        "one that is another UUID is another account",
        [Granted(25, #""applicationUsername": "{\#(bert)}", \#(Granted.facts(firstChain))"#)],
        [bought()],
        ["redeemed other-account"]
    ),
    Row(
        "one that is none can't be compared",
        [Granted(25, #""applicationUsername": "bert", \#(Granted.facts(firstChain))"#)],
        [bought()],
        ["redeemed grant"]
    ),
    Row(
        "the account's own grant comes before a later one of another",
        [.to(anna, hoursAgo: 26), .to(bert, chain: firstChain)],
        [bought()],
        ["redeemed grant"]
    ),
    Row(
        "one grant is not used by two subscriptions of a customer: the first has it",
        [.to(anna, hoursAgo: 49)],
        [bought(daysAgo: 1), bought(secondChain, daysAgo: 2)],
        ["redeemed grant", "redeemed none"]
    ),
    Row(
        "two grants are used by two",
        [.to(anna, hoursAgo: 49), .to(anna, hoursAgo: 25)],
        [bought(daysAgo: 1), bought(secondChain, daysAgo: 2)],
        ["redeemed grant", "redeemed grant"]
    ),
    Row("a signature that had ended two days before", [.to(anna, hoursAgo: 24 + 49)], [bought()], ["redeemed none"]),
    Row("one that a family organizer agreed to late", [.to(anna, hoursAgo: 24 + 47)], [bought()], ["redeemed grant"]),
    Row(
        "a renewal with an offer that was taken long before",
        [.to(anna, hoursAgo: 240)],
        [bought { ($0.periods, $0.startedDaysAgo, $0.offers) = (2, 31, [.init(2, "store_open", period: 1)]) }],
        ["redeemed grant"]
    ),
    Row(
        "a renewal names the account of an earlier purchase",
        [.to(bert, hoursAgo: 240, chain: firstChain)],
        [bought { ($0.periods, $0.startedDaysAgo, $0.offers) = (2, 31, [.init(2, "store_open", period: 1)]) }],
        ["redeemed grant"]
    ),
    Row("a use by family sharing is none", [], [bought(firstChain, .familyShared)], []),
    Row(
        "money paid back",
        [.to(anna)],
        [bought(firstChain, .refunded) { $0.revokedDaysAgo = 0.1 }],
        ["undone grant"]
    ),
    Row(
        "money paid back without a grant",
        [],
        [bought(firstChain, .refunded) { $0.revokedDaysAgo = 0.1 }],
        [
            "undone none"
        ]
    ),
    Row(
        "an upgrade after the use",
        [.to(anna)],
        [bought(firstChain, .upgraded) { $0.latestTransaction = ["isUpgraded": .boolean(true)] }],
        ["redeemed grant"]
    ),
    Row(
        "an offer that the catalog has not",
        [.to(anna)],
        [bought { $0.offers = [.init(2, "store_elsewhere", period: 0)] }],
        ["redeemed none"]
    ),
    Row("another kind of offer", [], [bought { $0.offers = [.init(4, "store_open", period: 0)] }], []),
]

@Suite(.overBothEngines) struct AppStoreReconciliationTests {
    @Test(arguments: rows)
    fileprivate func `tells a use that was granted from one that was not`(row: Row) async throws {
        try await withStoreService(asksStore: false) { world in
            try await world.prepare(row)
            for id in try world.buy(row.purchases) { try await world.deliver(.init("SUBSCRIBED", transactionID: id)) }
            #expect(try world.service.uses() == row.expected)
            let report = try await world.service.reconciliation()
            for (kind, list) in [("none", "redeemedWithoutRecord"), ("other-account", "redeemedByAnotherAccount")] {
                let uses = report[list].elements
                #expect(uses.count == row.expected.count { $0.hasSuffix(kind) }, "\(list): \(report)")
                for use in uses {
                    let entry = try #require(use["index"].integer.flatMap { try? world.service.entry(Int($0)) })
                    #expect(entry["ev"] == .text("offer.redemption") && entry["match"] == .text(kind))
                    #expect(entry["chain"] == use["subscription"] && entry["offer"] == use["offerId"])
                }
            }
            #expect(report["redeemed"].integer == Int64(row.expected.count { $0.hasSuffix("grant") }))
            #expect(try world.service.recomputed().differing.isEmpty)
        }
    }

    @Test(.overSQLite, arguments: rows)
    fileprivate func `gets the same result from late, repeated and unordered notifications`(row: Row) async throws {
        try await withStoreService(asksStore: false) { world in
            try await world.prepare(row, isLinkedFirst: false)
            let ids = try world.buy(row.purchases)
            let messages = try (ids + ids).shuffled().map { id in
                Call.notification(try world.store.signNotification(.init("SUBSCRIBED", transactionID: id)).body)
            }
            for message in messages + messages.reversed() {
                #expect(try await world.service.send(message).status == 200)
            }
            if let link = row.link { try await world.service.transfer(from: link.from, to: link.to) }
            #expect(try world.service.uses() == row.expected)
            #expect(try world.service.recomputed().differing.isEmpty)
        }
    }

    @Test(.overSQLite, arguments: rows)
    fileprivate func `gets the same result while the secret of customers' IDs changes`(row: Row) async throws {
        try await withStoreService(asksStore: false) { world in
            try await world.prepare(row)
            let ids = try world.buy(row.purchases)
            try world.service.beginSecretVersion("2")
            for id in ids { try await world.deliver(.init("SUBSCRIBED", transactionID: id)) }
            let before = try world.service.entries("offer.redemption").count
            try world.service.beginSecretVersion("3")
            for id in ids { try await world.deliver(.init("SUBSCRIBED", transactionID: id)) }
            #expect(try world.service.uses() == row.expected)
            #expect(try world.service.entries("offer.redemption").count == before, "nothing is new")
        }
    }

    @Test(.overSQLite, arguments: rows)
    fileprivate func `what was granted stays granted when its offer leaves the catalog`(row: Row) async throws {
        try await withStoreService(asksStore: false) { world in
            try await world.prepare(row)
            let ids = try world.buy(row.purchases)
            for id in ids { try await world.deliver(.init("SUBSCRIBED", transactionID: id)) }
            let before = try world.service.entries("offer.redemption").count
            world.service.endAllOffers()
            for id in ids { try await world.deliver(.init("DID_RENEW", transactionID: id)) }
            #expect(try world.service.uses() == row.expected)
            #expect(try world.service.entries("offer.redemption").count == before, "nothing is new")
        }
    }

    @Test(.overSQLite, arguments: rows)
    fileprivate func `what was granted stays granted when the store calls its offer otherwise`(row: Row) async throws {
        try await withStoreService(asksStore: false) { world in
            try await world.prepare(row)
            let ids = try world.buy(row.purchases)
            for id in ids { try await world.deliver(.init("SUBSCRIBED", transactionID: id)) }
            let before = try world.service.entries("offer.redemption").count
            try world.service.editOffers { $0.replacing("store_open", with: "store_renamed") }
            // The first grant under the new name.
            let carl = #""customerId": "carl", "facts": {"subscribedBefore": true}"#
            #expect(try await world.sign("open", carl).status == 200)
            for id in ids { try await world.deliver(.init("DID_RENEW", transactionID: id)) }
            #expect(try world.service.uses() == row.expected)
            #expect(try world.service.entries("offer.redemption").count == before, "nothing is new")
        }
    }

    @Test func `writes one entry for each change, however often the store reports it`() async throws {
        try await withStoreService(asksStore: false) { world in
            let row = Row("", [.to(bert, chain: firstChain)], [bought()], [])
            try await world.prepare(row)
            let ids = try world.buy(row.purchases)
            for _ in 0..<3 { try await world.deliver(.init("SUBSCRIBED", transactionID: ids[0])) }
            #expect(try world.service.entries("offer.redemption").count == 1)
            let metric = Metric.redemptions(state: "redeemed", match: .otherAccount, offer: "store_open")
            #expect(world.service.metrics[metric] == 1)
            let warning = "an offer was used by a different account than it was granted to"
            #expect(world.service.log.lines.count { $0.contains(warning) } == 1)
        }
    }

    @Test func `a use for the next renewal stays as first reported, however often it is reported again`() async throws {
        try await withStoreService(asksStore: false) { world in
            try await world.prepare(Row("", [.to(anna)], [], []))
            let offer: FakeAppStore.Members = ["offerType": 2, "offerIdentifier": "store_open"]
            let pending = bought(daysAgo: 20) { ($0.offers, $0.renewalInfo) = ([], offer) }
            let id = try world.buy([pending])[0]
            let query: StaticString = """
                SELECT redeemed_at || ' ' || lower(hex(grant_id)) FROM redemptions WHERE state = 'pending'
                """
            var first: [String]?
            for _ in 0..<3 {
                var notification = FakeAppStore.Notification("DID_CHANGE_RENEWAL_PREF", transactionID: id)
                notification.signedDate = Int(world.service.clock.now.milliseconds)
                try await world.deliver(notification)
                let rows = try world.service.rows([query])
                #expect(rows.count == 1 && rows == first ?? rows)
                first = rows
                // A later grant is not what the customer took it from.
                world.service.clock.advance(seconds: 120)
                #expect(try await world.sign("open", Granted.to(anna).members).status == 200)
            }
            #expect(try world.service.entries("offer.redemption").count == 1)
            #expect(world.service.metrics[.redemptions(state: "pending", match: .granted, offer: "store_open")] == 1)
            #expect(try world.service.recomputed().differing.isEmpty)

            // From then on it is as the transaction has it.
            let renewed = bought(daysAgo: 31) { ($0.periods, $0.offers) = (2, [.init(2, "store_open", period: 1)]) }
            let ids = try world.buy([renewed])
            try await world.deliver(.init("DID_RENEW", transactionID: ids[0]))
            #expect(try world.service.rows([query]).isEmpty)
            #expect(try world.service.uses() == ["redeemed grant"])
            #expect(try world.service.entries("offer.redemption").count == 2)
            #expect(try world.service.recomputed().differing.isEmpty)
        }
    }

    @Test func `an earlier period of a use corrects that use alone, though a second use comes with it`() async throws {
        try await withStoreService(asksStore: false) { world in
            // One use may have several periods of this type.
            let offers = [0, 1, 3].map { period in
                FakeAppStore.Offer(2, "store_open", discountType: "PAY_AS_YOU_GO", period: period)
            }
            let subscription = bought(daysAgo: 100) { ($0.periods, $0.offers) = (4, offers) }
            let made = try world.store.setCustomer(.init("anna", subscriptions: [subscription])).subscriptions[0]
            func report(_ periods: [Int]) async throws -> [String] {
                let before = try world.service.entries().count
                let signed = try periods.map { try world.store.signTransaction(made.transactionIDs[$0], latest: false) }
                let reply = try await world.service.send(world.transactionsCall(as: "app", signed))
                #expect(reply.status == 200, "\(reply)")
                return try world.service.entries().dropFirst(before).filter { $0.contains(#""ev":"offer.redemption""#) }
            }
            let known = try await report([1, 2])
            #expect(known.count == 1 && known[0].contains(#""state":"converted""#), "\(known)")
            let news = try await report([0, 3])
            try #require(news.count == 2, "\(news)")
            #expect(news[0].contains(#""corrected":true"#) && news[0].contains(#""was":"converted""#), "\(news)")
            #expect(!news[1].contains("corrected") && !news[1].contains(#""was""#), "\(news)")
        }
    }

    @Test func `distinguishes an unused grant from one that the store does not report on`() async throws {
        try await withStoreService(asksStore: false) { world in
            try await world.prepare(
                Row("", [.to(anna, hoursAgo: 100), .to(bert, hoursAgo: 90), .to(bert, hoursAgo: 71)], [], [])
            )
            var report = try await world.service.reconciliation()
            #expect(report["neverRedeemed"]["count"].integer == 0, "\(report)")
            #expect(report["apps"][0]["notTold"].integer == 2 && report["apps"][0]["lastToldAt"] == .null)
            // Any notification shows that the store reports on the app.
            let other = try world.store.setCustomer(.init("carl", subscriptions: [.init(.active, periods: 1)]))
            try await world.deliver(.init("SUBSCRIBED", transactionID: other.subscriptions[0].originalTransactionID))
            report = try await world.service.reconciliation()
            #expect(report["neverRedeemed"]["count"].integer == 2 && report["apps"][0]["notTold"].integer == 0)
            let entries = report["neverRedeemed"]["entries"].elements
            #expect(entries.count == 2 && entries.allSatisfy { $0["offerId"] == .text("store_open") }, "\(report)")
            for entry in entries {
                let record = try world.service.entry(Int(try #require(entry["index"].integer)))
                #expect(record["ev"] == .text("sign.intent") && record["grant"] == entry["grantId"])
            }
            // The store has fallen silent before they were granted, and is heard again.
            try world.service.change("UPDATE notified_apps SET last_report_at = last_report_at - 96 * 3600000")
            report = try await world.service.reconciliation()
            #expect(report["neverRedeemed"]["count"].integer == 1 && report["apps"][0]["notTold"].integer == 1)
            #expect(report["neverRedeemed"]["entries"].elements.count == 1, "\(report)")
            world.service.clock.advance(seconds: 61)
            try await world.deliver(.init("TEST"))
            report = try await world.service.reconciliation()
            #expect(report["neverRedeemed"]["count"].integer == 2 && report["apps"][0]["notTold"].integer == 0)
            // Anna used her grant; the store reports it late.
            for id in try world.buy([bought(daysAgo: 4)]) {
                try await world.deliver(.init("SUBSCRIBED", transactionID: id))
            }
            report = try await world.service.reconciliation()
            #expect(report["neverRedeemed"]["count"].integer == 1 && report["redeemed"].integer == 1, "\(report)")
            #expect(report["apps"][0]["redeemed"].integer == 1)
            #expect(report["neverRedeemed"]["entries"].elements.count == 1, "\(report)")
        }
    }

    @Test func `metrics show the share of grants that were never redeemed`() async throws {
        try await withStoreService(asksStore: false) { world in
            try await world.prepare(Row("", [.to(anna, hoursAgo: 97), .to(bert, hoursAgo: 90)], [], []))
            for id in try world.buy([bought(daysAgo: 4)]) {
                try await world.deliver(.init("SUBSCRIBED", transactionID: id))
            }
            let clock = world.service.clock.wallClock
            let reconciler = Reconciler(
                ledger: world.service.ledger,
                clock: clock,
                log: Log(level: .error, clock: clock)
            )
            reconciler.start()
            defer { reconciler.stop() }
            #expect(try await eventually { !reconciler.gauges[1].samples.isEmpty })
            let samples = reconciler.gauges[0].samples.map { "\($0.labels.map(\.1)) \($0.value)" }
            #expect(samples.prefix(2) == [#"["app-store", "redeemed"] 1.0"#, #"["app-store", "never-redeemed"] 1.0"#])
            #expect(reconciler.gauges[1].samples.map(\.value) == [0.5])
        }
    }

    @Test func `does not await the use of introductory offers, which need no signature`() async throws {
        try await withStoreService(asksStore: false) { world in
            world.service.clock.advance(milliseconds: -100 * 3_600_000)
            let facts = #""transactionId": "1", "facts": {"offersUsed": []}"#
            let reply = try await world.service.send(world.introductoryCall(as: "backend", facts))
            #expect(reply.status == 200, "\(reply)")
            world.service.clock.advance(milliseconds: 100 * 3_600_000)
            #expect(try await world.service.reconciliation()["apps"].elements.isEmpty)
        }
    }

    @Test func `all links of customers are read once, however many uses a store reports`() async throws {
        let statements = Statements()
        try await withStoreService(asksStore: false, wrap: statements.wrap) { world in
            let chains = [firstChain, "2000000000000099"].map { bought($0) }
            for id in try world.buy(chains) { try await world.deliver(.init("SUBSCRIBED", transactionID: id)) }
            #expect(try world.service.uses().count == 2)
            #expect(statements.count(of: "SELECT count(*) FROM customer_links") == 1)
        }
    }

    @Test func `a recomputation finds what was changed in the database`() async throws {
        for change: StaticString in [
            "UPDATE redemptions SET matched_as = 'grant'", "DELETE FROM redemptions",
            "UPDATE redemptions SET grant_id = x'00112233445566778899aabbccddeeff'",
        ] {
            try await withStoreService(asksStore: false) { world in
                for id in try world.buy([bought()]) { try await world.deliver(.init("SUBSCRIBED", transactionID: id)) }
                #expect(try world.service.recomputed().differing.isEmpty)
                try world.service.change(change)
                #expect(try world.service.recomputed().differing.count == 1, "\(change)")
            }
        }
    }
}

extension StoreService {
    /// Has everything granted, each at its time, and links the customers.
    fileprivate func prepare(_ row: Row, isLinkedFirst: Bool = true) async throws {
        for grant in row.grants {
            let milliseconds = Int64(grant.hoursAgo * 3_600_000)
            service.clock.advance(milliseconds: -milliseconds)
            let body = """
                {"bundleId": "com.example.app", "productId": "com.example.monthly", "offerId": "open", \(grant.members)}
                """
            let reply = try await service.send(service.call(as: "backend", body))
            #expect(reply.status == 200, "\(reply)")
            service.clock.advance(milliseconds: milliseconds)
        }
        if isLinkedFirst, let link = row.link { try await service.transfer(from: link.from, to: link.to) }
    }

    /// Makes a customer who bought these; answers the ids of the subscriptions.
    fileprivate func buy(_ purchases: [FakeAppStore.Subscription]) throws -> [String] {
        try store.setCustomer(FakeAppStore.Customer("anna", subscriptions: purchases)).subscriptions
            .map(\.originalTransactionID)
    }
}
