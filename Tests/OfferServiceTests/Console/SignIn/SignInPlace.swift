// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import OfferService
import TestSupport
import Testing

/// A service with a provider by which people sign in to its console.
struct SignInPlace: Sendable {
    let service: TestService
    let provider: FakeIdentityProvider

    static let origin = "https://offers.example.com"
    static let settings = """
        clientId: "console", redirectUri: "\(origin)/console/signed-in", roleClaim: "groups",
        roles: {auditors: "auditor", "on call": "admin"}
        """

    /// The service's files; `members` are those of `consoleSignIn`.
    static func files(_ provider: FakeIdentityProvider, _ members: String = settings) -> TestFiles {
        var files = TestFiles()
        let entry = #"{issuer: "\#(provider.issuer)", name: "login", consoleSignIn: {\#(members)}}"#
        files.keys = files.keys.replacing("customerIds:", with: "identityProviders: [\(entry)], customerIds:")
        return files
    }

    /// What a browser brings to `/console/signed-in`, and what the provider says behind it.
    struct Attempt: Sendable {
        var parameters: [(name: String, value: String)]
        var cookie: String?
        let nonce: String
        let challenge: String
        let location: String
        var token: UserToken
        /// In place of an answer with the token.
        var answer: String?
        var status = 200
        var code: String? = "code-1"
        var reuses = false
        /// Members of the discovery document.
        var metadata = "{}"

        mutating func set(_ name: String, _ value: String?) {
            parameters = parameters.filter { $0.name != name } + (value.map { [(name, $0)] } ?? [])
        }

        var state: String { parameters.first { $0.name == "state" }?.value ?? "" }
    }

    /// Begins a sign-in, as the console's button does.
    func begin(groups: String = #"["staff", "auditors"]"#, subject: String = "anna") async throws -> Attempt {
        let reply = try await service.send(.get("/console/sign-in?provider=login"))
        #expect(reply.status == 303, "\(reply)")
        let location = try #require(reply.headers["location"])
        let query = Self.query(of: location)
        let now = service.clock.now
        let (nonce, state) = (try #require(query["nonce"]), try #require(query["state"]))
        let token = UserToken(provider.issuer, of: subject, at: now).header("typ", #""JWT""#)
            .with("aud", #""console""#).with("scope", nil).with("client_id", nil)
            .with("nonce", "\"\(nonce)\"").with("groups", groups)
        return Attempt(
            parameters: [("code", "code-1"), ("state", state)],
            cookie: Self.cookie(reply),
            nonce: nonce,
            challenge: try #require(query["code_challenge"]),
            location: location,
            token: token
        )
    }

    /// Comes back from the provider.
    func finish(_ attempt: Attempt, challenge: String? = nil) async throws -> Reply {
        if let code = attempt.code {
            let answer =
                try attempt.answer ?? #"{"access_token": "x", "id_token": "\#(try attempt.token.text(provider))"}"#
            try provider.setCode(
                code,
                answer: answer,
                challenge: challenge ?? attempt.challenge,
                status: attempt.status,
                reuses: attempt.reuses
            )
        }
        return try await callBack(attempt)
    }

    /// The same without a change at the provider.
    func callBack(_ attempt: Attempt) async throws -> Reply {
        let query = attempt.parameters.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        var call = Call.get("/console/signed-in?\(query)")
        if let cookie = attempt.cookie { call = call.with("Cookie", cookie) }
        return try await service.send(call)
    }

    /// Signs a person in; answers the cookie of the session.
    func signIn(groups: String = #"["auditors"]"#, subject: String = "anna") async throws -> String {
        let reply = try await finish(try await begin(groups: groups, subject: subject))
        #expect(reply.status == 303, "\(reply)")
        return try #require(Self.cookie(reply))
    }

    /// A call of the console's page.
    static func call(_ path: String, _ cookie: String, method: String = "GET", body: String = "") -> Call {
        var call = Call(method: method, path: path, body: Array(body.utf8)).with("Cookie", cookie)
            .with("Offer-Signer-Console", "1").with("Sec-Fetch-Site", "same-origin")
        if method != "GET" { call = call.with("Origin", origin).with("Content-Type", "application/json") }
        return call
    }

    func ask(_ path: String, _ cookie: String, method: String = "GET", body: String = "") async throws -> Reply {
        try await service.send(Self.call(path, cookie, method: method, body: body))
    }

    /// The name and value of the first cookie that an answer sets.
    static func cookie(_ reply: Reply) -> String? {
        reply.setCookies.first.map { String($0.prefix { $0 != ";" }) }
    }

    static func query(of url: String) -> [String: String] {
        let pairs = url.split(separator: "?", maxSplits: 1).last?.split(separator: "&") ?? []
        return Dictionary(
            pairs.map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
                return (parts[0], parts.count > 1 ? parts[1] : "")
            }
        ) { first, _ in first }
    }

    /// How often sign-ins came to that, as the metrics have it.
    func count(_ result: String, of name: String = "login") async throws -> Double? {
        let page = try MetricsPage(try await service.send(.get("/metrics")))
        return page.samples["offer_signer_console_sign_ins_total{provider=\"\(name)\",result=\"\(result)\"}"]
    }
}

/// Runs `body` beside a service with a provider for its console.
func withSignIn(
    _ members: String = SignInPlace.settings,
    clock: SettableClock = SettableClock(),
    _ body: (SignInPlace) async throws -> Void
) async throws {
    let provider = try FakeIdentityProvider()
    try await withService(.inProcess, SignInPlace.files(provider, members), clock: clock) { service async throws in
        try await body(SignInPlace(service: service, provider: provider))
    }
}
