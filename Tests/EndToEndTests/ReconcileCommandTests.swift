// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `offer-signer audit reconcile` beside a service that the fake App Store notifies of purchases.
    // Its tests share one fake store.
    @Suite(.serialized) struct ReconcileCommandTests {
        private static let shared = Result { try FakeAppStore() }
        private static let token = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"

        private let store: FakeAppStore
        private let demo: DemoFolder

        init() async throws {
            store = try Self.shared.get()
            try store.reset()
            demo = try await DemoFolder()
        }

        private var storeOptions: [String] {
            ["--app-store-roots", store.rootPEMPath, "--revocation-check", "off"]
        }

        private func reconcile(_ options: String...) async throws -> ProcessOutcome {
            try await Program.run(["audit", "reconcile"] + options + demo.options())
        }

        /// A customer bought with the demo's offer just now, and Apple notifies the service.
        private func tell(_ service: RunningService, of customer: String, token: String) throws {
            let ids = try store.setCustomer(
                FakeAppStore.Customer(
                    customer,
                    appAccountToken: token,
                    subscriptions: [
                        .init(
                            .active,
                            productID: "com.example.pro.monthly",
                            periods: 1,
                            startedDaysAgo: 0,
                            offers: [.init(2, "winback_3m", period: 0)]
                        )
                    ]
                )
            )
            let body = try store.signNotification(
                .init("SUBSCRIBED", transactionID: ids.subscriptions[0].originalTransactionID)
            ).body
            let answer = try service.ask("/v1/notifications/app-store", method: "POST", body: body)
            #expect(answer.status == 200, "\(answer)")
        }

        @Test func `shows what was redeemed and not granted, and ends with 1`() async throws {
            let service = try await RunningService(demo, options: storeOptions)
            let nothing = try await reconcile()
            #expect(nothing.succeeded && nothing.output.contains("Redeemed without a record: 0\n"), "\(nothing)")
            let request = demo.request(customer: "anna", token: Self.token)
            #expect(try service.sign(request).status == 200)
            try tell(service, of: "anna", token: Self.token)
            let granted = try await reconcile()
            #expect(granted.succeeded && granted.output.contains("Redeemed as granted: 1\n"), "\(granted)")

            try tell(service, of: "bert", token: UUID().uuidString.lowercased())
            let found = try await reconcile("--recompute")
            #expect(found.end == .exited(1), "\(found)")
            #expect(found.output.contains("Redeemed without a record: 1\n"))
            #expect(
                found.output.contains(
                    "app-store com.example.app  com.example.pro.monthly  winback_3m  redeemed  entry "
                )
            )
            #expect(found.output.contains("the same for all 2 uses"))
            #expect(!found.output.contains(Self.token) && !found.output.contains("anna"))
            let command = ["audit", "reconcile", "--recompute", "--offers", demo.path(of: "none")]
            let missing = try await Program.run(command + ["--database", demo.location])
            #expect(missing.end == .exited(1) && missing.output.isEmpty, "\(missing)")
            let before = try await reconcile("--until", "2026-01-01T00:00:00Z", "--environment=production")
            #expect(before.succeeded, "\(before)")
            #expect(try await service.stop() == .exited(0))
        }

        @Test func `what makes no sense is not begun`() async throws {
            let rows: [([String], Int32)] = [
                (["--from", "someday"], 2), (["--environment", "xcode"], 2), (["now"], 2), (["--recompute=yes"], 2),
                (["--from", "2026-02-01T00:00:00Z", "--until", "2026-01-01T00:00:00Z"], 2),
                (["--database", demo.directory.database("no.db")], 3),
            ]
            for (options, exitCode) in rows {
                let database = options.contains("--database") ? [] : ["--database", demo.location]
                let outcome = try await Program.run(["audit", "reconcile"] + options + database)
                #expect(outcome.end == .exited(exitCode), "\(outcome)")
            }
        }
    }
}
