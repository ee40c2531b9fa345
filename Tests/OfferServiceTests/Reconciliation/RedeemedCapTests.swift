// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferDomain
import OfferService
import Storage
import TestSupport
import Testing

private let anna = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"
private let chain = "2000000000000071"
private let subscribed = #""facts": {"subscribedBefore": true}"#
/// The customer by a name that the purchase will name too, and by one that it will not.
private let byToken = #""appAccountToken": "\#(anna)", \#(subscribed)"#
private let byName = #""customerId": "anna", \#(subscribed)"#
private let bySubscription =
    #""customerId": "anna", "facts": {"subscribedBefore": true, "originalTransactionId": "\#(chain)"}"#

private func offers(_ rule: String) -> String {
    """
    {
      apps: [{
        bundleId: "com.example.app", appAppleId: 1234567890,
        plans: [{
          appStore: {productId: "com.example.monthly", subscriptionGroupId: "20000001"},
          offers: [{id: "open", appStore: {offerId: "store_open"}, eligibility: {\(rule)}}],
        }],
      }],
    }
    """
}

/// A customer who was granted the only offer that they may have, and what is known of it when they ask again.
private struct Row: Sendable, CustomTestStringConvertible {
    /// What became of the grant.
    enum Use: Sendable {
        case none, redeemed, undone, pending
    }

    /// What the ledger knows of the store's reports.
    enum Reports: Sendable {
        /// Since long before the grant, and after it could have been used.
        case all
        /// None yet.
        case none
        /// None since the grant's time ran out, as in an outage.
        case endedEarly
        /// They began when the grant had been given.
        case begunLate
        /// All, and uses of that time were forgotten with the secret of customers' ids.
        case forgotten
    }

    let testDescription: String
    let hoursAgo: Double
    var use = Use.none
    var reports = Reports.all
    var first = byToken
    var second = byToken
    /// Whether the customer gets it again where redemptions count; where grants count, never.
    let isGivenBack: Bool

    init(
        _ name: String,
        hoursAgo: Double = 49,
        _ use: Use = .none,
        _ reports: Reports = .all,
        first: String = byToken,
        second: String = byToken,
        isGivenBack: Bool
    ) {
        (testDescription, self.hoursAgo, self.use, self.reports) = (name, hoursAgo, use, reports)
        (self.first, self.second, self.isGivenBack) = (first, second, isGivenBack)
    }
}

private let rows = [
    Row("the signature is still good", hoursAgo: 1, isGivenBack: false),
    Row("a family organizer may still agree", hoursAgo: 47, isGivenBack: false),
    Row("it was not used", isGivenBack: true),
    Row("it was used", .redeemed, isGivenBack: false),
    Row("it was used and refunded", .undone, isGivenBack: false),
    Row("it is for the next renewal", .pending, isGivenBack: false),
    Row("the store has reported nothing", .none, .none, isGivenBack: false),
    Row("the store has fallen silent", .none, .endedEarly, isGivenBack: false),
    Row("the store began to report later", .none, .begunLate, isGivenBack: false),
    Row("what was reported was forgotten", .none, .forgotten, isGivenBack: false),
    Row("a purchase would not lead to the grant", first: byName, second: byName, isGivenBack: false),
    Row("its subscription would", first: bySubscription, second: bySubscription, isGivenBack: true),
    Row("its subscription did", .redeemed, first: bySubscription, second: bySubscription, isGivenBack: false),
    Row(
        "asked under the other of two names",
        first: #""customerId": "anna", \#(byToken)"#,
        second: byName,
        isGivenBack: true
    ),
    Row(
        "used under the other of two names",
        .redeemed,
        first: #""customerId": "anna", \#(byToken)"#,
        second: byName,
        isGivenBack: false
    ),
]

/// Caps with `counting: "redeemed"`, in the App Store.
@Suite(.overBothEngines) struct RedeemedCapTests {
    @Test(arguments: rows, ["grants: {atMost: 1", "cooldown: {days: 30"])
    fileprivate func `counts what was redeemed or still may be, and by default every grant`(
        row: Row,
        rule: String
    ) async throws {
        for counting in ["granted", "redeemed"] {
            try await withStoreService(asksStore: false, offers: offers("\(rule), counting: \"\(counting)\"}")) {
                world in
                try await world.prepare(row)
                let isAllowed = counting == "redeemed" && row.isGivenBack
                let preview = try await world.preview(row.second)
                #expect(preview["outcome"].text == (isAllowed ? "eligible" : "notEligible"), "\(counting): \(preview)")
                let again = try await world.sign("open", row.second)
                #expect(again.status == (isAllowed ? 200 : 403), "\(counting): \(again)")
                // A grant that was given back does not come back with the next one.
                let third = try await world.sign("open", row.second)
                #expect(third.status == 403, "\(counting): \(third)")
                let findings = third.json["decision"]["findings"].elements
                let because = findings.last?["because"].text ?? ""
                #expect(because.contains("redeemed or still reserved") == (counting == "redeemed"), "\(because)")
            }
        }
    }

    @Test(.overSQLite, arguments: rows)
    fileprivate func `counts the same while the secret of customers' ids changes`(row: Row) async throws {
        try await withStoreService(asksStore: false, offers: offers(#"grants: {atMost: 1, counting: "redeemed"}"#)) {
            world in
            try await world.prepare(row)
            try world.service.beginSecretVersion("2")
            #expect(try await world.sign("open", row.second).status == (row.isGivenBack ? 200 : 403))
        }
    }

    @Test func `says until when a grant is reserved`() async throws {
        try await withStoreService(asksStore: false, offers: offers(#"grants: {atMost: 1, counting: "redeemed"}"#)) {
            world in
            try await world.prepare(Row("", hoursAgo: 2, isGivenBack: false))
            let refused = try await world.sign("open", byToken)
            let until = world.service.clock.now.adding(hours: 46).rfc3339
            #expect(refused.json["decision"]["nextEligibleAt"].text == until, "\(refused)")
            let finding = refused.json["decision"]["findings"].elements.last
            #expect(finding?["because"].text == "1 grant redeemed or still reserved so far, at most 1 allowed")
            #expect(finding?["countedBy"].elements == [.text("appAccountToken")], "\(refused)")
            let entry = try #require(try world.service.entries("sign.deny").last)
            #expect("\(entry)".contains("grants-cap-reached"), "\(entry)")
        }
    }

    @Test func `a use that is reported late counts again from then on`() async throws {
        try await withStoreService(asksStore: false, offers: offers(#"grants: {atMost: 1, counting: "redeemed"}"#)) {
            world in
            try await world.prepare(Row("", hoursAgo: 100, isGivenBack: true))
            world.service.clock.advance(milliseconds: -50 * 3_600_000)
            #expect(try await world.sign("open", byToken).status == 200)
            world.service.clock.advance(milliseconds: 50 * 3_600_000)
            // Both were given back, the second before anything was known of the first.
            #expect(try await world.preview(byToken)["outcome"].text == "eligible")
            let late = try world.buy(.redeemed, daysAgo: 3.5)
            try await world.deliver(.init("SUBSCRIBED", transactionID: late))
            #expect(try world.service.uses() == ["redeemed grant"])
            #expect(try await world.sign("open", byToken).status == 403)
        }
    }

    @Test(arguments: Wire.allCases)
    func `grants one of 200 requests at the same time, after an earlier grant was given back`(
        wire: Wire
    ) async throws {
        let rule = #"grants: {atMost: 1, counting: "redeemed"}"#
        try await withStoreService(wire, asksStore: false, offers: offers(rule)) { world in
            try await world.prepare(Row("", isGivenBack: true))
            let calls = (0..<200).map { _ in world.call(as: "backend", "open", byToken) }
            let replies = try await world.service.send(calls)
            #expect(replies.count { $0.status == 200 } == 1)
            #expect(replies.count { $0.problem == "not-eligible" } == 199)
            #expect(try world.service.entries("sign.intent").count == 2)
        }
    }

    @Test func `a retry takes nothing more, and gives nothing back`() async throws {
        try await withStoreService(asksStore: false, offers: offers(#"grants: {atMost: 1, counting: "redeemed"}"#)) {
            world in
            try await world.prepare(Row("", isGivenBack: true))
            let call = world.call(as: "backend", "open", byToken).with("Idempotency-Key", "one")
            let first = try await world.service.send(call)
            let retry = try await world.service.send(call)
            #expect(first.status == 200 && retry.json["nonce"] == first.json["nonce"], "\(retry)")
            #expect(try await world.sign("open", byToken).status == 403)
        }
    }

    @Test func `a shown retention offer is given back when its time is over`() async throws {
        let catalog = retentionOffers.replacing(
            #"appStore: {offerId: "store_once"}, eligibility: {grants: {atMost: 1}}"#,
            with: #"appStore: {offerId: "store_once"}, eligibility: {grants: {atMost: 1, counting: "redeemed"}}"#
        )
        #expect(catalog != retentionOffers)
        try await withStoreService(offers: catalog) { world in
            try world.service.change(reported)
            let id = try world.subscriber()
            func ask() async throws -> String? {
                let now = FakeValue.integer(Int(world.service.clock.now.milliseconds))
                return try await world.ask(about: id, changing: ["signedDate": now]).shown?.answer
            }
            #expect(try await ask() == "promotionalOffer")
            world.service.clock.advance(seconds: 47 * 3600)
            #expect(try await ask() == "alternateProduct", "it is reserved")
            world.service.clock.advance(seconds: 2 * 3600)
            #expect(try await ask() == "alternateProduct", "the store has reported nothing since")
            try world.service.change("UPDATE notified_apps SET last_report_at = 253402300799999")
            #expect(try await ask() == "promotionalOffer")
            #expect(try await ask() == "alternateProduct")
        }
    }

    @Test func `counts the same after a restart`() async throws {
        var files = TestFiles()
        files.offers = files.offers.replacing(
            #"{id: "once", appStore: {offerId: "store_once"}, eligibility: {grants: {atMost: 1}}}"#,
            with: #"{id: "once", appStore: {offerId: "store_once"}, "#
                + #"eligibility: {grants: {atMost: 1, counting: "redeemed"}}}"#
        )
        let place = try RunningPlace(files)
        let call = place.call(offer: "once", #""appAccountToken": "\#(anna)""#)
        var statuses: [Int] = []
        for seconds in [0, 3600, 48 * 3600, 3600] {
            place.clock.advance(seconds: seconds)
            try await place.run { service in
                try place.ledger.openPatiently().run(SQL(reported))
                try place.ledger.openPatiently().run(
                    SQL("UPDATE notified_apps SET last_report_at = ?", .integer(place.clock.now.milliseconds))
                )
                statuses.append(try await place.send(call, to: service).status)
            }
        }
        #expect(statuses == [200, 403, 200, 403])
    }
}

/// The store has reported about the app since long ago.
private let reported: StaticString = """
    INSERT INTO notified_apps (store, store_app, first_report_at, last_report_at)
    VALUES ('app-store', 'com.example.app', 0, 0) ON CONFLICT DO NOTHING
    """

extension StoreService {
    /// What a preview says of the one offer.
    fileprivate func preview(_ members: String) async throws -> Tree {
        var call = service.call(as: "backend", #"{"bundleId": "com.example.app", \#(members)}"#)
        call.path = "/v1/eligibility"
        return try await service.send(call).json["offers"][0]
    }

    /// Has the offer granted and, if it was, used; and the store report what it does.
    fileprivate func prepare(_ row: Row) async throws {
        if row.reports != .none, row.reports != .begunLate { try service.change(reported) }
        let milliseconds = Int64(row.hoursAgo * 3_600_000)
        service.clock.advance(milliseconds: -milliseconds)
        let reply = try await sign("open", row.first)
        #expect(reply.status == 200, "\(reply)")
        service.clock.advance(milliseconds: milliseconds)
        if row.use != .none {
            try await deliver(.init("SUBSCRIBED", transactionID: buy(row.use)))
            #expect(try service.uses().count == 1)
        } else if row.reports != .none {
            let other = try store.setCustomer(.init("carl", subscriptions: [.init(.active, periods: 1)]))
            try await deliver(.init("SUBSCRIBED", transactionID: other.subscriptions[0].originalTransactionID))
        }
        switch row.reports {
        case .all, .none, .begunLate: break
        case .endedEarly: try service.change("UPDATE notified_apps SET last_report_at = last_report_at - 2 * 3600000")
        case .forgotten:
            try service.change(
                """
                INSERT INTO secret_versions (
                    name, ordinal, check_value, first_entry, begun_at, destroyed_at, forgotten_until
                ) SELECT '0', -1, x'00', 0, 0, 0, last_report_at - 3600000 FROM notified_apps
                """
            )
        }
    }

    /// Makes Anna buy with the offer `daysAgo` days ago, and returns the subscription.
    fileprivate func buy(_ use: Row.Use, daysAgo: Double = 1) throws -> String {
        var subscription = FakeAppStore.Subscription(
            use == .undone ? .refunded : .active,
            originalTransactionID: chain,
            periods: 1,
            startedDaysAgo: daysAgo,
            offers: [.init(2, "store_open", period: 0)],
            allTransactions: ["appAccountToken": .text(anna)]
        )
        if use == .undone { subscription.revokedDaysAgo = 0.1 }
        if use == .pending {
            (subscription.offers, subscription.startedDaysAgo) = ([], 20)
            subscription.renewalInfo = ["offerType": 2, "offerIdentifier": "store_open"]
        }
        return try store.setCustomer(.init("anna", subscriptions: [subscription])).subscriptions[0]
            .originalTransactionID
    }
}
