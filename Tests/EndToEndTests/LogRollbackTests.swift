// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The service notices a database that is not the one of its signed log before it signs anything on it.
    @Suite struct LogRollbackTests {
        @Test func `yesterday's database is noticed at start, and a new log is the way forward`() async throws {
            let audited = try await AuditedDemo()
            let demo = audited.demo
            try await run(audited, requests: 2)
            try demo.directory.copyDatabase(DemoFolder.name, to: "yesterday.db")
            try await run(audited, requests: 3)
            try demo.directory.copyDatabase("yesterday.db", to: DemoFolder.name)

            let refusal = try await start(demo)
            #expect(refusal.end == .exited(3) || refusal.end == .exited(1), "\(refusal)")
            // How many are missing, what happened, and where it says what to do.
            #expect(refusal.errors.contains("are missing"), "\(refusal)")
            #expect(refusal.errors.contains("restored to an earlier state"), "\(refusal)")
            #expect(refusal.errors.contains("docs/runbook.md"), "\(refusal)")
            try await expectCheckSaysTheSame(as: refusal, demo)
            let verdict = try await audited.audit("verify")
            #expect(!verdict.succeeded && verdict.output + verdict.errors != "", "\(verdict)")
            // It is not forgotten by trying again.
            #expect(try await start(demo).end == refusal.end)

            try await beginNewLog(audited)
        }

        @Test func `a database with a changed entry under the checkpoint is refused at start`() async throws {
            let audited = try await AuditedDemo()
            try await run(audited, requests: 2)
            let change = """
                UPDATE audit_entries SET entry = \(TestedEngine.replacing(#""v":1"#, with: #""v":2"#, in: "entry"))
                WHERE entry_index = (SELECT max(entry_index) FROM audit_entries)
                """
            try audited.demo.alter(change)
            let refusal = try await start(audited.demo)
            #expect(refusal.end != .exited(0), "\(refusal)")
            #expect(refusal.errors.contains("audit log"), "\(refusal)")
            try await expectCheckSaysTheSame(as: refusal, audited.demo)
            #expect(try await !audited.audit("verify").succeeded)
        }

        @Test func `an empty database beside the checkpoint of another is refused at start`() async throws {
            let audited = try await AuditedDemo()
            try await run(audited, requests: 2)
            try audited.demo.directory.removeDatabase(DemoFolder.name)
            let refusal = try await start(audited.demo)
            #expect(refusal.end != .exited(0), "\(refusal)")
            #expect(refusal.errors.contains("are missing"), "\(refusal)")
            // The start has made an empty one; without any it is the same.
            try await expectCheckSaysTheSame(as: refusal, audited.demo)
            try audited.demo.directory.removeDatabase(DemoFolder.name)
            try await expectCheckSaysTheSame(as: refusal, audited.demo)
        }

        @Test func `a log that lost its last entry is refused, also without its checkpoint file`() async throws {
            let audited = try await AuditedDemo()
            try await run(audited, requests: 1)
            try? FileManager.default.removeItem(atPath: audited.demo.checkpoint)
            let missing = try await Program.run(["check"] + audited.demo.options())
            #expect(
                missing.succeeded && missing.errors.contains("warning: --checkpoint-file: there is no "),
                "\(missing)"
            )
            let last = "(SELECT max(entry_index) FROM audit_entries)"
            try audited.demo.alter("DELETE FROM audit_entries WHERE entry_index = \(last)")
            let refusal = try await start(audited.demo)
            #expect(refusal.end == .exited(3) && refusal.errors.contains("its head counts"), "\(refusal)")
            try await expectCheckSaysTheSame(as: refusal, audited.demo)
        }

        @Test func `check says that there is no database to compare with, and makes none`() async throws {
            let demo = try await DemoFolder()
            for location in [demo.directory.database("elsewhere.db"), "sqlite:/nonexistent/x.db"] {
                let check = try await Program.run(["check"] + demo.options(at: location))
                #expect(check.succeeded, "\(check)")
                let warnings = check.errors.split(separator: "\n").filter { $0.contains("there is no database at") }
                #expect(
                    warnings.count == 1 && warnings.allSatisfy { $0.hasPrefix("warning: --database: ") },
                    "\(check)"
                )
            }
            #expect(try !demo.directory.hasDatabase("elsewhere.db"))
            #expect(try await !Program.run(["check"] + demo.options()).errors.contains("there is no database"))
        }

        @Test func `check beside a service that signs finds nothing wrong`() async throws {
            let audited = try await AuditedDemo()
            let service = try await RunningService(audited.demo)
            for number in 0..<20 {
                #expect(try service.sign(audited.demo.request(customer: "customer-\(number)")).status == 200)
                let check = try await Program.run(["check"] + audited.demo.options())
                #expect(check.succeeded, "\(check)")
            }
            #expect(try await service.stop() == .exited(0))
        }

        /// What keeps the service from starting, `check` finds as well.
        private func expectCheckSaysTheSame(as refusal: ProcessOutcome, _ demo: DemoFolder) async throws {
            let check = try await Program.run(["check"] + demo.options())
            #expect(check.end == refusal.end, "\(check)")
            let reason = refusal.errors.replacing("offer-signer serve: ", with: "").trimmingCharacters(in: .newlines)
            #expect(check.errors.contains(reason), "\(check)")
        }

        @Test func `another name or key of the log is a wrong configuration, for check and for serve`() async throws {
            let audited = try await AuditedDemo()
            let demo = audited.demo
            #expect(try await Program.run(["check"] + demo.options()).succeeded, "there is no checkpoint yet")
            try await run(audited, requests: 1)
            #expect(try await Program.run(["check"] + demo.options()).succeeded)

            let keys = demo.text(of: "keys")
            try demo.edit("keys", replacing: "example.com/offer-signer\"", with: "example.com/offer-signer-2\"")
            try await expectRefusal(demo, "auditLog.origin in the keys file is example.com/offer-signer-2")
            try demo.write(keys, to: "keys")

            let key = demo.text(of: "audit-log.key")
            try demo.write(
                String(decoding: try KeyTool.openssl("genpkey", "-algorithm", "ed25519"), as: UTF8.self),
                to: "audit-log.key"
            )
            try await expectRefusal(demo, "is a different key than the one that signed it")
            try demo.write(key, to: "audit-log.key")
            #expect(try await Program.run(["check"] + demo.options()).succeeded)
        }

        private func expectRefusal(_ demo: DemoFolder, _ complaint: String) async throws {
            let check = try await Program.run(["check"] + demo.options())
            #expect(check.end == .exited(1) && check.errors.contains(complaint), "\(check)")
            #expect(check.errors.contains("keys /auditLog: "), "\(check)")
            let serve = try await start(demo)
            #expect(serve.end == .exited(1) && serve.errors.contains(complaint), "\(serve)")
        }

        /// What an operator does then: a log with a new name, which tells where the old one ended.
        private func beginNewLog(_ audited: AuditedDemo) async throws {
            let demo = audited.demo
            try demo.edit("keys", replacing: "example.com/offer-signer\"", with: "example.com/offer-signer-2\"")
            let outcome = try await audited.audit("new-log", "--origin", "example.com/offer-signer-2")
            #expect(outcome.succeeded, "\(outcome)")
            let service = try await RunningService(demo)
            #expect(try service.sign(demo.request(customer: "after")).status == 200)
            try await audited.settle(service)
            let state = try audited.logState(service)
            #expect(state.origin == "example.com/offer-signer-2")
            let verdict = try await LogVerifier.run([
                "log", "--vkey", state.verifierKey, "--api-key", audited.apiKeyPath, "\(service.url)/audit",
            ])
            #expect(verdict.succeeded, "\(verdict)")
            #expect(try await !audited.verify(service).succeeded, "the old key is not the new log's")
            #expect(try await service.stop() == .exited(0))
            let own = try await audited.audit("verify")
            #expect(own.succeeded, "\(own)")
        }

        /// Runs the service for that many signatures, until a checkpoint covers them.
        private func run(_ audited: AuditedDemo, requests: Int) async throws {
            let service = try await RunningService(audited.demo)
            for number in 0..<requests {
                let answer = try service.sign(audited.demo.request(customer: "customer-\(number)-\(UUID().uuidString)"))
                #expect(answer.status == 200)
            }
            try await audited.settle(service)
            #expect(try await service.stop() == .exited(0))
        }

        /// Starts a service that should refuse to.
        private func start(_ demo: DemoFolder) async throws -> ProcessOutcome {
            try await runProcess(
                ["timeout", "-k", "1", "30", Program.path, "serve", "--listen", "127.0.0.1:0"] + demo.options()
            )
        }
    }
}
