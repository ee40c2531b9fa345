// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

/// What happens to apps that prove themselves while Google can't be asked, or answers nonsense.
struct PlayIntegrityOutageTests {
    typealias Row = (name: String, misbehaviour: FakeGooglePlay.Misbehaviour, label: String, problem: String)

    static let rows: [Row] = [
        ("down", .error(.backendError), "unavailable", "store-unavailable"),
        ("closing", .close, "unavailable", "store-unavailable"),
        ("limited", .rateLimit, "rate-limited", "store-unavailable"),
        ("limited by 403", .error(.rateLimitExceeded), "rate-limited", "store-unavailable"),
        ("garbage", .garbage, "unavailable", "store-unavailable"),
        ("cut short", .wrongJSON, "bad-answer", "store-unavailable"),
        ("of other types", .wrongShape, "bad-answer", "store-unavailable"),
        ("too large", .oversized(bytes: 100_000), "bad-answer", "store-unavailable"),
        ("empty", .answer(body: "{}"), "bad-answer", "store-unavailable"),
        ("a proxy's 400", .status(400), "bad-answer", "store-unavailable"),
        ("a proxy's 403", .status(403), "bad-answer", "store-unavailable"),
        ("not enabled", .error(.accessNotConfigured), "not-permitted", "store-refuses-service"),
        ("without rights", .error(.permissionDenied), "not-permitted", "store-refuses-service"),
        ("no such app", .error(.notFound), "app-unknown", "store-refuses-service"),
        ("not linked", .error(.badRequest, message: "App is not found."), "app-unknown", "store-refuses-service"),
        ("credentials", .error(.authError), "credentials-refused", "store-refuses-service"),
    ]

    @Test(arguments: rows.indices)
    func `demands a proof where one is needed, and goes on without one where it is not`(index: Int) async throws {
        let row = Self.rows[index]
        try await withPlayIntegrity(.inProcess, policy: "prefer") { world async throws in
            // So that the catalog is known: the fake has both APIs at one address, which has one circuit.
            #expect(try await world.service.send(world.authorizationCall(#""customerId": "anna""#)).status == 200)
            try world.play.misbehave(row.misbehaviour, at: .integrity)
            let reply = try await world.service.send(world.proven(world.appCall("must")))
            #expect(reply.problem == row.problem, "\(row.name): \(reply)")
            #expect(world.checks(row.label) == 1, "\(row.name)")
            let labels = #"store="google-play",endpoint="integrity-token""#
            let page = try await world.service.send(.get("/metrics")).body
            #expect(page.contains("offer_signer_store_requests_total{\(labels)"), "a label of its own")
            world.tick(seconds: 61)
            try world.play.setTime(milliseconds: world.service.clock.now.milliseconds)
            let free = try await world.service.send(world.proven(world.appCall()))
            #expect(free.status == 200, "\(row.name): \(free)")
            #expect(try world.service.entries("authorize.intent").last?["genuine"] == .null)
            world.tick(seconds: 61)
            try world.play.setTime(milliseconds: world.service.clock.now.milliseconds)
            let asking = try await world.service.send(world.proven(world.appCall("from-play")))
            #expect(asking.problem == row.problem, "the rule needs it: \(asking)")
            try world.play.behave()
            world.tick(seconds: 61)
            try world.play.setTime(milliseconds: world.service.clock.now.milliseconds)
            #expect(try await world.service.send(world.proven(world.appCall("must"))).status == 200, "\(row.name)")
        }
    }

    @Test func `tells when to ask again, and previews say that it is not known`() async throws {
        try await withPlayIntegrity { world async throws in
            try world.play.misbehave(.rateLimit(retryAfter: "90"), at: .integrity, times: 1)
            let reply = try await world.service.send(world.proven(world.appCall()))
            #expect(reply.status == 503 && reply.headers["retry-after"] == "90", "\(reply)")
            let asked = world.eligibilityCall(as: "app", #""packageName": "com.example.app", "anonymousId": "phone""#)
            let preview = try await world.service.send(world.proven(asked))
            let obstacles = preview.json["offers"].elements.map { $0["obstacle"].text ?? "-" }
            #expect(obstacles == ["store-unavailable", "store-unavailable", "-", "store-unavailable"], "\(preview)")
            #expect(preview.headers["cache-control"] == "private, max-age=0")
            #expect(try world.play.counts().requests(to: .integrity) == 1, "it was asked to wait")
        }
    }

    @Test func `an address has its part of the day's questions alone`() async throws {
        try await withPlayIntegrity(.inProcess, policy: "prefer", "requestsPerDay: 10000") { world async throws in
            for _ in 0..<4 { #expect(try await world.service.send(world.proven(world.appCall("must"))).status == 200) }
            let reply = try await world.service.send(world.proven(world.appCall("must")))
            #expect(reply.status == 503 && reply.headers["retry-after"] != nil, "\(reply)")
            #expect(world.checks("budget-spent") == 1)
            #expect(try await world.service.send(world.proven(world.appCall())).status == 200, "without a proof")
            world.tick(seconds: 60)
            try world.play.setTime(milliseconds: world.service.clock.now.milliseconds)
            #expect(try await world.service.send(world.proven(world.appCall("must"))).status == 200)
        }
    }

    @Test func `asks with a token of its own scope`() async throws {
        try await withPlayIntegrity(.inProcess) { world async throws in
            #expect(try await world.service.send(world.proven(world.appCall())).status == 200)
            try world.play.misbehave(.unknownMembers, at: .integrity)
            #expect(try await world.service.send(world.proven(world.appCall())).status == 200, "with unknown members")
            let counts = try world.play.counts()
            #expect(counts.tokensIssued == 2, "one for each API")
            #expect(counts.apiRefusals.isEmpty)
        }
    }
}
