// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import OfferService
import TestSupport
import Testing

@testable import Ledger

/// Signing in to the console by an identity provider: each check of the answer, and what passes without it.
struct SignInTests {
    @Test func `a person of a role signs in, reads the log and is recorded by a pseudonym`() async throws {
        try await withSignIn { place async throws in
            let attempt = try await place.begin()
            let query = SignInPlace.query(of: attempt.location)
            #expect(attempt.location.hasPrefix("\(place.provider.issuer)/authorize?response_type=code&"))
            #expect(query["client_id"] == "console" && query["code_challenge_method"] == "S256")
            #expect(query["redirect_uri"] == "https%3A%2F%2Foffers.example.com%2Fconsole%2Fsigned-in")
            #expect(query["scope"] == "openid")
            let reply = try await place.finish(attempt)
            #expect(reply.status == 303 && reply.headers["location"] == "./", "\(reply)")
            let attributes = "Path=/; Max-Age=3600; Secure; HttpOnly; SameSite=Strict"
            #expect(reply.setCookies[0].hasPrefix("__Host-offer-signer-session="))
            #expect(reply.setCookies[0].hasSuffix("; \(attributes)"))
            #expect(reply.setCookies[1].hasPrefix("__Host-offer-signer-sign-in=; Path=/; Max-Age=0;"))
            let cookie = try #require(SignInPlace.cookie(reply))
            let caller = try await place.ask("/v1/callers/self", cookie)
            let id = try #require(caller.json["id"].text)
            #expect(id.contains(#/^console:login:[0-9a-f]{16}$/#) && caller.json["role"].text == "auditor")
            #expect(try await place.ask("/v1/audit/entries", cookie).status == 200)
            let read = try #require(try place.service.entries("audit.read").last)
            #expect(read["caller"] == .text(id))
            let begun = try #require(try place.service.entries("session.begin").last)
            #expect(begun["caller"] == .text(id) && begun["role"] == .text("auditor"))
            for entry in try place.service.entries() { #expect(!entry.contains("anna")) }
            #expect(try await place.count("signed-in") == 1)
            let asked = try #require(try place.provider.asked().last)
            #expect(asked["grant_type"] == "authorization_code" && asked["client_id"] == "console")
            #expect(asked["redirect_uri"] == "https://offers.example.com/console/signed-in")
            #expect(asked["client_secret"] == nil && asked["authorization"] == "")
        }
    }

    /// What is changed of a good sign-in, and why it is refused; `nil` if it is not.
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let reason: String?
        var status = 400
        let change: @Sendable (inout SignInPlace.Attempt) -> Void

        var testDescription: String { name }

        init(
            _ name: String,
            _ reason: String?,
            _ status: Int = 400,
            _ change: @escaping @Sendable (inout SignInPlace.Attempt) -> Void
        ) {
            (self.name, self.reason, self.status, self.change) = (name, reason, status, change)
        }
    }

    static let callbacks = [
        Row("nothing is changed", nil, 303) { _ in },
        Row("no cookie", "not-started-here") { $0.cookie = nil },
        Row("an empty cookie", "not-started-here") { $0.cookie = "__Host-offer-signer-sign-in=" },
        Row("the cookie twice", "not-started-here") { $0.cookie = $0.cookie.map { "\($0); \($0)" } },
        Row("no state", "not-started-here") { $0.set("state", nil) },
        Row("another state", "not-started-here") { $0.set("state", String(repeating: "A", count: 43)) },
        Row("two states", "not-started-here") { $0.parameters.append(("state", $0.state)) },
        Row("a cookie with a later end", "not-started-here") {
            $0.cookie = $0.cookie?.replacing(#/~\d+~/#, with: "~4102444800~")
        },
        Row("a cookie of another provider", "not-started-here") {
            $0.cookie = $0.cookie?.replacing("=login~", with: "=other~")
        },
        Row("the provider's refusal", "refused-by-provider", 403) { $0.set("error", "access_denied") },
        Row("another issuer", "other-issuer") { $0.set("iss", "https://other.example.com") },
        Row("no issuer where the provider names it", "other-issuer") {
            $0.metadata = #"{"authorization_response_iss_parameter_supported": true}"#
        },
        Row("no code", "no-code") { $0.set("code", nil) },
        Row("two codes", "no-code") { $0.parameters.append(("code", "code-2")) },
        Row("a code that is not known", "code-refused", 502) { $0.code = nil },
        Row("a session_state and a scope beside", nil, 303) {
            $0.parameters += [("session_state", "x"), ("scope", "openid+profile")]
        },
        Row("no ID token", "answer-unfit", 502) { $0.answer = #"{"access_token": "x"}"# },
        Row("no object", "answer-unfit", 502) { $0.answer = "[]" },
        Row("an error with status 401", "code-refused", 502) {
            ($0.status, $0.answer) = (401, #"{"error": "invalid_client"}"#)
        },
    ]

    static let tokens = [
        Row("another nonce", "other-nonce", 502) { $0.token = $0.token.with("nonce", #""other""#) },
        Row("no nonce", "other-nonce", 502) { $0.token = $0.token.with("nonce", nil) },
        Row("another audience", "other-audience", 502) { $0.token = $0.token.with("aud", #""app""#) },
        Row("two audiences without azp", "other-party", 502) {
            $0.token = $0.token.with("aud", #"["console", "app"]"#)
        },
        Row("two audiences and our azp", nil, 303) {
            $0.token = $0.token.with("aud", #"["console", "app"]"#).with("azp", #""console""#)
        },
        Row("another's azp", "other-party", 502) { $0.token = $0.token.with("azp", #""app""#) },
        Row("another issuer", "issuer-unknown", 502) {
            $0.token = $0.token.with("iss", #""https://other.example.com""#)
        },
        Row("expired", "expired", 502) { $0.token = $0.token.with("exp", "1000000000").with("iat", "999999000") },
        Row("issued in the future", "issued-in-future", 502) {
            $0.token = $0.token.with("exp", "4102444800").with("iat", "4102444000")
        },
        Row("an access token", "other-type", 502) { $0.token = $0.token.header("typ", #""at+jwt""#) },
        Row("another algorithm", "algorithm-not-allowed", 502) {
            $0.token = $0.token.signed(by: "ps1", "PS256", form: "PS256")
        },
        Row("not signed", "algorithm-none", 502) { $0.token = $0.token.header("alg", #""none""#) },
        Row("a key that is not published", "key-unknown", 502) { $0.token = $0.token.signed(by: "es2", "ES256") },
        Row("another's signature", "signature-wrong", 502) {
            $0.token = $0.token.signed(by: "es2", "ES256").header("kid", #""es1""#)
        },
        Row("no subject", "claim-missing", 502) { $0.token = $0.token.with("sub", nil) },
        Row("no role", "no-role", 403) { $0.token = $0.token.with("groups", #"["staff"]"#) },
        Row("no claim of roles", "no-role", 403) { $0.token = $0.token.with("groups", nil) },
        Row("a role by another name", "no-role", 403) {
            $0.token = $0.token.with("groups", #"["Auditors", "auditor"]"#)
        },
        Row("a role that is no text", "no-role", 403) { $0.token = $0.token.with("groups", #"{"auditors": true}"#) },
        Row("a role that is one text", nil, 303) { $0.token = $0.token.with("groups", #""auditors""#) },
    ]

    @Test(arguments: callbacks + tokens) func `takes an answer that is right in every part`(row: Row) async throws {
        try await withSignIn { place async throws in
            var first = try await place.begin()
            row.change(&first)
            try place.provider.describe(first.metadata)
            // The document is known by now, and for ten minutes.
            place.service.clock.advance(seconds: 601)
            var attempt = try await place.begin()
            row.change(&attempt)
            let reply = try await place.finish(attempt)
            #expect(reply.status == row.status, "\(reply)")
            let isSignedIn = reply.setCookies.contains { $0.hasPrefix("__Host-offer-signer-session=") }
            #expect(isSignedIn == (row.reason == nil))
            #expect(try place.service.entries("session.begin").count == (row.reason == nil ? 1 : 0))
            guard let reason = row.reason else { return }
            let known = ["not-started-here"].contains(reason) ? "unknown" : "login"
            #expect(try await place.count(reason, of: known) == 1)
            let counted = place.service.traffic.take(until: place.service.clock.now)?.counts
            let failed = UnauthenticatedTraffic(route: .signIn(.finish), problem: reason)
            #expect(counted == [failed: 1], "an auditor sees it")
            #expect(reply.headers["content-type"] == "text/html; charset=utf-8")
            #expect(reply.headers["content-security-policy"]?.contains("default-src 'none'") == true)
        }
    }

    @Test func `a browser finishes only the sign-in that it began`() async throws {
        try await withSignIn { place async throws in
            var mine = try await place.begin()
            let theirs = try await place.begin()
            mine.cookie = theirs.cookie
            let reply = try await place.finish(mine)
            #expect(reply.status == 400 && reply.body.contains("This browser did not begin this sign-in"))
            #expect(try place.provider.asked().isEmpty, "the code is not used up")
        }
    }

    @Test func `a code that was caught is worth nothing without the verifier`() async throws {
        try await withSignIn { place async throws in
            let mine = try await place.begin()
            let theirs = try await place.begin()
            // A provider with PKCE keeps the challenge of the sign-in that the code is of.
            #expect(try await place.finish(mine, challenge: theirs.challenge).status == 502)
            #expect(try await place.count("code-refused") == 1)
            let verifier = try #require(try place.provider.asked().last?["code_verifier"])
            #expect(verifier.utf8.count == 43)
            let digest = SHA256.digest(of: Array(verifier.utf8)).bytes
            #expect(String(decoding: Base64.encodeURL(digest), as: UTF8.self) == mine.challenge)
        }
    }

    @Test func `a sign-in begins one session, also where the provider takes a code twice`() async throws {
        try await withSignIn { place async throws in
            var attempt = try await place.begin()
            attempt.reuses = true
            #expect(try await place.finish(attempt).status == 303)
            let again = try await place.callBack(attempt)
            #expect(again.status == 400 && again.body.contains("This sign-in was used before"))
            #expect(try place.service.entries("session.begin").count == 1)
            #expect(try await place.count("used-before") == 1)
        }
    }

    @Test func `a sign-in takes ten minutes at most`() async throws {
        for (seconds, status) in [(599, 303), (601, 400)] {
            try await withSignIn { place async throws in
                let attempt = try await place.begin()
                place.service.clock.advance(seconds: seconds)
                #expect(try await place.finish(attempt).status == status)
            }
        }
    }

    @Test func `what the provider says is shown as text`() async throws {
        try await withSignIn { place async throws in
            var attempt = try await place.begin()
            attempt.set("error", "access_denied")
            attempt.set("error_description", "%3Cscript%3Ealert(1)%3C/script%3E%22%26%0D%0A%E2%80%AE")
            let reply = try await place.finish(attempt)
            #expect(reply.body.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;)"), "\(reply)")
            #expect(!reply.body.contains("<script") && !reply.body.contains("\u{202E}"))
            attempt = try await place.begin()
            attempt.set("error", "%3Cb%3E")
            #expect(try await place.finish(attempt).body.contains("It says: not given"))
        }
    }

    /// How the provider behaves at the token endpoint, and why the sign-in fails.
    @Test(arguments: [
        (FakeIdentityProvider.Mode.status, "code-refused"), (.close, "connection-lost"), (.redirect, "code-refused"),
        (.garbage, "answer-unfit"), (.endless, "protocol-violation"), (.short, "connection-lost"),
    ])
    func `a provider that is rude signs in no person`(mode: FakeIdentityProvider.Mode, reason: String) async throws {
        try await withSignIn { place async throws in
            let attempt = try await place.begin()
            try place.provider.behave(mode)
            let reply = try await place.finish(attempt)
            #expect([502, 503].contains(reply.status), "\(reply)")
            #expect(try await place.count(reason) == 1)
        }
    }

    @Test func `a provider that is down is said to be, and asked again after five seconds`() async throws {
        try await withSignIn { place async throws in
            try place.provider.describe(#"{"token_endpoint": null}"#)
            let begun = Call.get("/console/sign-in?provider=login")
            #expect(try await place.service.send(begun).status == 502)
            try place.provider.describe("{}")
            #expect(try await place.service.send(begun).status == 502, "not asked again at once")
            place.service.clock.advance(seconds: 6)
            #expect(try await place.service.send(begun).status == 303)
            place.provider.stop()
            place.service.clock.advance(seconds: 601)
            let reply = try await place.service.send(begun)
            #expect(reply.status == 503 && reply.body.contains("sign in with an API key"), "\(reply)")
        }
    }

    /// Members of the discovery document with which no sign-in begins.
    @Test(arguments: [
        #"{"authorization_endpoint": null}"#, #"{"token_endpoint": null}"#,
        #"{"token_endpoint": "http://example.com/token"}"#,
        #"{"authorization_endpoint": "ftp://example.com"}"#, #"{"code_challenge_methods_supported": ["plain"]}"#,
        #"{"response_types_supported": ["id_token"]}"#, #"{"end_session_endpoint": 1}"#,
    ])
    func `a discovery document has all that a sign-in needs`(members: String) async throws {
        try await withSignIn { place async throws in
            try place.provider.describe(members)
            let reply = try await place.service.send(.get("/console/sign-in?provider=login"))
            #expect(reply.status == 502, "\(reply)")
            #expect(try await place.count("metadata") == 1)
        }
    }

    @Test func `a confidential client shows its secret as the provider wants it`() async throws {
        for (methods, isBasic) in [("null", true), (#"["client_secret_post"]"#, false)] {
            let provider = try FakeIdentityProvider()
            try provider.describe(#"{"token_endpoint_auth_methods_supported": \#(methods)}"#)
            var files = SignInPlace.files(provider, SignInPlace.settings + #", clientSecretFile: "console.secret""#)
            files.secrets = ["console.secret": "s%cret+/=\n"]
            try await withService(.inProcess, files) { service async throws in
                let place = SignInPlace(service: service, provider: provider)
                _ = try await place.signIn()
                let asked = try #require(try provider.asked().last)
                // Python: base64.b64encode(b"console:s%25cret%2B%2F%3D")
                #expect(asked["authorization"] == (isBasic ? "Basic Y29uc29sZTpzJTI1Y3JldCUyQiUyRiUzRA==" : ""))
                #expect(asked["client_secret"] == (isBasic ? nil : "s%cret+/="))
            }
        }
    }

    @Test func `a login is as new as the settings want it`() async throws {
        let members = SignInPlace.settings + ", maximumAgeMinutes: 10"
        for (age, status) in [("600", 303), ("700", 403), ("x", 502)] {
            try await withSignIn(members) { place async throws in
                var attempt = try await place.begin()
                #expect(SignInPlace.query(of: attempt.location)["max_age"] == "600")
                let now = place.service.clock.now.seconds
                attempt.token = attempt.token.with("auth_time", Int64(age).map { "\(now - $0)" })
                #expect(try await place.finish(attempt).status == status, "\(age)")
            }
        }
    }

    @Test func `a role may come of a claim within another, and of a verified address`() async throws {
        let nested = SignInPlace.settings.replacing(#""groups""#, with: #"["realm_access", "roles"]"#)
        try await withSignIn(nested) { place async throws in
            var attempt = try await place.begin()
            attempt.token = attempt.token.with("realm_access", #"{"roles": ["on call", "auditors"]}"#)
            let cookie = try #require(SignInPlace.cookie(try await place.finish(attempt)))
            #expect(try await place.ask("/v1/callers/self", cookie).json["role"].text == "admin", "the highest")
        }
        let address = SignInPlace.settings.replacing(#""groups""#, with: #""email""#)
            .replacing("auditors", with: #""anna@example.com""#)
        for (verified, status) in [("true", 303), ("false", 502), (nil, 502)] {
            try await withSignIn(address) { place async throws in
                var attempt = try await place.begin()
                attempt.token = attempt.token.with("email", #""anna@example.com""#).with("email_verified", verified)
                #expect(try await place.finish(attempt).status == status, "\(verified ?? "none")")
            }
        }
    }

    @Test func `an address begins sixty sign-ins a minute at most`() async throws {
        try await withSignIn { place async throws in
            let call = Call.get("/console/sign-in?provider=login")
            for _ in 0..<60 { #expect(try await place.service.send(call.from("192.0.2.1")).status == 303) }
            let reply = try await place.service.send(call.from("192.0.2.1"))
            #expect(reply.status == 429 && reply.headers["retry-after"] == "1", "\(reply)")
            #expect(try await place.service.send(call.from("192.0.2.2")).status == 303)
        }
    }

    @Test func `the console knows which providers there are, and no other has a sign-in`() async throws {
        try await withSignIn(SignInPlace.settings + #", title: "Example SSO""#) { place async throws in
            let reply = try await place.service.send(.get("/console/providers"))
            #expect(reply.body == #"{"providers":[{"name":"login","title":"Example SSO"}],"session":"none"}"#)
            for query in ["", "?provider=", "?provider=other", "?provider=login&provider=login"] {
                #expect(try await place.service.send(.get("/console/sign-in\(query)")).status == 404, "\(query)")
            }
        }
        try await withService { service async throws in
            #expect(try await service.send(.get("/console/providers")).body == #"{"providers":[],"session":"none"}"#)
        }
    }
}
