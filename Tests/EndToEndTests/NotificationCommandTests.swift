// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `offer-signer notifications catch-up` with the fake App Store.
    // Its tests share one fake store.
    @Suite(.serialized) struct NotificationCommandTests {
        private static let shared = Result { try FakeAppStore() }

        private let store: FakeAppStore
        private let demo: DemoFolder

        init() async throws {
            store = try Self.shared.get()
            try store.reset()
            demo = try await DemoFolder()
            try demo.edit("keys", replacing: #"purposes: ["#, with: #"purposes: ["app-store-server-api", "#)
            try store.registerKey(
                keyID: "ABC123DEFG",
                issuerID: "57246542-96fe-1a63-e053-0824d011072a",
                publicKeyPEM: demo.text(of: "public-key.pem"),
                bundleIDs: [DemoFolder.bundle]
            )
        }

        private func catchUp(_ options: String...) async throws -> ProcessOutcome {
            try await Program.run(
                [
                    "notifications", "catch-up", "--app-store-url", store.apiOrigin(.production),
                    "--app-store-sandbox-url", store.apiOrigin(.sandbox), "--app-store-roots", store.rootPEMPath,
                    "--trusted-certificates", store.tlsCAPath,
                ] + options + demo.options()
            )
        }

        private func fill(_ count: Int) throws {
            for _ in 0..<count {
                var notification = FakeAppStore.Notification("TEST")
                notification.sendAttempts = ["TIMED_OUT"]
                _ = try store.signNotification(notification)
            }
        }

        private func entries(_ event: String) async throws -> Int {
            let outcome = try await Program.run(
                ["audit", "query", "--event", event, "--database", demo.location]
            )
            return outcome.output.split(separator: "\n").count
        }

        @Test func `what was missed is on record afterwards, alone and beside the service`() async throws {
            try fill(23)
            let alone = try await catchUp()
            #expect(alone.succeeded && alone.errors.isEmpty, "\(alone)")
            #expect(alone.output.contains("com.example.app production: 23 sent since"), "\(alone)")
            #expect(alone.output.contains("23 were missing, 0 known"), "\(alone)")
            #expect(alone.output.contains("23 notifications are on record now that were missing"))
            #expect(try await entries("store.notification") == 23)
            #expect(try await entries("store.token") == 1)
            #expect(try await entries("key.load") >= 1)

            let service = try await RunningService(demo)
            #expect(try service.sign(demo.request(customer: "anna")).status == 200)
            try fill(2)
            let beside = try await catchUp("--only-failures", "yes", "--environment", "production")
            #expect(beside.succeeded, "\(beside)")
            #expect(beside.output.contains("25 sent since") && beside.output.contains("2 were missing, 23 known"))
            #expect(!beside.output.contains("sandbox"))
            #expect(try service.sign(demo.request(customer: "bert")).status == 200)
            #expect(try await entries("store.notification") == 25)
        }

        @Test func `what is wrong is said, with an exit code that tells what to do`() async throws {
            try fill(1)
            try store.revokeKey("ABC123DEFG")
            let refused = try await catchUp("--environment", "production")
            #expect(refused.end == .exited(1), "\(refused)")
            #expect(refused.errors.contains("refuses our credentials"))
            #expect(refused.errors.contains("fix what is reported above"))

            try store.misbehave(.rateLimit(millisecondsFromNow: 3_600_000), at: .notificationHistory)
            let limited = try await catchUp("--environment", "production")
            #expect(limited.end == .exited(3), "\(limited)")
            #expect(limited.errors.contains("it may be asked again from"), "\(limited)")
            #expect(limited.errors.contains("run it again later"))
            #expect(limited.output.contains("0 notifications are on record now"))
        }

        @Test func `what makes no sense is not begun`() async throws {
            let rows: [([String], Int32, String)] = [
                (["--since", "someday"], 2, "--since"), (["--since", "2020-01-01T00:00:00Z"], 2, "180 days"),
                (["--since", "2120-01-01T00:00:00Z"], 2, "180 days"), (["--environment", "xcode"], 2, "production"),
                (["--only-failures", "maybe"], 2, "yes or no"), (["--app", "com.example.else"], 1, "no such app"),
            ]
            for (options, exitCode, complaint) in rows {
                let outcome = try await Program.run(["notifications", "catch-up"] + options + demo.options())
                #expect(outcome.end == .exited(exitCode), "\(outcome)")
                #expect(outcome.errors.contains(complaint), "\(outcome)")
            }
            let nothing = try await Program.run(["notifications"] + demo.options())
            #expect(nothing.end == .exited(2) && nothing.errors.contains("catch-up"))
            let elsewhere = try await Program.run(
                ["notifications", "catch-up"] + demo.options(database: "no.db")
            )
            #expect(elsewhere.end == .exited(3), "\(elsewhere)")
            #expect(try store.counts().connections == 0)
        }
    }
}
