// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The service is killed again and again; nothing that anybody was given is lost.
    @Suite struct CrashTests {
        /// How often; `OFFER_SIGNER_TEST_CRASH_ROUNDS=1000 swift test --filter CrashTests` searches for longer.
        private static let rounds =
            ProcessInfo.processInfo.environment["OFFER_SIGNER_TEST_CRASH_ROUNDS"].flatMap { Int($0) } ?? 50

        @Test func `every signature that was delivered survives kill -9 under load`() async throws {
            let demo = try await DemoFolder()
            try demo.liftBudget()
            // Each customer asks five times, while the offer's rule admits three: the cap is at stake in each crash.
            let load = try Load(demo, threads: 8, attempts: 5)
            var port: UInt16 = 0
            var delivered: [Int] = []
            for _ in 0..<Self.rounds {
                let service = try await RunningService(demo, port: port)
                port = service.port
                try Load.aim(at: service)
                try await Task.sleep(for: .milliseconds(Int.random(in: 50...500)))
                service.process.send(SIGKILL)
                #expect(try await service.process.waitForEnd() == .killed(bySignal: SIGKILL))
                delivered.append(Load.delivered(to: demo))
            }
            let last = try await RunningService(demo, port: port)
            let counts = try await load.stop()
            #expect(try await last.stop() == .exited(0))

            let verdict = try await Load.checkRecords(of: demo)
            #expect(verdict.succeeded, "\(verdict)")
            // The kills came amid work, or the test has shown nothing.
            #expect(counts["no answer", default: 0] > Self.rounds / 2, "\(counts)")
            #expect(zip(delivered, delivered.dropFirst()).count { $0 < $1 } > Self.rounds / 2, "\(delivered)")
            #expect(counts["403", default: 0] > 0, "\(counts)")
            print(
                "crashes: \(Self.rounds) rounds, \(counts), delivered and recorded: \(verdict.output)",
                terminator: ""
            )
            try await complainsWhenTampered(demo)
        }

        /// The check of the records is not content with any record.
        private func complainsWhenTampered(_ demo: DemoFolder) async throws {
            let statements = [
                "DELETE FROM audit_entries WHERE entry_index = (SELECT max(entry_index) / 2 FROM audit_entries)",
                "UPDATE audit_entries SET entry = replace(entry, '\"v\":1', '\"v\": 1') WHERE entry_index = 9",
                "DELETE FROM new_grants WHERE grant_id = (SELECT max(grant_id) FROM new_grants)",
                "UPDATE grants_per_day SET granted = granted + 1",
            ]
            for statement in statements {
                let copy = demo.directory.path(of: "copy.db")
                try? FileManager.default.removeItem(atPath: copy)
                try FileManager.default.copyItem(atPath: demo.database, toPath: copy)
                let script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])"
                let change = try await runProcess([Program.python, "-c", script, copy, statement])
                #expect(change.succeeded, "\(change)")
                let verdict = try await Load.checkRecords(of: demo, database: copy)
                #expect(verdict.end == .exited(1), "\(statement): \(verdict)")
            }
        }
    }
}
