import Foundation
import OfferDomain
import OfferService
import TestSupport
import Testing

// SPDX-License-Identifier: Apache-2.0
@testable import Stores

/// The whole way, over sockets: an authorization, a purchase, what Pub/Sub pushes of it, and what Google Play answers.
struct PlayLoopbackTests {
    @Test func `a purchase with a grant is followed to its end, and one without a grant is found`() async throws {
        try await withFakePlay { world in
            let authorized = try await world.authorize("anna")
            let bought = try world.buy(
                account: authorized["obfuscatedAccountId"].text,
                profile: authorized["obfuscatedProfileId"].text
            )
            try await world.deliver(bought)
            #expect(try world.redemptions() == ["winback-50 redeemed mark"])
            let entry = try #require(try world.service.entries("offer.redemption").first)
            #expect(entry["grant"] == authorized["grantId"])

            try await world.happen(.renew, to: bought.token)
            #expect(try world.redemptions() == ["winback-50 converted mark"])

            let stolen = try world.buy(account: nil, profile: authorized["obfuscatedProfileId"].text)
            try await world.deliver(stolen)
            #expect(
                try world.redemptions().sorted() == ["winback-50 converted mark", "winback-50 redeemed without grant"]
            )
            let labels =
                #"{store="google-play",environment="production",state="redeemed",match="none",offer="winback-50"}"#
            let page = try await world.service.send(.get("/metrics")).body
            #expect(page.contains("offer_signer_redemptions_total\(labels) 1\n"))

            world.tick()
            try await world.happen(.revoke, to: stolen.token)
            #expect(
                try world.redemptions().sorted() == ["winback-50 converted mark", "winback-50 undone without grant"]
            )
            #expect(try world.facts(stolen.token).refundedAt?.value.isEmpty == false)
        }
    }

    @Test func `a full refund after a conversion keeps the state converted, and is reported`() async throws {
        try await withFakePlay { world in
            let authorized = try await world.authorize("anna")
            let bought = try world.buy(
                account: authorized["obfuscatedAccountId"].text,
                profile: authorized["obfuscatedProfileId"].text
            )
            try await world.deliver(bought)
            try await world.happen(.renew, to: bought.token)
            try await world.happen(.revoke, to: bought.token)
            #expect(try world.redemptions() == ["winback-50 converted mark"])
            let events = try await world.service.events()["events"].elements.dropFirst().map { $0["type"].text ?? "" }
            #expect(events.prefix(3) == ["offer.redeemed", "offer.converted", "offer.refunded"], "\(events)")
            #expect(Set(events.dropFirst(3)).isSubset(of: ["offer.refunded"]), "\(events)")
            let id = try #require(authorized["grantId"].text)
            let grant = try await world.service.get("/v1/grants/\(id)", as: "backend").json
            #expect(grant["state"].text == "converted" && grant["use"]["refundedPercentage"].double == 100, "\(grant)")
            #expect(grant["use"]["refundedAt"].text != nil)
        }
    }

    @Test func `a partial refund keeps the state redeemed, and is reported`() async throws {
        try await withFakePlay { world in
            let bought = try world.buy(account: nil, profile: nil)
            try await world.deliver(bought)
            world.tick()
            try await world.happen(.void(isPartial: true), to: bought.token)
            #expect(try world.redemptions() == ["winback-50 redeemed without grant"])
            #expect(try world.facts(bought.token).refundedAt?.value.map(\.millipercent) == [nil])
            let events = try await world.service.events()["events"].elements
            let types = events.map { $0["type"].text ?? "" }
            #expect(types == ["offer.redeemed", "redemption.unmatched", "offer.refunded"], "\(events)")
            let data = events[2]["data"]
            #expect(data["state"].text == "redeemed" && data["refundedAt"].text != nil)
            #expect(data["refundedPercentage"].double == nil, "Google Play does not say how large the part is")
            let labels =
                #"{store="google-play",environment="production",state="redeemed",match="none",offer="winback-50"}"#
            let page = try await world.service.send(.get("/metrics")).body
            #expect(page.contains("offer_signer_redemptions_total\(labels) 1\n"), "the state has not changed")
        }
    }

    @Test func `reports the right status after a plan change, a hold, a pause and an expiry`() async throws {
        try await withFakePlay { world in
            let first = try world.play.buy(.init("premium", "monthly", daysAgo: 40))
            try await world.deliver(first)
            let second = try world.play.buy(.init("premium", "yearly", replaces: first.token))
            try await world.deliver(second)
            #expect(try world.facts(second.token).status?.value == .active)
            #expect(try world.facts(first.token).status?.value == .active, "the chain goes on")
            for (event, status) in [
                (FakeGooglePlay.Event.grace, SubscriptionStatus.inGracePeriod), (.hold, .inBillingRetry),
                (.recover, .active), (.pause, .paused), (.recover, .active), (.cancel, .active), (.restart, .active),
                (.expire, .expired),
            ] {
                world.tick()
                try await world.happen(event, to: second.token)
                #expect(try world.facts(second.token).status?.value == status, "\(event)")
            }
            world.tick()
            try world.play.happen(.delete, to: second.token)
            let message = try world.play.makeNotification(
                "subscriptionNotification",
                ["version": "1.0", "notificationType": 13, "purchaseToken": .text(second.token)]
            )
            #expect(try await world.push(message).status == 204)
            #expect(try world.facts(second.token).status?.value == .expired, "it was known before it was gone")
        }
    }

    @Test func `refuses each token that is wrong, and takes each that is right`() async throws {
        try await withFakePlay { world in
            let message = try world.play.makeNotification()
            for fault in FakeGooglePlay.TokenFault.allCases {
                // Earlier tokens would otherwise use up the rate limit for unauthenticated traffic.
                world.tick(seconds: 1)
                let reply = try await world.push(message, changing: .init(fault: fault))
                // A token that is too long for the head of a request is not even looked at.
                let refusal = fault == .oversized ? 431 : 401
                #expect(reply.status == (fault.isAcceptable ? 204 : refusal), "\(fault): \(reply)")
            }
            #expect(try world.service.entries("store.notification").count == 1)
            #expect(try await world.push(message).status == 204)
            #expect(try world.service.entries("store.notification").count == 1)
            let foreign = try await world.push(
                message,
                changing: .init(renamed: "2", content: ["packageName": "com.example.thief"])
            )
            #expect(foreign.status == 204)
            #expect(world.service.metrics[.notificationsRefused(reason: "unknown-package")] == 1)
            #expect(try world.service.entries("store.notification").count == 1)
        }
    }

    @Test
    func `leaves a message to be sent again while Google Play is down, and for good if there is no such purchase`()
        async throws
    {
        try await withFakePlay { world in
            let bought = try world.buy(account: nil, profile: nil)
            try world.play.misbehave(.error(.permissionDenied), at: .purchase)
            let reply = try await world.push(bought.messageIDs[0])
            #expect(reply.status == 503 && reply.problem == "store-unavailable", "\(reply)")
            #expect(try world.service.entries("store.notification").isEmpty)
            try world.play.behave()
            try await world.deliver(bought)
            #expect(try world.service.entries("store.notification").count == 1)
            for (index, reason) in [FakeGooglePlay.Reason.purchaseTokenNotFound, .purchaseTokenDoesNotMatchPackageName]
                .enumerated()
            {
                try world.play.misbehave(.error(reason), at: .purchase, times: 1)
                let message = bought.messageIDs[0]
                let gone = try await world.push(message, changing: .init(renamed: "again-\(index)"))
                #expect(gone.status == 204, "\(reason): \(gone)")
            }
            #expect(try world.service.entries("store.notification").count == 1)
        }
    }

    @Test func `queries Google Play for each message, even while the same query is running`() async throws {
        try await withFakePlay { world in
            let bought = try world.buy(account: nil, profile: nil)
            try world.play.resetCounts()
            let replies = try await world.service.send(
                try (0..<4).map { try world.call(bought.messageIDs[0], changing: .init(renamed: "message-\($0)")) }
            )
            #expect(replies.allSatisfy { $0.status == 204 }, "\(replies)")
            #expect(try world.play.counts().requests(to: .purchase) == 4)
        }
    }
}
