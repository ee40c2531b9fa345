// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Whether the log is whole, by the command, and by hand as the documentation shows it.
    @Suite struct AuditVerifyTests {
        private func demoWithEntries() async throws -> DemoFolder {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo)
            for number in 0..<3 { _ = try service.sign(demo.request(customer: "customer-\(number)")) }
            #expect(try await service.stop() == .exited(0))
            return demo
        }

        private func verify(_ demo: DemoFolder, _ more: [String] = []) async throws -> ProcessOutcome {
            try await Program.run(
                ["audit", "verify", "--key", key(demo)] + demo.databaseOptions() + more
            )
        }

        private func key(_ demo: DemoFolder) -> String {
            demo.text(of: "audit-log.vkey").trimmingCharacters(in: .newlines)
        }

        @Test func `finds the log whole with the key alone, and names the first damage`() async throws {
            let demo = try await demoWithEntries()
            let checkpoint = demo.checkpoint
            let whole = try await verify(demo, ["--checkpoint", checkpoint])
            #expect(whole.succeeded && whole.output.contains("The log is whole."), "\(whole)")
            #expect(whole.output.contains("The checkpoint in the database"))
            #expect(whole.output.contains("The checkpoint in \(checkpoint)"))
            let byKeys = try await Program.run(["audit", "verify"] + demo.options())
            #expect(byKeys.succeeded, "\(byKeys)")

            try demo.alter("UPDATE audit_entries SET entry = zeroblob(2) WHERE entry_index = 2")
            let damaged = try await verify(demo)
            #expect(damaged.end == .exited(1) && damaged.errors.contains("the log is damaged"), "\(damaged)")
            let serve = try await Program.run(["serve", "--listen", "127.0.0.1:0"] + demo.options())
            #expect(serve.end == .exited(3), "\(serve)")
        }

        @Test func `refuses a checkpoint of another key, and a bad key`() async throws {
            let (demo, other) = (try await demoWithEntries(), try await demoWithEntries())
            let stranger = try await verify(demo, ["--checkpoint", other.checkpoint])
            #expect(stranger.end == .exited(1) && stranger.errors.contains("is not to be believed"), "\(stranger)")
            let bad = try await Program.run(
                ["audit", "verify", "--key", "x"] + ["--database", demo.location]
            )
            #expect(bad.end == .exited(2) && bad.errors.contains("NAME+ID+BASE64"), "\(bad)")
        }

        @Test func `an exported folder is verified without keys, and says how`() async throws {
            let demo = try await demoWithEntries()
            let folder = demo.path(of: "tiles")
            let export = try await Program.run(["audit", "export", "--tiles", folder, "--database", demo.location])
            #expect(export.succeeded, "\(export)")
            let elsewhere = ["--keys", demo.path(of: "none"), "--offers", demo.path(of: "none")]
            let verify = ["audit", "verify", "--tiles", folder] + elsewhere
            let keyless = try await Program.run(verify)
            #expect(keyless.end == .exited(1) && keyless.errors.contains("with --key VKEY"), "\(keyless)")
            let whole = try await Program.run(verify + ["--key", key(demo)])
            #expect(whole.succeeded && whole.output.contains("The log is whole."), "\(whole)")
        }

        @Test func `what is exported can be read by its owner alone`() async throws {
            let demo = try await demoWithEntries()
            let folder = demo.path(of: "tiles")
            let export = try await Program.run(["audit", "export", "--tiles", folder, "--database", demo.location])
            #expect(export.succeeded, "\(export)")
            let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
            #expect(names.count > 3)
            for name in names {
                let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
                let mode = try #require(attributes[.posixPermissions] as? Int)
                #expect(mode & 0o077 == 0, "\(name) has \(mode)")
            }
        }

        /// The script in docs/audit-log.md under “Verify it”.
        private static func script() throws -> String {
            let page = try String(contentsOfFile: "\(Program.root)/docs/audit-log.md", encoding: .utf8)
            let section = page.components(separatedBy: "## Verify it")[1]
            return section.components(separatedBy: "```sh\n")[2].components(separatedBy: "```")[0]
        }

        @Test func `is verified by the documented script, with openssl and coreutils alone`() async throws {
            let demo = try await demoWithEntries()
            let folder = try TemporaryDirectory()
            let script = try Self.script()
            #expect(script.split(separator: "\n").count <= 8)
            let checkpoint = textOfFile(demo.checkpoint)
            func run(_ checkpoint: String, key: String) async throws -> ProcessOutcome {
                try folder.write(Array(checkpoint.utf8), to: "checkpoint")
                try folder.write(Array(key.utf8), to: "audit-log.vkey")
                return try await runProcess(["bash", "-c", "cd '\(folder.path)'\n" + script])
            }
            let good = try await run(checkpoint, key: key(demo))
            #expect(good.succeeded && good.output == "Signature Verified Successfully\n", "\(good)")
            let size = checkpoint.split(separator: "\n")[1]
            let changed = checkpoint.replacingOccurrences(of: "\n\(size)\n", with: "\n1\(size)\n")
            #expect(try await !run(changed, key: key(demo)).succeeded)
            let renamed = key(demo).replacingOccurrences(of: "example.com", with: "example.org")
            #expect(try await run(checkpoint, key: renamed).output.contains("not the key of that name"))
        }
    }
}
