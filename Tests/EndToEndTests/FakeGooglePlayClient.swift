// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// curl with assertions of PyJWT's, as a client of the fake Google Play.
struct FakeGooglePlayClient {
    static let app = "/androidpublisher/v3/applications/\(FakeGooglePlay.firstApp)"

    let play: FakeGooglePlay
    let key: FakeGooglePlay.AccountKey
    /// Of the service account that it made for itself.
    private(set) var token = ""

    /// One for all tests, which take turns.
    private static let shared = Task { try await FakeGooglePlayClient(FakeGooglePlay()) }

    /// The client of a fake as it is at the beginning.
    static func fresh() async throws -> FakeGooglePlayClient {
        let client = try await shared.value
        try client.play.reset()
        try client.play.setServiceAccount()
        return client
    }

    init(_ play: FakeGooglePlay) async throws {
        self.play = play
        key = try play.addServiceAccount()
        token = try await newToken()
    }

    /// Asks for an access token; changes to the assertion are as `google_assertion.py` takes them.
    func askForToken(_ changes: String = "{}", key: FakeGooglePlay.AccountKey? = nil) async throws -> CurlAnswer {
        let outcome = try await Program.check("google_assertion", (key ?? self.key).path, changes)
        guard outcome.succeeded else { throw ChildProcess.Failure("\(outcome)") }
        return try await postForm([
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": String(outcome.output.dropLast()),
        ])
    }

    func newToken(_ changes: String = "{}", key: FakeGooglePlay.AccountKey? = nil) async throws -> String {
        let answer = try await askForToken(changes, key: key)
        guard let token = answer.value("/access_token") else { throw ChildProcess.Failure("\(answer)") }
        return token
    }

    /// Posts a form to the token endpoint.
    func postForm(_ form: [String: String]) async throws -> CurlAnswer {
        let options = form.sorted { $0.key < $1.key }.flatMap { ["--data-urlencode", "\($0.key)=\($0.value)"] }
        return try await curl(play.tokenURL(), trusting: play.tlsCAPath, options)
    }

    /// Asks the API; a path that begins with a slash is one within the first app.
    func get(
        _ path: String,
        scheme: FakeGooglePlay.Scheme = .https,
        token: String? = nil,
        _ options: [String] = []
    ) async throws -> CurlAnswer {
        try await ask(play.origin(scheme) + Self.app + path, token: token, options)
    }

    func ask(_ url: String, token: String? = nil, _ options: [String] = []) async throws -> CurlAnswer {
        let authorization = ["-H", "Authorization: Bearer \(token ?? self.token)"]
        return try await curl(url, trusting: play.tlsCAPath, authorization + options)
    }

    func purchase(_ token: String) async throws -> CurlAnswer {
        try await get("/purchases/subscriptionsv2/tokens/\(token)")
    }

    /// What is refused of OIDC tokens, by name, and why; the keys are fetched now.
    func refusals(of messages: [(name: String, message: FakeGooglePlay.PushMessage)]) async throws -> [String: String] {
        let folder = try TemporaryDirectory()
        let keys = try await curl(play.certificatesURL(), trusting: play.tlsCAPath, [])
        let file = try folder.write(Array(keys.body.utf8), to: "keys")
        let lines = messages.map { "\($0.name) \($0.message.token)\n" }.joined()
        let identity = FakeGooglePlay.pushIdentity
        let outcome = try await runProcess(
            [Program.python, "-B", Program.checker("push_token"), file, identity.audience, identity.email],
            input: try folder.write(Array(lines.utf8), to: "input")
        )
        guard outcome.succeeded else { throw ChildProcess.Failure("\(outcome)") }
        return try JSONDecoder().decode([String: String?].self, from: Data(outcome.output.utf8)).compactMapValues { $0 }
    }

    /// The DeveloperNotification in a message.
    func content(of message: FakeGooglePlay.PushMessage) -> String {
        let data = jsonValue("/message/data", in: message.body).flatMap { Data(base64Encoded: $0) }
        return String(decoding: data ?? Data(), as: UTF8.self)
    }
}
