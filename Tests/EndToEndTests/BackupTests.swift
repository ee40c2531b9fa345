// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `offer-signer backup` and `restore`, and what a stop leaves of the database.
    @Suite(.aboutSQLite) struct BackupTests {
        private let demo: DemoFolder

        init() async throws {
            demo = try await DemoFolder()
        }

        private func run(_ words: String...) async throws -> ProcessOutcome {
            try await Program.run(words + ["--database", demo.location])
        }

        /// The names in the example's folder that begin as the database's.
        private func files() throws -> Set<String> {
            let names = try FileManager.default.contentsOfDirectory(atPath: demo.path)
            return Set(names.filter { $0.hasPrefix("offer-signer.db") })
        }

        /// All entries but those that reading them adds.
        private func entries(at location: String) async throws -> [Substring] {
            let outcome = try await Program.run(["audit", "export", "--database", location])
            return outcome.output.split(separator: "\n").filter { !$0.contains(#""ev":"audit.export""#) }
        }

        /// Starts a service, has it sign, and gives it to the body.
        private func withService(_ body: (RunningService) async throws -> Void) async throws {
            let service = try await RunningService(demo)
            #expect(try service.sign(demo.text(of: "request.json")).status == 200)
            try await body(service)
            #expect(try await service.stop() == .exited(0), "\(service.log)")
        }

        @Test(arguments: [SIGTERM, SIGINT])
        func `a stopped service leaves the database in one file`(_ signal: Int32) async throws {
            let service = try await RunningService(demo)
            #expect(try service.sign(demo.text(of: "request.json")).status == 200)
            #expect(try files().contains("offer-signer.db-wal"))
            service.process.send(signal)
            #expect(try await service.process.waitForEnd() == .exited(0))
            #expect(try files() == ["offer-signer.db", "offer-signer.db.checkpoint", "offer-signer.db.lock"])
            // A copy of that file alone has the last entry.
            let copy = demo.path(of: "copy.db")
            try FileManager.default.copyItem(atPath: demo.database, toPath: copy)
            #expect(try await entries(at: "sqlite:\(copy)").last?.contains(#""ev":"service.stop""#) == true)
        }

        @Test func `a backup of a running service is whole, for its owner alone, and written over nothing`()
            async throws
        {
            let file = demo.path(of: "backup.db")
            try await withService { _ in
                let outcome = try await run("backup", file)
                #expect(outcome.succeeded && outcome.output.contains("verified"), "\(outcome)")
                let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
                #expect(mode == 0o600)
                let again = try await run("backup", file)
                #expect(again.end == .exited(1) && again.errors.contains("already exists"), "\(again)")
            }
            let copied = try await entries(at: "sqlite:\(file)")
            let all = try await entries(at: demo.location)
            #expect(copied.count > 2 && all.starts(with: copied) && copied.count < all.count)
            #expect(!FileManager.default.fileExists(atPath: file + ".partial"))
        }

        @Test func `a restored backup is what was backed up, and the database that was there is kept`() async throws {
            let file = demo.path(of: "backup.db")
            try await withService { service in
                #expect(try await run("backup", file).succeeded)
                #expect(try service.sign(demo.request(customer: "later")).status == 200)
                let refused = try await run("restore", file)
                #expect(refused.end == .exited(3) && refused.errors.contains("held by another service"), "\(refused)")
            }
            let (before, backup) = (try await entries(at: demo.location), try await entries(at: "sqlite:\(file)"))
            let outcome = try await run("restore", file)
            #expect(outcome.succeeded && outcome.output.contains("The service will not start"), "\(outcome)")
            #expect(
                outcome.output.contains(
                    "\(before.count - backup.count) of its entries are not in the backup and forgotten"
                )
            )
            #expect(try await entries(at: demo.location) == backup)
            let kept = try #require(try files().first { $0.contains(".replaced-") })
            let refused = try await Program.run(
                ["serve", "--clock-check", "warn", "--listen", "127.0.0.1:0"] + demo.options()
            )
            #expect(refused.end == .exited(3), "\(refused)")
            // What was replaced takes the command back.
            #expect(try await run("restore", demo.path(of: kept)).succeeded)
            #expect(try await entries(at: demo.location) == before)
            try await withService { _ in }
        }

        @Test func `what is no whole backup is refused, and the database stays`() async throws {
            try await withService { _ in }
            let before = try await entries(at: demo.location)
            let file = demo.path(of: "backup.db")
            #expect(try await run("backup", file).succeeded)
            let whole = try Data(contentsOf: URL(filePath: file))
            var damaged = whole
            let place = try #require(damaged.range(of: Data(#""ev":"service.start""#.utf8))?.lowerBound)
            damaged[place + 7] ^= 1
            for (name, bytes) in [
                ("damaged", damaged), ("cut", whole.dropLast(4096)), ("text", Data("no database".utf8)),
            ] {
                let path = demo.path(of: name)
                try bytes.write(to: URL(filePath: path))
                let outcome = try await run("restore", path)
                #expect(outcome.end == .exited(1) && outcome.errors.contains("can't be used"), "\(name): \(outcome)")
            }
            #expect(try await run("restore", demo.path(of: "nothing")).end == .exited(1))
            #expect(try await run("restore", demo.database).end == .exited(1))
            #expect(try await entries(at: demo.location) == before)
            #expect(try files().filter { $0.contains("restoring") || $0.contains("replaced") } == [])
        }

        @Test func `a log that is left of a database that is gone is put aside`() async throws {
            let service = try await RunningService(demo)
            #expect(try service.sign(demo.text(of: "request.json")).status == 200)
            let file = demo.path(of: "backup.db")
            #expect(try await run("backup", file).succeeded)
            service.process.send(SIGKILL)
            _ = try await service.process.waitForEnd()
            try FileManager.default.removeItem(atPath: demo.database)
            #expect(try await run("restore", file).succeeded)
            #expect(try files().contains { $0.contains(".replaced-") && $0.hasSuffix("-wal") })
            let backup = try await entries(at: "sqlite:\(file)")
            #expect(try await entries(at: demo.location) == backup)
        }

        @Test func `a database that another process reads is not replaced`() async throws {
            try await withService { _ in }
            let file = demo.path(of: "backup.db")
            #expect(try await run("backup", file).succeeded)
            let release = demo.path(of: "release")
            let holder = try ChildProcess(
                [Program.python, "-B", Program.checker("hold_writers"), demo.location, release],
                environment: ownEnvironment(),
                output: demo.path(of: "holder")
            )
            try await eventually("the lock is held") { textOfFile(demo.path(of: "holder")) == "held\n" }
            let outcome = try await run("restore", file)
            #expect(outcome.end == .exited(3) && outcome.errors.contains("Stop the service"), "\(outcome)")
            try Data().write(to: URL(filePath: release))
            #expect(try await holder.waitForEnd() == .exited(0))
            #expect(try await run("restore", file).succeeded)
        }
    }
}
