// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `offer-signer retention perf-test` with the fake App Store.
    // Its tests share one fake store.
    @Suite(.serialized) struct PerformanceTestCommandTests {
        private static let shared = Result { try FakeAppStore() }
        private static let requestID = "5f7c3a52-0000-4000-8000-000000000001"
        private static let times: FakeValue = ["average": 51, "p50": 48, "p90": 80, "p95": 95, "p99": 130]
        private static let pass: FakeAppStore.Members = [
            "result": "PASS", "successRate": 100, "numPending": 0, "responseTimes": times, "failures": [:],
        ]
        private static let fail: FakeAppStore.Members = [
            "result": "FAIL", "successRate": 90, "numPending": 0, "responseTimes": times,
            "failures": ["TIMED_OUT": 3, "TLS_ISSUE": 7],
        ]
        private static func pending(_ count: Int) -> FakeAppStore.Members {
            ["result": "PENDING", "successRate": 0, "numPending": .integer(count)]
        }

        private let store: FakeAppStore
        private let demo: DemoFolder
        private let transaction: String

        init() async throws {
            store = try Self.shared.get()
            try store.reset()
            demo = try await RetentionExample.demo(store)
            try store.setMessaging(RetentionExample.approved, realtimeURL: RetentionExample.url, in: .sandbox)
            let subscription = FakeAppStore.Subscription(.active)
            let ids = try store.setCustomer(
                FakeAppStore.Customer("anna", environment: .sandbox, subscriptions: [subscription])
            )
            transaction = ids.subscriptions[0].originalTransactionID
        }

        private func run(_ words: String..., database: String? = nil) async throws -> ProcessOutcome {
            try await Program.run(
                [
                    "retention", "perf-test", "--app-store-sandbox-url", store.apiOrigin(.sandbox),
                    "--trusted-certificates", store.tlsCAPath, "--keys", demo.path(of: "keys"), "--offers",
                    demo.path(of: "offers"), "--every", "1", "--database",
                    database ?? "sqlite:\(demo.path(of: "none.db"))",
                ] + words
            )
        }

        @Test func `a test that passes is waited for, and its figures are printed`() async throws {
            try store.setPerformanceTest([Self.pending(60), Self.pending(10), Self.pass])
            let outcome = try await run("--transaction", transaction)
            #expect(outcome.succeeded, "\(outcome)")
            let text = outcome.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            for phrase in [
                "result PASS", "app com.example.app", "request \(Self.requestID)", "target \(RetentionExample.url)",
                "load 100 requests in 60 s, at most 10 at once", "success rate 100 %, at least 95 % demanded",
                "times average 51 ms, p50 48 ms, p90 80 ms, p95 95 ms, p99 130 ms; at most 700 ms each",
            ] { #expect(text.contains(phrase), "\(phrase): \(outcome)") }
            #expect(!text.contains("failures"))
            for phrase in ["test \(Self.requestID) has begun: 100 requests", "60 requests to go", "10 requests to go"] {
                #expect(outcome.errors.contains(phrase), "\(phrase): \(outcome)")
            }
            let counts = try store.counts()
            #expect(counts.requests(to: .performanceTest, in: .sandbox) == 1)
            #expect(counts.requests(to: .performanceTestResult, in: .sandbox) == 3)
            let sent = try store.requests().first { $0.endpoint == "performanceTest" }
            #expect(sent?.body == #"{"originalTransactionId":"\#(transaction)"}"#)
            #expect(!FileManager.default.fileExists(atPath: demo.path(of: "none.db")), "no database is made")
        }

        @Test func `a test that fails says why, as text and as JSON, and is resumed by its ID`() async throws {
            try store.setPerformanceTest([Self.fail])
            let failed = try await run("--transaction", transaction)
            #expect(failed.end == .exited(1), "\(failed)")
            #expect(failed.output.contains("TLS_ISSUE 7, TIMED_OUT 3"), "\(failed)")
            #expect(failed.output.contains("→ TLS_ISSUE: the certificate"), "\(failed)")
            let resumed = try await run("--request", Self.requestID, "--format", "json")
            #expect(
                resumed.end == .exited(1) && resumed.errors.hasSuffix("no use of the key is recorded\n"),
                "\(resumed)"
            )
            let json = try #require(
                try JSONSerialization.jsonObject(with: Data(resumed.output.utf8)) as? [String: Any]
            )
            #expect(json["result"] as? String == "FAIL" && json["successRate"] as? Int == 90)
            #expect((json["failures"] as? [String: Int]) == ["TIMED_OUT": 3, "TLS_ISSUE": 7])
            #expect((json["responseTimes"] as? [String: Int])?["p99"] == 130)
            #expect((json["config"] as? [String: Int])?["responseTimeThreshold"] == 700)
            #expect(json["bundleId"] as? String == "com.example.app" && json["requestId"] as? String == Self.requestID)
            #expect(try store.counts().requests(to: .performanceTest) == 1)
        }

        @Test func `with a database, each use of the key is on record first, and a disabled key is not used`()
            async throws
        {
            try store.setPerformanceTest([Self.pass])
            #expect(try await run("--transaction", transaction, database: demo.location).succeeded)
            let record = try await Program.run([
                "audit", "query", "--event", "store.token", "--database", demo.location,
            ])
            #expect(record.output.contains("ABC123DEFG"), "\(record)")
            #expect(try await Program.run(["keys", "disable", "ABC123DEFG"] + demo.options()).succeeded)
            let refused = try await run("--request", Self.requestID, database: demo.location)
            #expect(refused.end == .exited(1) && refused.errors.contains("no key is active"), "\(refused)")
        }

        /// What a start is answered, how the command ends, and what it says.
        static let starts: [(FakeAppStore.Misbehaviour, Int32, String)] = [
            (.error(4_000_211), 1, "4000211): the sandbox needs a real-time URL"),
            (.error(4_000_213), 1, "a test runs already"), (.error(4_000_187), 1, "not an original transaction ID"),
            (.error(4_000_185), 1, "shared by a family"), (.error(4_000_183), 1, "an app transaction ID"),
            (.error(4_040_010), 1, "the sandbox knows no such transaction"), (.status(404), 1, "is not granted"),
            (.unauthorized, 1, "refuses the key (401)"), (.error(4_000_999), 1, "code 4000999"),
            (.rateLimit, 3, "429"), (.status(502), 3, "fails by itself (502)"), (.close, 3, "could not be reached"),
            (.answer(body: "{}"), 1, "no answer of the Retention Messaging API"),
        ]

        @Test(arguments: starts)
        func `a test that cannot start says what to do`(
            misbehaviour: FakeAppStore.Misbehaviour,
            code: Int32,
            phrase: String
        ) async throws {
            try store.misbehave(misbehaviour, at: .performanceTest)
            let outcome = try await run("--transaction", transaction)
            #expect(outcome.end == .exited(code) && outcome.errors.contains(phrase), "\(outcome)")
            #expect(outcome.output.isEmpty)
            #expect(try store.counts().requests(to: .performanceTestResult) == 0)
        }

        @Test func `the store's own answers to IDs that are wrong are explained`() async throws {
            let unknown = try await run("--request", "5f7c3a52-0000-4000-8000-00000000000f")
            #expect(unknown.end == .exited(1) && unknown.errors.contains("knows no such test"), "\(unknown)")
            let none = try await run("--request", "one")
            #expect(none.end == .exited(1) && none.errors.contains("this is no request ID"), "\(none)")
            try store.setMessaging(RetentionExample.approved, realtimeURL: nil, in: .sandbox)
            let noURL = try await run("--transaction", transaction)
            #expect(noURL.end == .exited(1) && noURL.errors.contains("needs a real-time URL"), "\(noURL)")
        }

        @Test func `answers that fail for a while are asked for again`() async throws {
            try store.setPerformanceTest([Self.pass])
            try store.misbehave(.status(503), at: .performanceTestResult, times: 1)
            try store.misbehave(.unauthorized, at: .performanceTestResult, times: 1)
            try store.misbehave(.close, at: .performanceTestResult, times: 1)
            let outcome = try await run("--transaction", transaction)
            #expect(outcome.succeeded && outcome.errors.contains("asked again soon"), "\(outcome)")
            try store.misbehave(.unauthorized, at: .performanceTestResult)
            let refused = try await run("--request", Self.requestID)
            #expect(refused.end == .exited(1) && refused.errors.contains("refuses the key"), "\(refused)")
        }

        @Test func `what is wrong on the command line or in the files is said before anything is asked`() async throws {
            for (words, phrase) in [
                ([], "--transaction or --request is missing"),
                (["--transaction", "1", "--request", "x"], "--transaction to start a test"),
                (["--transaction", ""], "--transaction: expected"), (["--request", "x", "--every", "0"], "1 to 600"),
                (["--request", "x", "--format", "csv"], "text or json"),
            ] {
                let outcome = try await Program.run(["retention", "perf-test"] + words + demo.options())
                #expect(outcome.end == .exited(2) && outcome.errors.contains(phrase), "\(outcome)")
            }
            let other = try await run("--transaction", transaction, "--app", "com.example.other")
            #expect(other.end == .exited(1) && other.errors.contains("has no app com.example.other"), "\(other)")
            try demo.write(RetentionExample.offers(environments: #"["production"]"#), to: "offers")
            let production = try await run("--transaction", transaction, "--app", "com.example.app")
            #expect(
                production.end == .exited(1) && production.errors.contains("must take the sandbox"),
                "\(production)"
            )
            #expect(try store.counts().connections == 0)
        }
    }
}
