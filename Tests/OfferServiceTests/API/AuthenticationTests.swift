// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import Testing

/// Who may call at all.
struct AuthenticationTests {
    /// A header that authenticates no caller.
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Makes the header's values out of a good credential.
        let values: @Sendable (String) -> [String]

        init(_ description: String, _ values: @escaping @Sendable (String) -> [String]) {
            testDescription = description
            self.values = values
        }
    }

    static let rows = [
        Row("none") { _ in [] },
        Row("an empty one") { _ in [""] },
        Row("another scheme") { ["Basic \($0)"] },
        Row("no scheme") { [$0] },
        Row("the scheme alone") { _ in ["Bearer"] },
        Row("two spaces") { ["Bearer  \($0)"] },
        Row("two credentials") { ["Bearer \($0) \($0)"] },
        Row("two headers") { ["Bearer \($0)", "Bearer \($0)"] },
        Row("an id without secret") { ["Bearer \($0.prefix(16))"] },
        Row("an id with an empty secret") { ["Bearer \($0.prefix(17))"] },
        Row("a secret without id") { ["Bearer \($0.dropFirst(16))"] },
        Row("one character too few") { ["Bearer \($0.dropLast())"] },
        Row("one character too many") { ["Bearer \($0)A"] },
        Row("another secret") { ["Bearer \($0.prefix(17))\(String(repeating: "A", count: 43))"] },
        Row("a secret in other letter case") { ["Bearer \($0.prefix(17))\(swappedCase($0.dropFirst(17)))"] },
        Row("the secret of another id") { ["Bearer 0123456789abcdef.\($0.dropFirst(17))"] },
        Row("an id in capitals") { _ in ["Bearer ABCDEFABCDEFABCD.\(String(repeating: "A", count: 43))"] },
        Row("another separator") { ["Bearer \($0.replacing(".", with: ":"))"] },
    ]

    @Test(arguments: Wire.ofRun, rows)
    func `refuses a request unless every byte of its key is right`(wire: Wire, row: Row) async throws {
        try await withService(wire) { service in
            let credential = try #require(service.credentials["backend"])
            var call = service.call(as: "nobody", offerBody("open"))
            for value in row.values(credential) { call = call.with("Authorization", value) }
            try await expectUnauthenticated(service, call)
            let good = call.fields.filter { $0.name != "Authorization" } + [("Authorization", "bEARer \(credential)")]
            call.fields = good
            #expect(try await service.send(call).status == 200, "the scheme's letter case is free (RFC 9110, 11.1)")
        }
    }

    @Test(arguments: Wire.ofRun)
    func `lets a key in until it expires and not a millisecond longer`(wire: Wire) async throws {
        try await withService(wire) { service in
            service.clock.advance(milliseconds: 86_400_000 - 1)
            #expect(try await service.sign(as: "one-day", offer: "open").status == 200)
            service.clock.advance(milliseconds: 1)
            try await expectUnauthenticated(service, service.call(as: "one-day", offer: "open"))
            #expect(try await service.sign(as: "backend", offer: "open").status == 200)
        }
    }

    @Test(arguments: Wire.ofRun)
    func `refuses a revoked key and a revoked caller after the next refresh`(wire: Wire) async throws {
        try await withService(wire) { service in
            let callers = Callers(ledger: service.ledger, clock: service.clock.wallClock)
            let keyID = try #require(service.credentials["backend"]).prefix(16)
            try callers.revoke(try #require(CallerID("backend")), keyID: String(keyID)).get()
            try callers.revoke(try #require(CallerID("second-backend")), keyID: nil).get()
            #expect(try await service.sign(offer: "open").status == 200, "what is in force is not yet the new state")
            try service.refresh()
            try await expectUnauthenticated(service, service.call(as: "backend", offer: "open"))
            try await expectUnauthenticated(service, service.call(as: "second-backend", offer: "open"))
            #expect(try await service.sign(as: "scoped", offer: "open").status == 200)
        }
    }

    @Test(arguments: Wire.allCases)
    func `checks authentication before anything else in the request`(wire: Wire) async throws {
        try await withService(wire) { service in
            var call = Call(body: Array("not JSON".utf8)).with("Idempotency-Key", "")
            try await expectUnauthenticated(service, call)
            call = call.with("Authorization", "Bearer nobody")
            try await expectUnauthenticated(service, call)
        }
    }

    private func expectUnauthenticated(_ service: TestService, _ call: Call) async throws {
        let before = try service.entries().count
        let reply = try await service.send(call)
        #expect(reply.status == 401)
        #expect(reply.problem == "unauthenticated", "\(reply)")
        #expect(reply.headers["www-authenticate"] == #"Bearer realm="offer-signer""#)
        #expect(try service.entries().count == before, "an unauthenticated request is not recorded")
    }
}

private func swappedCase(_ text: Substring) -> String {
    String(text.map { $0.isUppercase ? Character($0.lowercased()) : Character($0.uppercased()) })
}
