// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Stopping all signatures: by command, by call, by file; under load, and over `kill -9`.
    @Suite struct SealTests {
        private static func database(_ demo: DemoFolder) -> [String] { demo.databaseOptions() }

        private func administrator(_ demo: DemoFolder) async throws -> String {
            let outcome = try await Program.run(["callers", "add", "chief", "--role", "admin"] + Self.database(demo))
            guard outcome.succeeded else { throw ChildProcess.Failure("\(outcome)") }
            return String(outcome.output.dropLast())
        }

        /// The entries of the log, in order, as their events.
        private func events(_ demo: DemoFolder) async throws -> [String] {
            let outcome = try await Program.run(["audit", "query"] + Self.database(demo))
            return outcome.output.matches(of: /"ev":"([a-z.]+)"/).map { String($0.1) }
        }

        private func isSealed(_ service: RunningService) throws -> Bool {
            try service.sign(service.demo.request(customer: UUID().uuidString)).body.contains("/problems/sealed")
        }

        @Test func `a seal by call amid load is not followed by any signature, and survives kill -9`() async throws {
            let demo = try await DemoFolder()
            try demo.liftBudget()
            let key = try await administrator(demo)
            let service = try await RunningService(demo)
            let load = try Load(demo)
            try Load.aim(at: service)
            try await eventually("signatures are made") { Load.delivered(to: demo) > 50 }
            try await eventually("the administrator is known") {
                try service.ask("/v1/seal", apiKey: key).status == 200
            }
            let started = ContinuousClock.now
            let answer = try service.ask("/v1/seal", method: "POST", body: #"{"reason": "drill"}"#, apiKey: key)
            let took = ContinuousClock.now - started
            let made = try signatures(service)
            #expect(answer.status == 200, "\(answer)")
            // What was signed before may still be delivered; nothing is signed any more, so that it comes to an end.
            try await Task.sleep(for: .milliseconds(500))
            #expect(try signatures(service) == made)
            service.process.send(SIGKILL)
            _ = try await service.process.waitForEnd()
            let again = try await RunningService(demo)
            try Load.aim(at: again)
            #expect(try isSealed(again))
            #expect(try again.ask("/health/ready").body.contains("sealed-administrator"))
            let counts = try await load.stop()
            #expect(counts["/problems/sealed", default: 0] > 0, "\(counts)")

            let events = try await events(demo)
            let place = try #require(events.firstIndex(of: "service.seal"))
            #expect(!events[place...].contains("sign.intent"))
            #expect(events[..<place].count { $0 == "sign.intent" } >= made)
            #expect(Load.delivered(to: demo) * 2 <= made)
            let verdict = try await Load.checkRecords(of: demo)
            #expect(verdict.succeeded, "\(verdict)")
            print("seal under load: answered after \(took), \(counts)")

            let lift = ["unseal", "--reason", "drill over"] + Self.database(demo)
            #expect(try await Program.run(lift).output == "lifted: administrator\n")
            let idle = "nothing was sealed in the database"
            let unseen = try await Program.run(lift)
            #expect(
                unseen.output.hasPrefix("\(idle); a seal file") && unseen.output.contains("--seal-file"),
                "\(unseen)"
            )
            let named = ["--seal-file", demo.path(of: "sealed")]
            #expect(try await Program.run(lift + named).output == "\(idle)\n")
            try await eventually("signatures are made again") { try !isSealed(again) }
            #expect(try await again.stop() == .exited(0))
        }

        private func signatures(_ service: RunningService) throws -> Int {
            try service.ask("/metrics").body.matches(of: /\noffer_signer_signatures_total\{[^}]*\} ([0-9]+)/)
                .reduce(0) { $0 + (Int($1.1) ?? 0) }
        }

        @Test func `a command seals beside the service, which acknowledges it`() async throws {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo)
            #expect(try !isSealed(service))
            let seal = try await Program.run(["seal", "--reason", "key is known"] + Self.database(demo))
            #expect(seal.output == "the service is sealed; the running service has acknowledged it\n", "\(seal)")
            #expect(try isSealed(service))
            try await service.logs("the service is sealed")
            #expect(try await events(demo).suffix(2) == ["service.seal", "service.sealed"])
            #expect(try await Program.run(["unseal", "--reason", "no"] + Self.database(demo)).succeeded)
            // Without a request.
            try await service.logs(#""message":"the seal is lifted""#)
            #expect(try !isSealed(service))
            #expect(!service.log.contains("a key was"), "\(service.log)")
            for (command, message) in [("disable", "a key was disabled"), ("enable", "a key was enabled")] {
                let change = try await Program.run(["keys", command, "ABC123DEFG"] + Self.database(demo))
                #expect(change.succeeded, "\(change)")
                try await eventually("the service logs “\(message)” without a request") {
                    service.log.split(separator: "\n").contains { line in
                        [message, "ABC123DEFG", "another process"].allSatisfy { line.contains($0) }
                    }
                }
            }
            #expect(try await service.stop() == .exited(0))
        }

        @Test func `a command seals before the service starts, and says that none runs`() async throws {
            let demo = try await DemoFolder()
            let seal = try await Program.run(["seal", "--reason", "key is known"] + Self.database(demo))
            #expect(seal.output.contains("no service is running"), "\(seal)")
            let service = try await RunningService(demo)
            #expect(try isSealed(service))
            #expect(try await events(demo).contains("service.sealed"))
            #expect(try service.ask("/health/live").status == 200)
        }

        @Test func `a key that a command disables makes no signature after its return`() async throws {
            let demo = try await DemoFolder()
            try demo.liftBudget()
            let service = try await RunningService(demo)
            let load = try Load(demo)
            try Load.aim(at: service)
            try await eventually("signatures are made") { Load.delivered(to: demo) > 50 }
            let outcome = try await Program.run(["keys", "disable", "ABC123DEFG"] + Self.database(demo))
            let made = try signatures(service)
            #expect(
                outcome.output == "ABC123DEFG is disabled; the running service has acknowledged it\n",
                "\(outcome)"
            )
            try await Task.sleep(for: .milliseconds(500))
            #expect(try signatures(service) == made)
            let counts = try await load.stop()
            #expect(counts["/problems/key-unavailable", default: 0] > 0, "\(counts)")
            let events = try await events(demo)
            let place = try #require(events.firstIndex(of: "key.disable"))
            #expect(!events[place...].contains("sign.intent"))
        }

        @Test func `a command that waits in vain for a service says so`() async throws {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo)
            defer { service.process.send(SIGCONT) }
            var seal: ProcessOutcome
            repeat {
                // It may be stopped amidst a commit, and then holds the database.
                service.process.send(SIGCONT)
                try await Task.sleep(for: .milliseconds(150))
                service.process.send(SIGSTOP)
                seal = try await Program.run(["seal", "--reason", "it hangs"] + Self.database(demo))
            } while seal.errors.contains("database is locked")
            #expect(seal.end == .exited(3), "\(seal)")
            #expect(seal.errors.contains("has not said within 15 s"), "\(seal)")
            service.process.send(SIGCONT)
            try await eventually("it acknowledges when it goes on") { try isSealed(service) }
        }

        @Test func `a file seals within moments, and its removal unseals`() async throws {
            let demo = try await DemoFolder()
            let file = demo.path(of: "stop-signing")
            let service = try await RunningService(demo, options: ["--seal-file", file])
            #expect(try !isSealed(service))
            try demo.write("", to: "stop-signing")
            try await eventually("nothing is signed any more") { try isSealed(service) }
            let lift = try await Program.run(
                ["unseal", "--reason", "no", "--seal-file", file] + Self.database(demo)
            )
            #expect(lift.end == .exited(1), "\(lift)")
            #expect(lift.errors.contains("file: the file"), "\(lift)")
            service.process.send(SIGKILL)
            _ = try await service.process.waitForEnd()
            let again = try await RunningService(demo, options: ["--seal-file", file])
            #expect(try isSealed(again), "it is looked at before anything is signed")
            try FileManager.default.removeItem(atPath: file)
            try await eventually("signatures are made again") { try !isSealed(again) }
        }

        @Test func `a clock without a time service seals unless it is only to be warned of`() async throws {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo, options: ["--clock-check=seal"])
            let page = try service.ask("/health/ready").body
            let says = page.contains("sealed-clock-unsynchronised")
            #expect(try isSealed(service) == says, "\(page)")
            #expect(try await service.stop() == .exited(0))
        }

        @Test(arguments: [
            ["seal"], ["unseal"], ["seal", "--reason", ""], ["seal", "--reason", "schön"],
            ["seal", "--reason", String(repeating: "x", count: 201)], ["seal", "now", "--reason", "x"],
        ])
        func `a reason is needed that a record can hold`(_ arguments: [String]) async throws {
            let demo = try await DemoFolder()
            let outcome = try await Program.run(arguments + Self.database(demo))
            #expect(outcome.end == .exited(2), "\(outcome)")
            #expect(try await events(demo).allSatisfy { $0 == "caller.create" })
        }

        @Test func `nothing is said to be sealed in a database that is not there`() async throws {
            let demo = try await DemoFolder()
            for command in ["seal", "unseal"] {
                let words = [command, "--reason", "x", "--database", demo.directory.database("elsewhere.db")]
                let outcome = try await Program.run(words)
                #expect(outcome.end == .exited(3), "\(outcome)")
                #expect(outcome.errors.contains("there is no database at "))
                #expect(TestedEngine.isPostgreSQL || outcome.errors.contains("elsewhere.db"), "\(outcome)")
                #expect(try !demo.directory.hasDatabase("elsewhere.db"), "none is made")
            }
        }
    }
}
