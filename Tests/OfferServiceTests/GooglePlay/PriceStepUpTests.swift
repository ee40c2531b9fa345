// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import TestSupport
import Testing

/// Over sockets: what becomes of a use while Google Play asks whether the customer agrees to the full price.
struct PriceStepUpTests {
    @Test func `a conversion that waits for consent is not settled, and one with consent is`() async throws {
        try await withFakePlay { world in
            let bought = try world.buy(account: nil, profile: nil)
            try await world.deliver(bought)
            #expect(try world.facts(bought.token).priceStepUpConsent?.value == .notRequired)
            try await world.happen(.stepUpPrice("PENDING"), to: bought.token)
            #expect(try world.facts(bought.token).priceStepUpConsent?.value == .pending)
            #expect(try world.redemptions() == ["winback-50 redeemed without grant"])
            // The trial has ended, and the customer may still agree.
            try await world.happen(.expire, to: bought.token)
            #expect(try world.redemptions() == ["winback-50 redeemed without grant"])
            try await world.happen(.stepUpPrice("CONFIRMED"), to: bought.token)
            try await world.happen(.renew, to: bought.token)
            try await world.happen(.stepUpPrice("COMPLETED"), to: bought.token)
            #expect(try world.facts(bought.token).priceStepUpConsent?.value == .completed)
            #expect(try world.redemptions() == ["winback-50 converted without grant"])
            let types = try await world.service.eventTypes()
            #expect(types == ["offer.redeemed", "redemption.unmatched", "offer.converted"])
        }
    }

    @Test func `without consent in time the customer has left`() async throws {
        try await withFakePlay { world in
            let bought = try world.buy(account: nil, profile: nil)
            try await world.deliver(bought)
            try await world.happen(.stepUpPrice("PENDING", daysLeft: -1), to: bought.token)
            #expect(try world.redemptions() == ["winback-50 redeemed without grant"])
            try await world.happen(.expire, to: bought.token)
            #expect(try world.redemptions() == ["winback-50 notConverted without grant"])
        }
    }

    @Test func `a full price that waits for consent is not paid`() async throws {
        try await withFakePlay { world in
            let bought = try world.buy(account: nil, profile: nil)
            try await world.deliver(bought)
            try world.play.happen(.stepUpPrice("PENDING"), to: bought.token)
            try await world.happen(.renew, to: bought.token)
            #expect(try world.redemptions() == ["winback-50 redeemed without grant"])
            try await world.happen(.stepUpPrice("COMPLETED"), to: bought.token)
            #expect(try world.redemptions() == ["winback-50 converted without grant"])
        }
    }

    private static let offers = """
        {
          apps: [{
            packageName: "\(FakeGooglePlay.firstApp)",
            plans: [{
              googlePlay: {productId: "premium", basePlanId: "monthly"},
              offers: [{id: "back", googlePlay: {offerId: "winback-50"}, eligibility: {priceStepUpConsent: "pending"}}],
            }],
          }],
        }
        """

    @Test func `a rule decides on it, by Google Play's answer or a backend's statement`() async throws {
        try await withFakePlay(offers: Self.offers) { world in
            let token = try world.play.buy(.init("premium")).token
            let evidence = #""customerId": "anna", "purchaseTokens": ["\#(token)"]"#
            var reply = try await world.service.send(world.authorizationCall(evidence))
            #expect(reply.problem == "not-eligible", "\(reply)")
            try world.play.happen(.stepUpPrice("PENDING"), to: token)
            world.service.clock.advance(days: 2)
            try world.play.setTime(milliseconds: world.service.clock.now.milliseconds)
            reply = try await world.service.send(world.authorizationCall(evidence))
            #expect(reply.status == 200, "\(reply)")
            for (facts, problem) in [
                (#""priceStepUpConsent": "pending""#, nil), (#""priceStepUpConsent": "confirmed""#, "not-eligible"),
                (#""status": "active""#, "eligibility-undecided"),
            ] {
                let stated = #""customerId": "bert", "facts": {"subscribedBefore": true, \#(facts)}"#
                reply = try await world.service.send(world.authorizationCall(stated))
                #expect(reply.problem == problem, "\(reply)")
            }
        }
    }
}
