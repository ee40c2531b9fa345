// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

/// A final answer of Google Play is never reported as “try again”.
struct FinalPlayAnswerTests {
    private static func members(_ tokens: [String]) -> String {
        let list = tokens.map { #""\#($0)""# }.joined(separator: ", ")
        return #""customerId": "anna", "purchaseTokens": [\#(list)]"#
    }

    @Test func `says that an answer cannot be read, and logs where`() async throws {
        try await withFakePlay { world in
            let bought = try world.buy(account: nil, profile: nil)
            try world.play.misbehave(.wrongShape, at: .purchase)
            let reply = try await world.service.send(world.authorizationCall(Self.members([bought.token])))
            #expect(reply.problem == "eligibility-undecided" && reply.status == 403, "\(reply)")
            #expect(reply.body.contains("purchase-unreadable") && reply.body.contains("/purchaseTokens/0"))
            #expect(reply.headers["retry-after"] == nil)
            let lines = world.service.log.lines.filter { $0.contains("about a purchase cannot be read") }
            #expect(lines.count == 1, "\(lines)")
            for part in [FakeGooglePlay.firstApp, "production", "/"] {
                #expect(lines.allSatisfy { $0.contains(part) }, "\(part)")
            }
            #expect(!lines.contains { $0.contains(bought.token) })
        }
    }

    @Test func `decides on the purchase that can be read`() async throws {
        try await withFakePlay { world in
            let tokens = [
                try world.buy(account: nil, profile: nil).token, try world.buy(account: nil, profile: nil).token,
            ]
            try world.play.misbehave(.wrongShape, at: .purchase, times: 1)
            let reply = try await world.service.send(world.authorizationCall(Self.members(tokens)))
            #expect(reply.status == 200, "\(reply)")
        }
    }

    @Test func `takes the notification about a purchase that cannot be read`() async throws {
        try await withFakePlay { world in
            let bought = try world.buy(account: nil, profile: nil)
            try world.play.misbehave(.wrongShape, at: .purchase)
            #expect(try await world.push(bought.messageIDs[0]).status == 204)
            #expect(try world.service.entries("store.notification").count == 1)
        }
    }

    @Test func `refuses at the member what Google Play refuses for good`() async throws {
        try await withFakePlay { world in
            let tokens = [
                try world.buy(account: nil, profile: nil).token, try world.buy(account: nil, profile: nil).token,
            ]
            try world.play.misbehave(.error(.invalidPageToken), at: .purchase)
            for (sent, pointer) in [([tokens[0]], "/purchaseTokens/0"), (tokens, "/purchaseTokens")] {
                let reply = try await world.service.send(world.authorizationCall(Self.members(sent)))
                #expect(reply.problem == "refused-by-store" && reply.status == 400, "\(reply)")
                #expect(reply.pointers == [pointer] && reply.body.contains("400"))
                #expect(reply.headers["retry-after"] == nil)
            }
            #expect(try world.service.entries("authorize.deny").isEmpty)
        }
    }
}
