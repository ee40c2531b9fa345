// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `offer-signer sessions`, beside a service that people sign in to.
    @Suite struct SessionsCommandTests {
        private let provider: FakeIdentityProvider
        private let demo: DemoFolder

        init() async throws {
            provider = try FakeIdentityProvider()
            demo = try await DemoFolder()
            let entry = """

                  identityProviders: [{issuer: "\(provider.issuer)", name: "login", consoleSignIn: {clientId: "console",
                  redirectUri: "https://offers.example.com/console/signed-in", roleClaim: "groups",
                  roles: {auditors: "auditor"}}}],
                  customerIds: {
                """
            try demo.edit("keys", replacing: "\n  customerIds: {", with: entry)
        }

        /// The head of an answer to a browser that brings that cookie.
        private func head(_ service: RunningService, _ path: String, _ cookie: String = "") async throws -> String {
            let options = ["-sS", "--noproxy", "*", "-D", "-", "-o", "/dev/null", "-H", "Offer-Signer-Console: 1"]
            let outcome = try await runProcess(["curl"] + options + ["-H", "Cookie: \(cookie)", service.url + path])
            guard outcome.succeeded else { throw ChildProcess.Failure("\(outcome)") }
            return outcome.output
        }

        private static func cookie(_ head: String) throws -> String {
            String(try #require(head.firstMatch(of: #/(?i)set-cookie: ([^;]+)/#)).1)
        }

        /// Signs a person in; answers the cookie of the session.
        private func signIn(_ service: RunningService, subject: String = "anna") async throws -> String {
            let begun = try await head(service, "/console/sign-in?provider=login")
            func parameter(_ name: String) throws -> String {
                String(try #require(begun.firstMatch(of: try Regex("[?&]\(name)=([^&\\s]+)"))?[1].substring))
            }
            let now = Int(Date().timeIntervalSince1970)
            let claims = """
                {"iss": "\(provider.issuer)", "sub": "\(subject)", "aud": "console", "iat": \(now), "exp": \(now + 60),
                 "nonce": "\(try parameter("nonce"))", "groups": ["auditors"]}
                """
            let token = try provider.sign(header: #"{"alg": "ES256", "kid": "es1", "typ": "JWT"}"#, payload: claims)
            let challenge = try parameter("code_challenge")
            try provider.setCode(subject, answer: #"{"id_token": "\#(token)"}"#, challenge: challenge)
            let path = "/console/signed-in?code=\(subject)&state=\(try parameter("state"))"
            return try Self.cookie(try await head(service, path, try Self.cookie(begun)))
        }

        private func sessions(_ words: String...) async throws -> ProcessOutcome {
            try await Program.run(["sessions"] + words + ["--database", demo.location])
        }

        @Test func `a person's sessions are listed, and the running service ends them`() async throws {
            let service = try await RunningService(demo)
            let cookies = [try await signIn(service), try await signIn(service)]
            let other = try await signIn(service, subject: "bert")
            let lines = try await sessions("list").output.split(separator: "\n")
            #expect(lines.count == 3 && lines.allSatisfy { $0.contains("  auditor  since ") }, "\(lines)")
            let person = String(try #require(lines.first?.prefix { $0 != " " }))
            #expect(person.wholeMatch(of: #/console:login:[0-9a-f]{16}/#) != nil)
            let ended = try await sessions("end", person)
            #expect(ended.succeeded && ended.output.hasPrefix("2 sessions of \(person) ended"), "\(ended)")
            for cookie in cookies {
                try await eventually("the session is over") {
                    try await head(service, "/v1/callers/self", cookie).hasPrefix("HTTP/1.1 401")
                }
            }
            #expect(try await head(service, "/v1/callers/self", other).hasPrefix("HTTP/1.1 200"))
            #expect(try await sessions("list").output.split(separator: "\n").count == 1)

            let again = try await sessions("end", person)
            #expect(again.end == .exited(1) && again.errors.contains("\(person) has no session"), "\(again)")
            let query = ["audit", "query", "--event", "session.end", "--database", demo.location]
            let records = try await Program.run(query).output.split(separator: "\n")
            #expect(records.count == 1, "one entry, and none of what changed nothing: \(records)")
            for member in [#""by":"command""#, #""caller":"\#(person)""#, #""count":2"#] {
                #expect(records.first?.contains(member) == true, "\(records)")
            }
        }

        @Test func `a name that is no person's, and a database that is not there, are refused`() async throws {
            let caller = try await sessions("end", "web-backend")
            #expect(caller.end == .exited(2) && caller.errors.contains("console:NAME:PSEUDONYM"), "\(caller)")
            #expect(try await sessions("end").end == .exited(2))
            for words in [["list"], ["end", "console:login:0123456789abcdef"]] {
                let location = demo.directory.database("elsewhere.db")
                let outcome = try await Program.run(["sessions"] + words + ["--database", location])
                #expect(outcome.end == .exited(3) && outcome.errors.contains("there is no database"), "\(outcome)")
            }
        }
    }
}
