// SPDX-License-Identifier: Apache-2.0
import OfferService
import TestSupport
import Testing

/// `consoleSignIn` in the keys file, and what wrong entries are refused with.
struct ConsoleSignInFileTests {
    private static let good = """
        {issuer: "https://login.example.com/", name: "login", consoleSignIn: {
          title: "Example SSO", clientId: "console", clientSecretFile: "console.secret",
          redirectUri: "https://offers.example.com/console/signed-in", scopes: ["openid", "profile"],
          roleClaim: "groups", roles: {auditors: "auditor", oncall: "admin"}, sessionMinutes: 60, maximumAgeMinutes: 480}}
        """

    private static func errors(_ entry: String, secret: String = "secret") throws -> [String] {
        let directory = try TemporaryDirectory()
        var files = TestFiles()
        files.secrets = ["console.secret": secret]
        files.keys = files.keys.replacing("customerIds:", with: "identityProviders: [\(entry)], customerIds:")
        _ = try TestService.write(files, into: directory)
        return issues(directory, try TestService.settings(in: directory, files)).errors
    }

    @Test func `takes an entry with every member, with and without users of apps`() throws {
        #expect(try Self.errors(Self.good) == [])
        let both = Self.good.replacing("name:", with: #"audience: "api", bundleIds: ["com.example.app"], name:"#)
        #expect(try Self.errors(both) == [])
    }

    /// What is in the good entry, what replaces it, and a part of what is reported.
    static let wrong = [
        (#"clientId: "console", "#, "", "clientId: is missing"),
        ("/console/signed-in", "/console/", "expected the console's https address"),
        (
            "https://offers.example.com/console", "http://offers.example.com/console",
            "expected the console's https address"
        ),
        ("/console/signed-in", "/console/signed-in?x=/console/signed-in", "expected the console's https address"),
        (#"redirectUri: "https://offers.example.com/console/signed-in","#, "", "redirectUri: is missing"),
        (#"roleClaim: "groups", "#, "", "roleClaim: is missing"),
        (#""groups""#, "[]", "expected 1 to 4 names"),
        (#""groups""#, #"["a", 1]"#, "expected the name of a claim"),
        (#"roles: {auditors: "auditor", oncall: "admin"}, "#, "", "roles: is missing"),
        (#"{auditors: "auditor", oncall: "admin"}"#, "{}", "expected 1 to 64 texts"),
        (#"oncall: "admin""#, #"oncall: "operator""#, "expected auditor or admin, found “operator”"),
        (#"oncall: "admin""#, #"oncall: "backend""#, "expected auditor or admin"),
        (#"oncall: "admin""#, #"oncall: "app""#, "expected auditor or admin"),
        ("sessionMinutes: 60", "sessionMinutes: 4", "from 5 to 720"),
        ("maximumAgeMinutes: 480", "maximumAgeMinutes: 0", "from 1 to 10080"),
        ("console.secret", "none.secret", "Write the provider's client secret there"),
        ("sessionMinutes: 60", "sessionMinute: 60", "did you mean “sessionMinutes”"),
        (#"["openid", "profile"]"#, #"["open id"]"#, "a scope without spaces"),
        (#""Example SSO""#, #""ä""#, "1 to 64 printable"),
        (#"name: "login""#, #"preset: "firebase""#, "is not possible with this preset"),
        (#"name: "login""#, #"audience: "api""#, "expected at least one bundle id"),
        ("https://login.example.com/", "login", "https address"),
    ]

    @Test(arguments: wrong) func `reports what is wrong with an entry`(old: String, new: String, said: String) throws {
        let entry = Self.good.replacing(old, with: new)
        #expect(entry != Self.good)
        let errors = try Self.errors(entry)
        #expect(
            errors.contains { $0.contains("/identityProviders/0") && $0.replacing("/", with: " ").contains(said) },
            "\(errors)"
        )
    }

    @Test func `a client secret is one line of visible characters`() throws {
        for secret in ["", "\n", "two words", "ä", String(repeating: "a", count: 513)] {
            #expect(
                try Self.errors(Self.good, secret: secret).contains { $0.contains("clientSecretFile") },
                "\(secret)"
            )
        }
        #expect(try Self.errors(Self.good, secret: "secret\r\n") == [])
    }

    @Test func `a provider of the console alone proves no user of an app`() async throws {
        let provider = try FakeIdentityProvider()
        try await withService(.inProcess, SignInPlace.files(provider)) { service async throws in
            let token = UserToken(provider.issuer, at: service.clock.now)
            for token in [token, token.with("aud", #""console""#)] {
                #expect(try await service.send(.preview(try token.text(provider))).problem == "invalid-token")
            }
        }
    }
}
