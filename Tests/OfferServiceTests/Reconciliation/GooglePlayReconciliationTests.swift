// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService

/// What was authorized, what was bought at Google Play, and what a reconciliation must make of it.
private struct Row: Sendable, CustomTestStringConvertible {
    struct Bought: Sendable {
        var customer: String?
        var offer = "winback-50"
        var daysAgo = 2.0
        /// The number of the grant that the purchase's mark names.
        var mark: Int?
        var state = "ACTIVE"
        var linked: String?
    }

    let testDescription: String
    /// The customer of each grant, and how many days ago it was made.
    let grants: [(customer: String, daysAgo: Double)]
    let purchases: [Bought]
    var link: (from: String, to: String)?
    let expected: [String]

    init(
        _ name: String,
        _ grants: [(String, Double)],
        _ purchases: [Bought],
        link: (String, String)? = nil,
        _ expected: [String]
    ) {
        testDescription = name
        self.grants = grants.map { ($0.0, $0.1) }
        (self.purchases, self.expected) = (purchases, expected)
        self.link = link.map { ($0.0, $0.1) }
    }
}

private let rows = [
    Row("a use that was authorized", [("anna", 3)], [.init(customer: "anna")], ["redeemed grant"]),
    Row("a use without an authorization", [], [.init(customer: "anna")], ["redeemed none"]),
    Row("one that names no account", [("anna", 3)], [.init()], ["redeemed none"]),
    Row("another customer's authorization is none", [("bert", 3)], [.init(customer: "anna")], ["redeemed none"]),
    Row("its mark on a purchase that names no account", [("anna", 3)], [.init(mark: 0)], ["redeemed grant"]),
    Row("a mark that was passed on", [("anna", 3)], [.init(customer: "bert", mark: 0)], ["redeemed other-account"]),
    Row(
        "a mark that was passed on to the same person",
        [("anna", 3)],
        [.init(customer: "device-1", mark: 0)],
        link: ("device-1", "anna"),
        ["redeemed grant"]
    ),
    Row(
        "a mark that was passed on twice",
        [("anna", 3)],
        [.init(customer: "bert", daysAgo: 2, mark: 0), .init(customer: "carl", daysAgo: 1, mark: 0)],
        ["redeemed other-account", "redeemed none"]
    ),
    Row(
        "a change of plan by another customer",
        [("anna", 3)],
        [.init(customer: "anna", offer: "trial-7d", daysAgo: 9), .init(customer: "bert", linked: "purchase-0")],
        ["redeemed none"]
    ),
    Row(
        "a use from before the change of plan by a customer with a grant",
        [("bert", 3)],
        [
            .init(customer: "anna", daysAgo: 2),
            .init(customer: "bert", offer: "trial-7d", daysAgo: 1, linked: "purchase-0"),
        ],
        ["redeemed none"]
    ),
    Row(
        "an authorization that became a purchase taken back",
        [("anna", 3)],
        [.init(customer: "anna", state: "EXPIRED")],
        [
            "notConverted grant"
        ]
    ),
]

@Suite(.overBothEngines) struct GooglePlayReconciliationTests {
    @Test(arguments: rows)
    fileprivate func `tells a use that was authorized from one that was not`(row: Row) async throws {
        try await withPlayService { world in
            let messages = try world.prepare(row)
            if let link = row.link { try await world.service.transfer(from: link.from, to: link.to) }
            for message in messages { #expect(try await world.service.send(message).status == 204) }
            try await world.expect(row)
        }
    }

    @Test(.overSQLite, arguments: rows)
    fileprivate func `gets the same result from late, repeated and unordered notifications`(row: Row) async throws {
        try await withPlayService { world in
            let messages = try world.prepare(row)
            for message in (messages + messages).shuffled() + messages.reversed() {
                #expect(try await world.service.send(message).status == 204)
            }
            if let link = row.link { try await world.service.transfer(from: link.from, to: link.to) }
            try await world.expect(row)
        }
    }

    @Test(.overSQLite, arguments: rows)
    fileprivate func `what was granted stays granted when its offer leaves the catalog`(row: Row) async throws {
        try await withPlayService { world in
            let messages = try world.prepare(row)
            if let link = row.link { try await world.service.transfer(from: link.from, to: link.to) }
            for message in messages { #expect(try await world.service.send(message).status == 204) }
            let before = try world.service.entries("offer.redemption").count
            world.service.endAllOffers()
            world.service.clock.advance(seconds: 60)
            for index in messages.indices {
                try await world.deliver(PlayService.change(2, "purchase-\(index)"), id: "later-\(index)")
            }
            #expect(try world.service.uses() == row.expected)
            #expect(try world.service.entries("offer.redemption").count == before, "nothing is new")
        }
    }

    @Test func `a purchase in one app is not of another app's offer that is called the same`() async throws {
        try await withFakePlay(.inProcess) { world in
            let members = #""customerId": "anna", "facts": {"subscribedBefore": true}"#
            #expect(try await world.service.send(world.authorizationCall(members)).status == 200)
            let names: [StaticString] = [
                "SELECT product_id FROM granted_names", "SELECT base_plan_id FROM granted_names",
                "SELECT offer_id FROM granted_names", "SELECT offer_key || '' FROM granted_names",
            ]
            let name = try names.map { try #require(try world.service.rows([$0]).first) }
            let issued = IssuedGrantTable(connection: try world.service.ledger.openForReading())
            func keys(in app: String?) throws -> [Int64] {
                try issued.formerKeys(.googlePlay, app: app, productID: name[0], basePlanID: name[1], offerID: name[2])
            }
            let app = try #require(try world.service.rows(["SELECT store_app FROM granted_names"]).first)
            #expect(try keys(in: app).map(String.init) == [name[3]])
            #expect(try keys(in: nil).map(String.init) == [name[3]])
            #expect(try keys(in: "com.example.two").isEmpty)
        }
    }

    @Test func `what was authorized stays authorized when the store calls its offer otherwise`() async throws {
        try await withPlayService { world in
            try world.play.answer(
                "a",
                PlaySample("ACTIVE", .init { $0.offer = "winback-50" }) { sample in
                    sample.startedDaysAgo = 2
                    sample.accountID = try? world.accountID("anna")
                }
            )
            try world.grant(to: "anna", daysAgo: 3)
            try world.describe("winback-50")
            try world.service.editOffers { $0.replacing("winback-50", with: "winback-60") }
            try world.describe("winback-60")
            try await world.deliver(PlayService.change(4, "a"), id: "a")
            #expect(try world.service.uses() == ["redeemed grant"])
        }
    }

    @Test func `an offer of another app is not ours, though one of ours is called the same`() async throws {
        try await withPlayService { world in
            try world.describe("winback-50")
            try world.service.editOffers {
                $0.replacing("\n  }],", with: "\n  }, {packageName: \"com.example.two\", plans: []}],")
            }
            let two = try PackageName("com.example.two")
            #expect(world.service.current.value.catalog.googlePlayApps[two] != nil)
            try world.play.answer(
                "a",
                PlaySample("ACTIVE", .init { $0.offer = "winback-50" }) { $0.startedDaysAgo = 2 }
            )
            try await world.deliver(PlayService.change(4, "a", package: "com.example.two"), id: "a")
            #expect(try world.service.uses().isEmpty)
        }
    }

    @Test func `recomputing one app leaves another app's purchases alone`() async throws {
        try await withPlayService { world in
            try world.service.editOffers {
                $0.replacing("\n  }],", with: "\n  }, {packageName: \"com.example.two\", plans: []}],")
            }
            let grant = try world.grant(to: "anna", daysAgo: 3)
            let mark = try world.mark(grant)
            try world.play.answer(
                "a",
                PlaySample("ACTIVE", .init { $0.offer = "winback-50" }) { sample in
                    (sample.startedDaysAgo, sample.profileID) = (2, mark)
                    sample.accountID = try? world.accountID("anna")
                }
            )
            try await world.deliver(PlayService.change(4, "a"), id: "a")
            #expect(try world.service.rows(["SELECT matched_by FROM redemptions"]) == ["mark"])
            let check = ReconciliationCheck(
                connection: try world.service.ledger.openForReading(),
                catalog: world.service.current.value.catalog,
                pseudonyms: world.service.current.value.pseudonyms
            )
            #expect(try check.run().differing.isEmpty)
        }
    }

    @Test func `counts test purchases apart`() async throws {
        try await withPlayService { world in
            var sample = PlaySample("ACTIVE", .init { $0.offer = "winback-50" }) { $0.startedDaysAgo = 2 }
            sample.isTest = true
            try world.play.answer("a", sample)
            try await world.deliver(PlayService.change(4, "a"), id: "a")
            #expect(try await world.service.reconciliation()["redeemedWithoutRecord"].elements.isEmpty)
            let sandbox = try await world.service.reconciliation("?environment=sandbox")
            #expect(sandbox["redeemedWithoutRecord"].elements.count == 1, "\(sandbox)")
        }
    }

    @Test func `awaits the use of what was authorized`() async throws {
        try await withFakePlay(.inProcess) { world in
            let members = #""customerId": "anna", "facts": {"subscribedBefore": true}"#
            let reply = try await world.service.send(world.authorizationCall(members))
            #expect(reply.status == 200, "\(reply)")
            world.tick(seconds: 73 * 3600)
            let report = try await world.service.reconciliation()
            #expect(report["apps"][0]["notTold"].integer == 1 && report["apps"][0]["store"] == .text("google-play"))
            let entry = try #require(try world.service.entries("authorize.intent").first)
            let name = try #require(report["apps"][0]["packageName"].text)
            #expect(entry["package"] == .text(name))
            let kept = try world.service.rows(["SELECT base_plan_id || ' ' || offer_id FROM granted_offers"])
            #expect(kept == [[entry["base"].text, entry["offer"].text].compactMap(\.self).joined(separator: " ")])
            #expect(try world.service.rows(["SELECT 'one' FROM issued_grants WHERE length(account) = 18"]) == ["one"])
        }
    }
}

extension PlayService {
    /// Keeps the offer's name, as its first grant does.
    fileprivate func describe(_ id: String) throws {
        let connection = try service.ledger.openPatiently()
        let offer = try offer(id)
        try connection.transaction { () throws(StorageError) in
            try IssuedGrantTable(connection: connection).describe(offer)
        }
    }

    /// Has everything authorized, and the store know what was bought; answers what it sends.
    fileprivate func prepare(_ row: Row) throws -> [Call] {
        let grants = try row.grants.map { try grant(to: $0.customer, daysAgo: $0.daysAgo) }
        return try row.purchases.enumerated().map { index, bought in
            let account = try bought.customer.map(accountID)
            let mark = try bought.mark.map { try self.mark(grants[$0]) }
            var sample = PlaySample(bought.state, .init { $0.offer = bought.offer }) {
                $0.startedDaysAgo = bought.daysAgo
                $0.accountID = account
                $0.profileID = mark
            }
            sample.linked = bought.linked
            try play.answer("purchase-\(index)", sample)
            return Self.push(Self.change(4, "purchase-\(index)"), id: "message-\(index)")
        }
    }

    fileprivate func expect(_ row: Row) async throws {
        #expect(try service.uses() == row.expected)
        let report = try await service.reconciliation()
        for (kind, list) in [("none", "redeemedWithoutRecord"), ("other-account", "redeemedByAnotherAccount")] {
            let uses = report[list].elements
            #expect(uses.count == row.expected.count { $0.hasSuffix(kind) }, "\(list): \(report)")
            for use in uses {
                let entry = try service.entry(Int(try #require(use["index"].integer)))
                #expect(entry["match"] == .text(kind) && entry["chain"] == use["subscription"])
                #expect(use["packageName"] == .text(Self.packageName) && use["basePlanId"] == .text("monthly"))
            }
        }
        #expect(try service.recomputed().differing.isEmpty)
    }
}
