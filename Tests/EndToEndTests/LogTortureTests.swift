// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The log that grew under load and kills is whole, in the eyes of programs that know nothing of the service.
    @Suite struct LogTortureTests {
        /// How long the log gets; `OFFER_SIGNER_TEST_LOG_ENTRIES=100000 swift test --filter LogTortureTests` is longer.
        private static let entries =
            ProcessInfo.processInfo.environment["OFFER_SIGNER_TEST_LOG_ENTRIES"].flatMap { Int64($0) }
            ?? Int64(TestRing.rounds(2_000, nightly: 10_000))

        @Test func `a log that grew under load and kill -9 is verified by code that the service does not share`()
            async throws
        {
            let audited = try await AuditedDemo()
            try audited.demo.liftBudget()
            let (service, kills) = try await grow(audited, to: Self.entries)
            try await audited.settle(service)
            let history = audited.demo.directory.path(of: "history")
            let entries = audited.demo.directory.path(of: "entries")

            let verdict = try await audited.verify(service, "--history", history, "--entries", entries)
            #expect(verdict.succeeded, "\(verdict)")
            #expect(verdict.output.contains("consistent with"))
            let note = try audited.demo.directory.write(Array(try audited.checkpoint(service).utf8), to: "note")
            let openssl = try await LogVerifier.script("verify-checkpoint", audited.verifierKey, note)
            #expect(openssl.succeeded, "\(openssl)")

            let holds = try await Program.check(
                "log_holds_answers",
                entries,
                Load.deliveries(of: audited.demo),
                DemoFolder.bundle,
                DemoFolder.product
            )
            #expect(holds.succeeded, "\(holds)")
            #expect(try await service.stop() == .exited(0))
            print("log: \(kills) kills, answers and entries \(holds.output)\(verdict.output)", terminator: "")
            try await export(audited, history)
        }

        /// Kills and restarts a service under load until its log has that many entries.
        private func grow(_ audited: AuditedDemo, to size: Int64) async throws -> (RunningService, kills: Int) {
            let demo = audited.demo
            let load = try Load(demo, threads: 16, attempts: 5)
            let poller = try CheckpointPoller(audited)
            var port: UInt16 = 0
            var kills = 0
            while true {
                let service = try await RunningService(demo, port: port)
                port = service.port
                try Load.aim(at: service)
                try await Task.sleep(for: .milliseconds(Int.random(in: 100...1000)))
                guard try kills < 5 || audited.logState(service).size < size else {
                    let counts = try await load.stop()
                    // The kills came amid work, or the test has shown nothing.
                    #expect(counts["no answer", default: 0] > kills / 2, "\(counts)")
                    try await audited.settle(service)
                    print("checkpoints: \(try await poller.stop()), \(counts)")
                    return (service, kills)
                }
                service.process.send(SIGKILL)
                #expect(try await service.process.waitForEnd() == .killed(bySignal: SIGKILL))
                kills += 1
            }
        }

        /// The same log as files, and the service's own verdict.
        private func export(_ audited: AuditedDemo, _ history: String) async throws {
            let folder = audited.demo.directory.path(of: "tiles")
            let outcome = try await audited.audit("export", "--tiles", folder)
            #expect(outcome.succeeded, "\(outcome)")
            let verdict = try await audited.verify(folder: folder, "--history", history)
            #expect(verdict.succeeded, "\(verdict)")
            let own = try await audited.audit("verify")
            #expect(own.succeeded, "\(own)")
        }
    }
}

/// A process that keeps every checkpoint that a service has, in the folder `history` of the example.
final class CheckpointPoller: Sendable {
    private let directory: TemporaryDirectory
    private let process: ChildProcess
    private let output: String

    /// Begins to ask whatever service listens on the port that `Load.aim(at:)` names.
    init(_ audited: AuditedDemo) throws {
        directory = audited.demo.directory
        output = directory.path(of: "poller")
        process = try ChildProcess(
            [
                Program.python, "-B", Program.checker("checkpoint_poller"), directory.path,
                "--api-key", audited.apiKeyPath, "--history", directory.path(of: "history"),
            ],
            environment: ownEnvironment(),
            output: output,
            errors: output
        )
    }

    /// Ends it; what it has seen.
    func stop() async throws -> String {
        try directory.write([], to: "stop-polling")
        let end = try await process.waitForEnd(patience: 60)
        guard end == .exited(0) else { throw ChildProcess.Failure("poller: \(end) \(textOfFile(output))") }
        return textOfFile(output)
    }
}
