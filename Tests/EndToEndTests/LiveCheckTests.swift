// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `offer-signer check --live` with the fake App Store: what is wrong is said, and each use of a key is on record.
    // Its tests share one fake store.
    @Suite(.serialized) struct LiveCheckTests {
        static let issuer = "57246542-96fe-1a63-e053-0824d011072a"
        private static let shared = Result { try FakeAppStore() }

        private let store: FakeAppStore
        private let demo: DemoFolder

        init() async throws {
            store = try Self.shared.get()
            try store.reset()
            try store.setTLS(.good)
            demo = try await DemoFolder()
            try demo.edit("keys", replacing: "purposes: [", with: #"purposes: ["app-store-server-api", "#)
            try register()
        }

        private func register(
            _ keyID: String = "ABC123DEFG",
            issuer: String = issuer,
            bundle: String = DemoFolder.bundle
        ) throws {
            try store.registerKey(
                keyID: keyID,
                issuerID: issuer,
                publicKeyPEM: demo.text(of: "public-key.pem"),
                bundleIDs: [bundle]
            )
        }

        private func check(database: String = DemoFolder.name, trusts: Bool = true) async throws -> ProcessOutcome {
            let trusted = trusts ? ["--trusted-certificates", store.tlsCAPath] : []
            return try await Program.run(
                [
                    "check", "--live", "--app-store-url", store.apiOrigin(.production), "--app-store-sandbox-url",
                    store.apiOrigin(.sandbox),
                ] + trusted + demo.options(database: database)
            )
        }

        private func tokensOnRecord() async throws -> Int {
            let outcome = try await Program.run(
                ["audit", "query", "--event", "store.token", "--database", demo.location]
            )
            return outcome.output.split(separator: "\n").count { $0.contains("ABC123DEFG") }
        }

        private func expect(_ outcome: ProcessOutcome, _ exitCode: Int32, _ phrases: String...) {
            #expect(outcome.end == .exited(exitCode), "\(outcome)")
            let text = outcome.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            for phrase in phrases { #expect(text.contains(phrase), "\(outcome)") }
        }

        @Test func `a key that is right is accepted, by one question for each environment`() async throws {
            let outcome = try await check()
            expect(outcome, 0, "production accepted 404, code 4040010", "sandbox accepted", "2 of 2 accepted")
            #expect(!outcome.output.contains("→"))
            #expect(outcome.errors.split(separator: "\n").allSatisfy { $0.hasPrefix("warning: ") })
            let counts = try store.counts()
            #expect(counts.requests(to: .transactionInfo, in: .production) == 1)
            #expect(counts.requests(to: .transactionInfo, in: .sandbox) == 1)
            #expect(counts.requests(to: .any) == 0 && counts.tokens == 1)
            #expect(try await tokensOnRecord() == 1)
            // The token itself is nowhere.
            #expect(!outcome.output.contains("eyJ"))
        }

        @Test func `check notes what the App Store can't tell`() async throws {
            let well = try await Program.run(["check"] + demo.options())
            #expect(well.succeeded && !well.output.contains("note:"), "\(well)")
            try demo.edit("keys", replacing: #""app-store-server-api", "#, with: "")
            try demo.edit(
                "offers",
                replacing: "appAppleId: 1234567890,",
                with: #"environments: ["production"],"#
            )
            let noted = try await Program.run(["check"] + demo.options())
            #expect(noted.succeeded, "\(noted)")
            for note in ["stays unknown for winback, stay", "without appAppleId", "only production is"] {
                #expect(noted.output.contains(/note: com\.example\.app: .*/) && noted.output.contains(note), "\(noted)")
            }
        }

        @Test func `check alone sends no request and records nothing`() async throws {
            let outcome = try await Program.run(["check"] + demo.options())
            #expect(outcome.succeeded, "\(outcome)")
            #expect(try store.counts().connections == 0)
            #expect(try await tokensOnRecord() == 0)
        }

        @Test(arguments: WrongKey.allCases)
        func `a key that is wrong is refused, with all that it may be`(_ wrong: WrongKey) async throws {
            switch wrong {
            case .idNotRegistered:
                try store.revokeKey("ABC123DEFG")
                try register("ZZZ123DEFG")
            case .revoked: try store.revokeKey("ABC123DEFG")
            case .otherIssuer: try register(issuer: "00000000-0000-4000-8000-000000000000")
            case .otherBundle: try register(bundle: "com.example.other")
            }
            let outcome = try await check()
            expect(
                outcome,
                1,
                "production refused 401",
                "sandbox refused 401",
                "key id ABC123DEFG",
                "issuer id \(Self.issuer)",
                "bundle id com.example.app",
                "0 of 2 accepted"
            )
            #expect(try await tokensOnRecord() == 1)
        }

        @Test func `an app that is not approved yet is distinguished from a wrong key`() async throws {
            try store.misbehave(.unauthorized, in: .production)
            let outcome = try await check()
            expect(outcome, 1, "production refused 401", "sandbox accepted", "never approved", "1 of 2 accepted")
        }

        @Test func `what another app of the key proves is used`() async throws {
            try demo.edit("keys", replacing: #"["com.example.app"]"#, with: #"["com.example.app", "com.example.two"]"#)
            try demo.edit(
                "offers",
                replacing: "  apps: [\n",
                with: """
                      apps: [
                        { bundleId: "com.example.two", plans: [{ id: "p", appStore: { productId: "p" },
                          offers: [{ id: "o", appStore: { offerId: "o" } }] }] },

                    """
            )
            let outcome = try await check()
            expect(outcome, 1, "accepted for com.example.app. Wrong is the bundle id com.example.two")
            #expect(!outcome.output.contains("the key id"))
            #expect(try await tokensOnRecord() == 2)
        }

        @Test func `a clock that is wrong is found by the store's`() async throws {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(identifier: "GMT")
            formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
            let date = formatter.string(from: Date(timeIntervalSinceNow: -7200))
            try store.misbehave(.answer(status: 401, body: "", headers: ["Date": .text(date)]))
            let outcome = try await check()
            expect(outcome, 1, "s ahead of the App Store's", "set the clock")
            #expect(outcome.output.contains(/clock is 7(19[0-9]|2[0-9][0-9]) s ahead/), "\(outcome)")
            #expect(!outcome.output.contains("the key id"))
        }

        @Test func `a store that is down has an exit code of its own`() async throws {
            try store.listen(false)
            let outcome = try await check()
            try store.listen(true)
            expect(outcome, 3, "not reached cannot-connect", "0 of 2 accepted")
        }

        @Test func `reports a certificate that is not trusted`() async throws {
            expect(try await check(trusts: false), 3, "not reached certificate-not-trusted", "--trusted-certificates")
            try store.setTLS(.expired)
            expect(try await check(), 3, "not reached certificate-not-trusted")
        }

        @Test func `limits and failures of the store are not blamed on the key`() async throws {
            try store.misbehave(.rateLimit(millisecondsFromNow: 60_000), in: .production)
            try store.misbehave(.status(503), in: .sandbox)
            expect(try await check(), 3, "production limited 429", "sandbox failed 503", "0 of 2 accepted")
            #expect(try store.counts().requests(to: .transactionInfo) == 2, "nothing is tried again")
        }

        @Test func `signs nothing and sends no request without a record`() async throws {
            let outcome = try await check(database: "missing.db")
            #expect(outcome.end == .exited(3), "\(outcome)")
            #expect(outcome.errors.contains("There is no database"))
            #expect(try !demo.directory.hasDatabase("missing.db"), "none is made")
            try demo.directory.makeStrangeDatabase("no.db")
            let strange = try await check(database: "no.db")
            #expect(strange.end == .exited(3), "\(strange)")
            #expect(try store.counts().connections == 0)
        }

        @Test func `a key that an administrator has disabled is not used`() async throws {
            let disabled = try await Program.run(["keys", "disable", "ABC123DEFG"] + demo.options())
            #expect(disabled.succeeded, "\(disabled)")
            expect(try await check(), 1, "com.example.app not asked: no key is active", "Nothing was asked")
            #expect(try store.counts().connections == 0)
            #expect(try await tokensOnRecord() == 0)
        }

        @Test func `a service that runs on the same database is not disturbed`() async throws {
            let service = try await RunningService(demo)
            expect(try await check(), 0, "2 of 2 accepted")
            let answer = try service.sign(demo.request(customer: "anna"))
            #expect(answer.status == 200)
            #expect(try await tokensOnRecord() == 1)
        }
    }

    enum WrongKey: String, CaseIterable {
        case idNotRegistered, revoked, otherIssuer, otherBundle
    }
}
