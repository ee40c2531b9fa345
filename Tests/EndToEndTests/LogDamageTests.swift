// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Each check of the log notices a change of any byte.
    @Suite struct LogDamageTests {
        /// How many bytes of each column are changed; `OFFER_SIGNER_TEST_LOG_CHANGES=1000000` is all of them.
        private static let changes =
            ProcessInfo.processInfo.environment["OFFER_SIGNER_TEST_LOG_CHANGES"].flatMap { Int($0) }
            ?? TestRing.rounds(4, nightly: 24)

        @Test func `every changed byte of what is exported is rejected by the independent verifier`() async throws {
            let audited = try await loaded(requests: 1)
            let sample = try TemporaryDirectory()
            let export = try await audited.audit("export", "--tiles", sample.path(of: "log"))
            #expect(export.succeeded, "\(export)")
            try sample.write(Array(audited.verifierKey.utf8), to: "vkey")
            let outcome = try await LogVerifier.go(
                "test",
                "-count=1",
                "-v",
                "-run",
                "GivenLog",
                ".",
                environment: ["LOGVERIFIER_FOLDER": sample.path, "LOGVERIFIER_STEP": "1"]
            )
            #expect(outcome.succeeded, "\(outcome)")
            #expect(outcome.output.contains("changes were rejected"), "\(outcome)")
        }

        @Test(arguments: [
            "audit_entries entry", "log_tiles hashes", "log_head root_hash", "log_head size", "checkpoints note",
            "checkpoints root_hash", "checkpoints size",
        ])
        func `a changed byte in the database is refused by the command that verifies`(_ place: String) async throws {
            let audited = try await loaded(requests: 160)
            let command = [Program.path, "audit", "verify"] + audited.demo.options()
            let verdict = try await damage(audited, place, command: command)
            #expect(verdict.succeeded, "\(verdict)")
        }

        @Test(arguments: ["audit_entries entry", "log_tiles hashes"])
        func `a changed byte in the database of a running service is rejected over HTTP`(
            _ place: String
        ) async throws {
            let audited = try await loaded(requests: 160)
            let service = try await RunningService(audited.demo)
            try await audited.settle(service)
            // What is asked for is counted in the log too, so this is not the only checkpoint that the verifier sees.
            let verdict = try await damage(audited, place, command: try await audited.verification(of: service))
            #expect(verdict.succeeded, "\(verdict)")
            #expect(try await service.stop() == .exited(0))
        }

        @Test(arguments: ["log_head root_hash", "log_head size", "checkpoints note"])
        func `a service does not start on a log with a changed head or checkpoint`(_ place: String) async throws {
            let audited = try await loaded(requests: 2)
            // `timeout` exits with 124 when it had to stop a running service.
            let command = ["sh", "-c", "timeout 3 \"$@\"; [ $? = 124 ]", "sh", Program.path, "serve"]
            let verdict = try await damage(
                audited,
                place,
                command: command + ["--listen", "127.0.0.1:0"] + audited.demo.options(),
                changes: 4
            )
            #expect(verdict.succeeded, "\(verdict)")
        }

        /// Changes bytes of a column, and has a command judge each.
        private func damage(
            _ audited: AuditedDemo,
            _ place: String,
            command: [String],
            changes: Int = changes
        ) async throws -> ProcessOutcome {
            let words = place.split(separator: " ").map(String.init)
            return try await runProcess(
                [Program.python, "-B", Program.checker("damaged_log"), audited.demo.location] + words
                    + ["\(changes)"] + command,
                patience: 3600
            )
        }

        /// An example after that many requests; its log has a few entries more than they leave.
        private func loaded(requests: Int) async throws -> AuditedDemo {
            let audited = try await AuditedDemo()
            let service = try await RunningService(audited.demo)
            try Load.aim(at: service)
            let counts = try await Load(audited.demo, requests: requests).finish()
            #expect(counts == ["200": requests])
            try await audited.settle(service)
            #expect(try await service.stop() == .exited(0))
            return audited
        }
    }
}
