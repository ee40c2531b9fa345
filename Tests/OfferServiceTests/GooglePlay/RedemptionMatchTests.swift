// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

@testable import Ledger

/// Which grant a use of an offer at Google Play came from, and that one without any is found out.
@Suite(.overBothEngines) struct RedemptionMatchTests {
    /// The customer's purchase with an offer, `daysAgo` days before ``PlaySample/now``.
    private static func used(
        _ world: PlayService,
        by customer: String?,
        _ offer: String = "winback-50",
        daysAgo: Double,
        mark: String? = nil,
        phase: String = "introductoryPrice"
    ) throws -> PlaySample {
        let accountID = try customer.map(world.accountID)
        return PlaySample(
            "ACTIVE",
            .init {
                $0.offer = offer; $0.phase = phase
            }
        ) {
            $0.startedDaysAgo = daysAgo
            $0.accountID = accountID
            $0.profileID = mark
        }
    }

    private func buy(_ world: PlayService, _ token: String, _ sample: PlaySample, type: Int = 4) async throws {
        try world.play.answer(token, sample)
        try await world.deliver(
            PlayService.change(type, token),
            id: "\(token) \(world.play.asked.count)".replacing(" ", with: "-")
        )
    }

    @Test func `finds the grant by its mark, even if the purchase names no customer`() async throws {
        try await withPlayService { world in
            let grant = try world.grant(to: "anna", daysAgo: 3)
            try await buy(world, "a", Self.used(world, by: nil, daysAgo: 2, mark: world.mark(grant)))
            #expect(try world.redemptions() == ["winback-50 redeemed mark"])
            let entry = try #require(try world.service.entries("offer.redemption").first)
            #expect(entry["grant"] == .text(grant.description) && entry["by"] == .text("mark"))
            #expect(entry["offer"] == .text("winback-50") && entry["plan"] == .text("monthly"))
            #expect(entry["store"] == .text("google-play") && entry["env"] == .text("production"))
            #expect(world.redemptions(match: .granted) == 1 && world.redemptions(match: .ungranted) == 0)
        }
    }

    @Test func `finds no use in an item that another purchase had and that a change of plan will replace`() async throws
    {
        try await withPlayService { world in
            try world.grant(to: "anna", daysAgo: 31)
            try await buy(world, "old", Self.used(world, by: "anna", daysAgo: 30))
            var changed = try Self.used(world, by: "anna", daysAgo: 1)
            changed.linked = "old"
            changed.items[0].more = #""deferredItemReplacement":{"productId":"gold"}"#
            try await buy(world, "new", changed)
            #expect(try world.redemptions() == ["winback-50 redeemed customer"])
            #expect(try world.facts("new").offersUsed?.value.map(\.offerID?.text) == ["winback-50"])
        }
    }

    @Test func `finds it by customer and time without a mark`() async throws {
        try await withPlayService { world in
            try world.grant(to: "anna", daysAgo: 30)
            let last = try world.grant(to: "anna", daysAgo: 3)
            try world.grant(to: "anna", daysAgo: 1)
            try world.grant(to: "bert", daysAgo: 2.5)
            try world.grant(to: "anna", offer: "stay-20", daysAgo: 2.2)
            try await buy(world, "a", Self.used(world, by: "anna", daysAgo: 2))
            #expect(try world.redemptions() == ["winback-50 redeemed customer"])
            #expect(try world.service.entries("offer.redemption").first?["grant"] == .text(last.description))
        }
    }

    @Test func `takes one of the next five minutes, since clocks differ, and none after that`() async throws {
        for (minutes, found) in [(4.0, true), (6.0, false)] {
            try await withPlayService { world in
                try world.grant(to: "anna", daysAgo: 2 - minutes / 1440)
                try await buy(world, "a", Self.used(world, by: "anna", daysAgo: 2))
                #expect(try world.redemptions() == ["winback-50 redeemed \(found ? "customer" : "without grant")"])
            }
        }
    }

    @Test func `records and counts a use without a grant`() async throws {
        try await withPlayService { world in
            try await buy(world, "a", Self.used(world, by: "anna", daysAgo: 2))
            #expect(try world.redemptions() == ["winback-50 redeemed without grant"])
            let entry = try #require(try world.service.entries("offer.redemption").first)
            #expect(entry["grant"] == .null && entry["state"] == .text("redeemed"))
            #expect(world.redemptions(match: .ungranted) == 1)
            let page = try await world.service.send(.get("/metrics")).body
            let labels =
                #"{store="google-play",environment="production",state="redeemed",match="none",offer="winback-50"}"#
            #expect(page.contains("offer_signer_redemptions_total\(labels) 1\n"), "\(page)")
            #expect(world.service.log.lines.contains { $0.contains("an offer was used without a grant") })
        }
    }

    @Test func `counts test purchases apart`() async throws {
        try await withPlayService { world in
            var sample = try Self.used(world, by: "anna", daysAgo: 2)
            sample.isTest = true
            try await buy(world, "a", sample)
            #expect(world.redemptions(match: .ungranted) == 0)
            #expect(world.redemptions(match: .ungranted, environment: "sandbox") == 1)
        }
    }

    @Test func `takes a forged mark, another offer's, and one that is no mark at all for none`() async throws {
        try await withPlayService { world in
            let grant = try world.grant(to: "bert", daysAgo: 3)
            let genuine = try world.mark(grant)
            let forged = [
                String(genuine.dropLast() + (genuine.hasSuffix("0") ? "1" : "0")),
                try world.mark(grant, offer: "stay-20"), genuine.uppercased() == genuine ? "x" : genuine.uppercased(),
                String(repeating: "0", count: 64), "profile-1",
            ]
            for (index, mark) in forged.enumerated() {
                try await buy(world, "token-\(index)", Self.used(world, by: "anna", daysAgo: 2, mark: mark))
            }
            #expect(
                try world.redemptions() == Array(repeating: "winback-50 redeemed without grant", count: forged.count)
            )
        }
    }

    @Test func `gives a grant to the first purchase alone, however its mark is passed on`() async throws {
        try await withPlayService { world in
            let grant = try world.grant(to: "anna", daysAgo: 6)
            let mark = try world.mark(grant)
            for (index, customer) in ["bert", "anna", "cleo"].enumerated() {
                let sample = try Self.used(world, by: customer, daysAgo: Double(3 + index), mark: mark)
                try await buy(world, "token-\(index)", sample)
            }
            #expect(
                try world.redemptions() == [
                    "winback-50 redeemed mark", "winback-50 redeemed without grant",
                    "winback-50 redeemed without grant",
                ]
            )
            #expect(
                try world.service.rows(["SELECT count(*) || '' FROM redemptions WHERE grant_id IS NOT NULL"]
                ) == ["1"]
            )
        }
    }

    @Test(arguments: [true, false])
    func `counts a grant for the purchase that used it, if the purchase has its mark`(isMarked: Bool) async throws {
        try await withPlayService { world in
            let grant = try world.grant(to: "anna", daysAgo: 3)
            let mark = isMarked ? try world.mark(grant) : nil
            try await buy(world, "a", Self.used(world, by: "anna", daysAgo: 2, mark: mark))
            #expect(try world.redemptions() == ["winback-50 redeemed \(isMarked ? "mark" : "customer")"])
            let grants: StaticString = """
                SELECT count(*) || '' FROM grants JOIN redemptions ON redemptions.grant_id = grants.grant_id
                WHERE grants.subject = redemptions.subscription
                """
            #expect(try world.service.rows([grants]) == [isMarked ? "1" : "0"])
        }
    }

    @Test func `gives a grant that a mark claims to no other use of the customer's`() async throws {
        try await withPlayService { world in
            let grant = try world.grant(to: "anna", daysAgo: 4)
            // By time, the first would have it; the mark says that it was the second.
            try await buy(world, "a", Self.used(world, by: "anna", daysAgo: 3.5))
            #expect(try world.redemptions() == ["winback-50 redeemed customer"])
            try await buy(world, "b", Self.used(world, by: "bert", daysAgo: 2, mark: world.mark(grant)))
            #expect(try world.redemptions() == ["winback-50 redeemed without grant", "winback-50 redeemed mark"])
        }
    }

    @Test func `an authorization that has run out is no grant, whether a mark names it or not`() async throws {
        for (days, ways) in [(3.9, ["mark", "customer"]), (4.1, ["without grant", "without grant"])] {
            for (isMarked, way) in zip([true, false], ways) {
                try await withPlayService { world in
                    let grant = try world.grant(to: "anna", daysAgo: 2 + days)
                    let mark = isMarked ? try world.mark(grant) : nil
                    try await buy(world, "a", Self.used(world, by: "anna", daysAgo: 2, mark: mark))
                    #expect(try world.redemptions() == ["winback-50 redeemed \(way)"], "\(days) days")
                }
            }
        }
    }

    @Test func `finds a second use after the subscription ran out, which nothing but the customer links`() async throws
    {
        try await withPlayService { world in
            try world.grant(to: "anna", daysAgo: 90)
            var first = try Self.used(world, by: "anna", daysAgo: 89)
            first.state = "EXPIRED"
            first.items[0].expiresInDays = -50
            try await buy(world, "a", first)
            try await buy(world, "b", Self.used(world, by: "anna", daysAgo: 2))
            #expect(
                try world.redemptions() == ["winback-50 notConverted customer", "winback-50 redeemed without grant"]
            )
        }
    }

    @Test func `passes offers over that the catalog does not name`() async throws {
        try await withPlayService { world in
            try await buy(world, "a", Self.used(world, by: "anna", "trial-7d", daysAgo: 2))
            var other = try Self.used(world, by: "anna", daysAgo: 2)
            other.items[0].plan = "yearly"
            try await buy(world, "b", other)
            #expect(try world.redemptions().isEmpty)
        }
    }

    @Test func `follows a use until it is settled, and counts each step once`() async throws {
        try await withPlayService { world in
            let grant = try world.grant(to: "anna", daysAgo: 3)
            let mark = try world.mark(grant)
            var sample = try Self.used(world, by: "anna", daysAgo: 2, mark: mark)
            for (state, phase, expected) in [
                ("PENDING", "introductoryPrice", "pending"), ("ACTIVE", "introductoryPrice", "redeemed"),
                ("ACTIVE", "introductoryPrice", "redeemed"), ("ACTIVE", "basePrice", "converted"),
                ("EXPIRED", "basePrice", "converted"),
            ] {
                world.service.clock.advance(seconds: 60)
                sample.state = state
                sample.items[0].phase = phase
                try await buy(world, "a", sample, type: 2)
                #expect(try world.redemptions() == ["winback-50 \(expected) mark"])
            }
            let states = try world.service.entries("offer.redemption").compactMap(\.["state"].text)
            #expect(states == ["pending", "redeemed", "converted"])
        }
    }

    @Test func `undoes what was taken back, and what was never paid`() async throws {
        try await withPlayService { world in
            try world.grant(to: "anna", daysAgo: 3)
            var sample = try Self.used(world, by: "anna", daysAgo: 2)
            sample.state = "PENDING"
            try await buy(world, "a", sample)
            sample.state = "PENDING_PURCHASE_CANCELED"
            world.service.clock.advance(seconds: 1)
            try await buy(world, "a", sample, type: 20)
            #expect(try world.redemptions().isEmpty, "the grant is free again")
            try await buy(world, "b", Self.used(world, by: "anna", daysAgo: 2))
            #expect(try world.redemptions() == ["winback-50 redeemed customer"])
            world.service.clock.advance(seconds: 1)
            var revoked = try Self.used(world, by: "anna", daysAgo: 2)
            revoked.state = "EXPIRED"
            try await buy(world, "b", revoked, type: 12)
            #expect(try world.redemptions() == ["winback-50 undone customer"])
        }
    }
}

extension PlayService {
    fileprivate func redemptions(match: RedemptionMatch, environment: String = "production") -> Int {
        service.metrics[
            .redemptions(
                store: "google-play",
                environment: environment,
                state: "redeemed",
                match: match,
                offer: "winback-50"
            )
        ]
    }
}
