// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import TestSupport

/// A user's token of a fake provider, with parts to be set wrong.
struct UserToken: Sendable {
    typealias Members = [(name: String, json: String)]

    var header: Members = [("alg", #""ES256""#), ("kid", #""es1""#), ("typ", #""at+jwt""#)]
    var claims: Members
    var key = "es1"
    /// A wrong way to sign, or a special one.
    var form = ""

    /// A good one of that user.
    init(_ issuer: String, of subject: String = "anna", at now: Timestamp) {
        claims = [
            ("iss", "\"\(issuer)\""), ("aud", #""offer-signer""#), ("sub", "\"\(subject)\""),
            ("exp", "\(now.seconds + 3600)"), ("iat", "\(now.seconds)"), ("scope", #""openid offers:sign""#),
            ("client_id", #""app""#),
        ]
    }

    /// The same with another value of a claim, or without it.
    func with(_ name: String, _ json: String?) -> UserToken {
        var copy = self
        copy.claims = claims.filter { $0.name != name } + (json.map { [(name, $0)] } ?? [])
        return copy
    }

    func header(_ name: String, _ json: String?) -> UserToken {
        var copy = self
        copy.header = header.filter { $0.name != name } + (json.map { [(name, $0)] } ?? [])
        return copy
    }

    /// Signed by a key of that name, and with its algorithm in the header.
    func signed(by key: String, _ algorithm: String, form: String = "") -> UserToken {
        var copy = header("alg", "\"\(algorithm)\"").header("kid", "\"\(key)\"")
        (copy.key, copy.form) = (key, form)
        return copy
    }

    func text(_ provider: FakeIdentityProvider) throws -> String {
        try provider.sign(key: key, header: Self.object(header), payload: Self.object(claims), form: form)
    }

    private static func object(_ members: Members) -> String {
        "{" + members.map { "\"\($0.name)\":\($0.json)" }.joined(separator: ",") + "}"
    }
}

extension TestFiles {
    /// With a fake provider; `members` are more of its entry's, and replace nothing.
    static func trusting(_ provider: FakeIdentityProvider, _ members: String = "", type: String = "at+jwt") -> TestFiles
    {
        var files = TestFiles()
        let entry = """
            {issuer: "\(provider.issuer)", audience: "offer-signer", bundleIds: ["com.example.app"], tokenType: "\(type)",
             name: "login", \(members)}
            """
        files.keys = files.keys.replacing("customerIds:", with: "identityProviders: [\(entry)], customerIds:")
        files.settings = [.appRatePerAddress: "none", .appRatePerCustomer: "none"]
        return files
    }
}

extension Call {
    /// A preview of all offers of the app, which tells whether a token is taken.
    static func preview(_ token: String, _ members: String = #""bundleId": "com.example.app""#) -> Call {
        Call(
            path: "/v1/eligibility",
            fields: [("Content-Type", "application/json"), ("Authorization", "Bearer \(token)")],
            body: Array("{\(members)}".utf8)
        )
    }
}
