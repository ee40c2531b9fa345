// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

/// What a use of an offer at Google Play counts as once the offers file doesn't have the offer any more.
@Suite(.overBothEngines) struct FormerOfferTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Whether the service granted the offer while the file had it.
        let isGranted: Bool
        /// Whether the use became known while the file had it.
        let isSeenBefore: Bool
        let isPromotional: Bool
    }

    static let rows = [
        Row(testDescription: "granted and seen", isGranted: true, isSeenBefore: true, isPromotional: true),
        Row(testDescription: "granted, seen later", isGranted: true, isSeenBefore: false, isPromotional: true),
        Row(testDescription: "seen, never granted", isGranted: false, isSeenBefore: true, isPromotional: true),
        Row(testDescription: "neither, as Google's own", isGranted: false, isSeenBefore: false, isPromotional: false),
    ]

    private static let former = #"{id: "back", googlePlay: {offerId: "winback-50"}},"#

    private static let offers = """
        {
          apps: [{
            packageName: "\(FakeGooglePlay.firstApp)",
            plans: [{
              googlePlay: {productId: "premium", basePlanId: "monthly"},
              offers: [
                \(former)
                {id: "first", googlePlay: {offerId: "first"},
                  eligibility: {usedOffers: {type: "promotional", atMost: 0}}},
                {id: "other", googlePlay: {offerId: "other"},
                  eligibility: {usedOffers: {type: "introductory", atMost: 0}}},
              ],
            }],
          }],
        }
        """

    @Test(.overSQLite, arguments: rows)
    func `an offer that was the developer's own stays so when the file loses it`(row: Row) async throws {
        try await withFakePlay(.inProcess, offers: Self.offers) { world in
            for offer in ["first", "other"] { try world.play.setOffer(.init(offer, of: "premium")) }
            if row.isGranted { _ = try await world.authorize("bert") }
            let bought = try world.buy(account: nil, profile: nil)
            if row.isSeenBefore { try await world.deliver(bought) }
            try world.service.editOffers { $0.replacing(Self.former, with: "") }
            world.tick()
            func ask(_ offer: String) async throws -> Reply {
                let members = #""customerId": "anna", "purchaseTokens": ["\#(bought.token)"]"#
                return try await world.service.send(world.authorizationCall(members, offer: offer))
            }
            for (offer, isOpen) in [("first", !row.isPromotional), ("other", row.isPromotional)] {
                let reply = try await ask(offer)
                #expect(isOpen ? reply.status == 200 : reply.problem == "not-eligible", "\(offer): \(reply)")
            }
        }
    }
}
