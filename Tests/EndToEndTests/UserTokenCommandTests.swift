// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `offer-signer tokens explain`, and what `check --live` says about identity providers.
    @Suite struct UserTokenCommandTests {
        private let provider: FakeIdentityProvider
        private let demo: DemoFolder

        init() async throws {
            provider = try FakeIdentityProvider()
            demo = try await DemoFolder()
        }

        private func trust(_ members: String = "") throws {
            let entry = """

                  identityProviders: [{issuer: "\(provider.issuer)", audience: "offer-signer", tokenType: "any",
                  bundleIds: ["\(DemoFolder.bundle)"], name: "login", \(members)}],
                  customerIds: {
                """
            // Not the comment above it.
            try demo.edit("keys", replacing: "\n  customerIds: {", with: entry)
        }

        /// A token for a minute; `claims` are more of them, with a comma before.
        private func token(_ claims: String = "", audience: String = "offer-signer") throws -> String {
            let now = Int(Date().timeIntervalSince1970)
            let times = #""iat": \#(now), "exp": \#(now + 60)"#
            return try provider.sign(
                header: #"{"alg": "ES256", "kid": "es1", "typ": "JWT"}"#,
                payload: #"{"iss": "\#(provider.issuer)", "sub": "anna", "aud": "\#(audience)", \#(times)\#(claims)}"#
            )
        }

        private func explain(_ token: String) async throws -> ProcessOutcome {
            try demo.write(token + "\n", to: "token.txt")
            let files = ["--keys", demo.path(of: "keys"), "--offers", demo.path(of: "offers")]
            return try await Program.run(["tokens", "explain", demo.path(of: "token.txt")] + files)
        }

        @Test func `explain says which customer a token proves, and shows no token`() async throws {
            try trust(#"appAccountToken: {claim: "account"}"#)
            let account = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"
            let token = try token(#", "account": "\#(account)", "cnf": {"jkt": "x"}"#)
            let outcome = try await explain(token)
            #expect(outcome.succeeded, "\(outcome)")
            for phrase in ["accepted: customerId anna", account, DemoFolder.bundle, "needs a DPoP proof"] {
                #expect(outcome.output.contains(phrase), "\(outcome)")
            }
            #expect(!outcome.output.contains(token.suffix(40)))
        }

        @Test func `explain says why a token is refused, and what to do`() async throws {
            try trust(#"dpop: "required""#)
            let good = try token(#", "cnf": {"jkt": "x"}"#)
            let rows: [(Substring, String)] = [
                (good.dropLast(4) + "AAAA", "refused: signature-wrong"),
                (try token(audience: "other")[...], "Set audience to what the token's aud has"),
                (try token()[...], "refused: proof-missing"),
                (try token(##", "cnf": {"x5t#S256": "x"}"##)[...], "refused: bound-otherwise"),
                ("x.y", "refused: not-three-segments"),
            ]
            for (token, phrase) in rows {
                let outcome = try await explain(String(token))
                #expect(outcome.end == .exited(1) && outcome.output.contains(phrase), "\(phrase): \(outcome)")
            }
            try provider.behave(.status)
            let outcome = try await explain(good)
            #expect(outcome.end == .exited(3) && outcome.output.contains("answers with status 503"), "\(outcome)")
        }

        @Test func `check --live reads each provider's keys, and says what is wrong with them`() async throws {
            try trust()
            func check() async throws -> ProcessOutcome {
                try await Program.run(["check", "--live"] + demo.options())
            }
            let good = try await check()
            #expect(good.succeeded && good.output.contains("\(provider.issuer): 1 key for ES256, RS256"), "\(good)")
            try provider.behave(.otherIssuer)
            let other = try await check()
            #expect(other.end == .exited(1) && other.output.contains("of another issuer"), "\(other)")
            try provider.behave(.good)
            try provider.publish(["ed1"])
            let unfit = try await check()
            #expect(unfit.end == .exited(1) && unfit.output.contains("publishes no key for ES256"), "\(unfit)")
        }

        @Test func `check --live says what a sign-in to the console lacks at the provider`() async throws {
            let redirect = "https://offers.example.com/console/signed-in"
            try trust(
                """
                consoleSignIn: {clientId: "console", redirectUri: "\(redirect)", roleClaim: "groups",
                    roles: {auditors: "auditor"}}
                """
            )
            func check() async throws -> ProcessOutcome {
                try await Program.run(["check", "--live"] + demo.options())
            }
            let good = try await check()
            for phrase in [
                "/authorize, sign-out at \(provider.issuer)/logout; register \(redirect) there", ": 1 key for",
            ] {
                #expect(good.succeeded && good.output.contains("\(provider.issuer)\(phrase)"), "\(good)")
            }
            try provider.describe(#"{"code_challenge_methods_supported": ["plain"]}"#)
            let unfit = try await check()
            #expect(unfit.end == .exited(1) && unfit.output.contains("without S256"), "\(unfit)")
        }
    }
}
