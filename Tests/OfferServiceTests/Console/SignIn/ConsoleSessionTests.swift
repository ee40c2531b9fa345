// SPDX-License-Identifier: Apache-2.0
import HTTP
import OfferDomain
import OfferService
import Storage
import TestSupport
import Testing

@testable import Ledger

/// What a session in the console is good for, and when it is over.
@Suite(.overBothEngines) struct ConsoleSessionTests {
    private static let seal = #"{"reason": "a drill"}"#

    /// What a request has of the fields that mark it, and what it is answered with.
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let problem: String?
        let change: @Sendable (inout Call) -> Void

        var testDescription: String { name }

        init(_ name: String, _ problem: String?, _ change: @escaping @Sendable (inout Call) -> Void) {
            (self.name, self.problem, self.change) = (name, problem, change)
        }
    }

    static let marks = [
        Row("as the console sends it", nil) { _ in },
        Row("without the console's header", "cross-origin-request") { $0.set("Offer-Signer-Console", nil) },
        Row("with another value of it", "cross-origin-request") { $0.set("Offer-Signer-Console", "0") },
        Row("of another site", "cross-origin-request") { $0.set("Sec-Fetch-Site", "cross-site") },
        Row("of another host of the site", "cross-origin-request") { $0.set("Sec-Fetch-Site", "same-site") },
        Row("of no page", "cross-origin-request") { $0.set("Sec-Fetch-Site", "none") },
        Row("of a browser without Sec-Fetch-Site", nil) { $0.set("Sec-Fetch-Site", nil) },
        Row("of another origin", "cross-origin-request") { $0.set("Origin", "https://evil.example") },
        Row("of another port", "cross-origin-request") { $0.set("Origin", "https://offers.example.com:8443") },
        Row("of an origin that is hidden", "cross-origin-request") { $0.set("Origin", "null") },
        Row("without an origin", "cross-origin-request") { $0.set("Origin", nil) },
        Row("with two origins", "cross-origin-request") { $0.fields.append(("Origin", SignInPlace.origin)) },
    ]

    @Test func `a call that changes something counts only if the console's own page makes it`() async throws {
        try await withSignIn { place async throws in
            let cookie = try await place.signIn(groups: #"["on call"]"#)
            for row in Self.marks {
                for path in ["/v1/seal", "/console/sign-out"] where path == "/v1/seal" || row.problem != nil {
                    var call = SignInPlace.call(path, cookie, method: "POST", body: Self.seal)
                    row.change(&call)
                    let reply = try await place.service.send(call)
                    #expect(reply.problem == row.problem, "\(row.name) \(reply)")
                    if let problem = row.problem { #expect(reply.status == 403 && problem == "cross-origin-request") }
                }
            }
            #expect(try place.service.entries("session.end").isEmpty)
        }
    }

    @Test func `a call that reads counts only if the console's own page makes it, because it is recorded`() async throws
    {
        try await withSignIn { place async throws in
            let cookie = try await place.signIn()
            for row in Self.marks where row.name != "without an origin" && !row.name.contains("origins") {
                var call = SignInPlace.call("/v1/keys", cookie)
                row.change(&call)
                #expect(try await place.service.send(call).problem == row.problem, "\(row.name)")
            }
        }
    }

    @Test func `a credential of the request goes before the cookie`() async throws {
        try await withSignIn { place async throws in
            let cookie = try await place.signIn()
            let key = try #require(place.service.credentials["admin"])
            let call = Call.get("/v1/callers/self").with("Cookie", cookie)
            let reply = try await place.service.send(call.with("Authorization", "Bearer \(key)"))
            #expect(reply.json["id"].text == "admin")
            let marked = SignInPlace.call("/v1/callers/self", cookie).with("Authorization", "Bearer nonsense")
            #expect(try await place.service.send(marked).problem == "unauthenticated")
        }
    }

    @Test func `a cookie that this service did not make is no session`() async throws {
        try await withSignIn { place async throws in
            let cookie = try await place.signIn()
            let (name, value) = (cookie.prefix { $0 != "=" }, cookie.drop { $0 != "=" }.dropFirst())
            let other = (value.first == "B" ? "C" : "B") + value.dropFirst()
            for wrong in ["", "A", String(repeating: "A", count: 64), other, String(value.dropLast())] {
                let reply = try await place.ask("/v1/callers/self", "\(name)=\(wrong)")
                #expect(reply.status == 401 && reply.problem == "session-ended", "\(reply)")
                #expect(reply.setCookies.first?.hasPrefix("__Host-offer-signer-session=; Path=/; Max-Age=0;") == true)
            }
            for others in ["\(cookie); \(cookie)", "session=1", "x\(cookie)"] {
                #expect(try await place.ask("/v1/callers/self", others).problem == "unauthenticated", "\(others)")
            }
            #expect(try await place.ask("/v1/callers/self", "a=b; \(cookie); c=d").status == 200)
            #expect(try await place.ask("/console/", cookie).status == 200)
        }
    }

    @Test func `a session has the rights of its role`() async throws {
        try await withSignIn { place async throws in
            let auditor = try await place.signIn()
            #expect(
                try await place.ask("/v1/seal", auditor, method: "POST", body: Self.seal).problem == "role-not-allowed"
            )
            let sign = place.service.call(as: "no caller", offerBody("open")).with("Cookie", auditor)
                .with("Offer-Signer-Console", "1").with("Origin", SignInPlace.origin)
            #expect(try await place.service.send(sign).problem == "role-not-allowed")
            let admin = try await place.signIn(groups: #"["on call"]"#, subject: "bella")
            #expect(try await place.ask("/v1/seal", admin, method: "POST", body: Self.seal).status == 200)
            let entry = try #require(try place.service.entries("service.seal").last)
            let id = try await place.ask("/v1/callers/self", admin).json["id"].text
            #expect(entry["caller"].text == id && id?.hasPrefix("console:login:") == true, "\(entry)")
            #expect(try await place.ask("/v1/callers/self", auditor).json["id"].text != id)
        }
    }

    @Test func `a role that changes at the provider counts from the next sign-in`() async throws {
        try await withSignIn { place async throws in
            let before = try await place.signIn(groups: #"["on call"]"#)
            let after = try await place.signIn(groups: #"["auditors"]"#)
            let (first, second) = (
                try await place.ask("/v1/callers/self", before).json,
                try await place.ask("/v1/callers/self", after).json
            )
            #expect(first["role"].text == "admin" && second["role"].text == "auditor")
            #expect(first["id"] == second["id"], "the same person")
        }
    }

    @Test func `a session ends after its time`() async throws {
        try await withSignIn(SignInPlace.settings + ", sessionMinutes: 5") { place async throws in
            let cookie = try await place.signIn()
            place.service.clock.advance(seconds: 299)
            #expect(try await place.ask("/v1/callers/self", cookie).status == 200)
            place.service.clock.advance(seconds: 1)
            #expect(try await place.ask("/v1/callers/self", cookie).problem == "session-ended")
            let providers = try await place.ask("/console/providers", cookie)
            #expect(providers.json["session"].text == "ended", "\(providers)")
        }
    }

    @Test func `signing out ends the session, and leads to the provider`() async throws {
        try await withSignIn { place async throws in
            let cookie = try await place.signIn()
            #expect(try await place.ask("/console/providers", cookie).json["session"].text == "active")
            let reply = try await place.ask("/console/sign-out", cookie, method: "POST")
            #expect(reply.status == 200 && reply.setCookies.count == 1)
            #expect(reply.setCookies[0].hasPrefix("__Host-offer-signer-session=; Path=/; Max-Age=0;"))
            let url = "client_id=console&post_logout_redirect_uri=https%3A%2F%2Foffers.example.com%2Fconsole%2F"
            #expect(reply.json["endSessionUrl"].text == "\(place.provider.issuer)/logout?\(url)")
            #expect(try await place.ask("/v1/callers/self", cookie).problem == "session-ended")
            place.service.clock.advance(seconds: 10)
            #expect(
                try await place.ask("/v1/callers/self", cookie).problem == "session-ended",
                "as the database has it"
            )
            #expect(try place.service.entries("session.end").count == 1)
            #expect(try await place.ask("/console/sign-out", cookie, method: "POST").problem == "session-ended")
            #expect(try await place.service.send(Call(path: "/console/sign-out")).problem == "session-ended")
        }
    }

    @Test func `signing out works while the provider is down`() async throws {
        try await withSignIn { place async throws in
            let cookie = try await place.signIn()
            place.provider.stop()
            place.service.clock.advance(seconds: 601)
            let reply = try await place.ask("/console/sign-out", cookie, method: "POST")
            #expect(reply.status == 200 && reply.body == "{}", "\(reply)")
        }
    }

    /// What of the provider's entry changes, and whether its sessions go on.
    static let changes = [
        (#"name: "login""#, #"name: "login2""#, false), (#"clientId: "console""#, #"clientId: "other""#, false),
        (#""on call": "admin""#, #""on call": "auditor""#, false),
        (#"roleClaim: "groups""#, #"roleClaim: "roles""#, false),
        (#"clientId: "console""#, #"title: "SSO", sessionMinutes: 30, clientId: "console""#, true),
    ]

    @Test(arguments: changes)
    func `a reload ends the sessions of a provider that gives no such role any more`(
        old: String,
        new: String,
        goesOn: Bool
    ) async throws {
        try await withSignIn { place async throws in
            let cookie = try await place.signIn()
            let keys = SignInPlace.files(place.provider).keys
            #expect(keys.contains(old))
            try place.service.directory.write(Array(keys.replacing(old, with: new).utf8), to: "keys")
            await mayBlock { place.service.reload() }
            let reply = try await place.ask("/v1/callers/self", cookie)
            #expect(reply.problem == (goesOn ? nil : "session-ended"), "\(reply)")
            let removed = keys.replacing(#/identityProviders: \[.*?\}\}\], /#.dotMatchesNewlines(), with: "")
            #expect(removed != keys)
            try place.service.directory.write(Array(removed.utf8), to: "keys")
            await mayBlock { place.service.reload() }
            #expect(try await place.ask("/v1/callers/self", cookie).problem == "session-ended")
        }
    }

    @Test func `the database has no secret of a session, and forgets it a day after its end`() async throws {
        try await withSignIn { place async throws in
            let cookie = try await place.signIn()
            func rows() throws -> Int {
                var count = 0
                try place.service.ledger.openForReading().rows(SQL("SELECT session FROM console_sessions")) { row in
                    #expect(row.blob(0).count == 32)
                    count += 1
                }
                return count
            }
            #expect(try rows() == 1 && cookie.utf8.count > 60)
            place.service.clock.advance(seconds: 86_400 + 3599)
            _ = try await place.signIn()
            #expect(try rows() == 2)
            place.service.clock.advance(seconds: 2)
            _ = try await place.signIn()
            #expect(try rows() == 2)
        }
    }

    @Test func `a session that another instance ended is over here within five seconds`() async throws {
        try await withSignIn { place async throws in
            let cookie = try await place.signIn()
            #expect(try await place.ask("/v1/callers/self", cookie).status == 200)
            let connection = try place.service.ledger.openPatiently()
            try connection.begin()
            try connection.run(SQL("UPDATE console_sessions SET ended_at = 1"))
            try connection.commit()
            place.service.clock.advance(seconds: 5)
            #expect(try await place.ask("/v1/callers/self", cookie).problem == "session-ended")
        }
    }

    @Test(arguments: Wire.allCases) func `each call of a sign-in answers over the wire`(wire: Wire) async throws {
        let provider = try FakeIdentityProvider()
        try await withService(wire, SignInPlace.files(provider)) { service async throws in
            let place = SignInPlace(service: service, provider: provider)
            #expect(try await service.send(.get("/console/sign-in?provider=login")).status == 303)
            let attempt = try await place.begin()
            let reply = try await place.finish(attempt)
            #expect(reply.status == 303 && reply.headers["location"] == "./", "\(reply)")
            let made = "__Host-offer-signer-session=x"
            #expect(try await place.ask("/console/providers", made).json["session"].text == "ended")
            #expect(try await place.ask("/console/sign-out", made, method: "POST").problem == "session-ended")
            #expect(try await service.send(.get("/console/sign-out")).status == 405)
            #expect(try await service.send(Call(path: "/console/signed-in")).status == 405)
        }
    }
}

extension Call {
    /// Replaces a field, or takes it away.
    fileprivate mutating func set(_ name: String, _ value: String?) {
        fields = fields.filter { $0.name != name } + (value.map { [(name, $0)] } ?? [])
    }
}
