// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The service is killed again and again; nothing that a caller received is lost.
    @Suite struct CrashTests {
        /// How often; `OFFER_SIGNER_TEST_CRASH_ROUNDS=1000 swift test --filter CrashTests` searches for longer.
        private static let rounds =
            ProcessInfo.processInfo.environment["OFFER_SIGNER_TEST_CRASH_ROUNDS"].flatMap { Int($0) }
            ?? TestRing.rounds(15, nightly: 50)

        @Test func `every signature that was delivered survives kill -9 under load`() async throws {
            let demo = try await DemoFolder()
            try demo.liftBudget()
            try demo.lowerCap()
            // Each customer asks five times, while the offer's rule admits three: the cap is at stake in each crash.
            let load = try Load(demo, threads: 8, attempts: 5)
            var port: UInt16 = 0
            var delivered: [Int] = []
            for round in 0..<Self.rounds {
                let service = try await RunningService(demo, port: port)
                port = service.port
                let before = Load.deliveredBytes(to: demo)
                try Load.aim(at: service)
                // Most kills come amid work, however slow the machine is, and some before there is any.
                if round % 4 > 0 {
                    try await eventually("signatures are made") { Load.deliveredBytes(to: demo) > before }
                }
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...400)))
                service.process.send(SIGKILL)
                #expect(try await service.process.waitForEnd() == .killed(bySignal: SIGKILL))
                delivered.append(Load.deliveredBytes(to: demo))
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
            let spoilt = TestedEngine.replacing(#""v":1"#, with: #""v": 1"#, in: "entry")
            let statements = [
                "DELETE FROM audit_entries WHERE entry_index = (SELECT max(entry_index) / 2 FROM audit_entries)",
                "UPDATE audit_entries SET entry = \(spoilt) WHERE entry_index = 9",
                // A grant may be in both tables.
                "DELETE FROM grants_by_time WHERE place < 100 * 256; DELETE FROM grants WHERE entry_index < 100",
                "UPDATE grants_per_day SET granted = granted + 1",
            ]
            for statement in statements {
                try demo.directory.copyDatabase(DemoFolder.name, to: "copy.db")
                try demo.directory.alter("copy.db", statement)
                let verdict = try await Load.checkRecords(of: demo, database: "copy.db")
                #expect(verdict.end == .exited(1), "\(statement): \(verdict)")
            }
        }
    }
}
