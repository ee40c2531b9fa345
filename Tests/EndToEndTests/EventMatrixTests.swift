// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// What each act of an administrator leaves in the audit log.
    @Suite struct EventMatrixTests {
        /// One way to use the program, and the events that it leaves beside a service; nil if it changes nothing and reads
        /// no records.
        struct Act: CustomTestStringConvertible, Sendable {
            /// As the usage in the command's help begins.
            let usage: String
            let arguments: [String]
            let event: String?

            var testDescription: String { usage }

            init(_ usage: String, _ more: String..., leaves event: String?) {
                self.usage = usage
                arguments = usage.split(separator: " ").map(String.init) + more
                self.event = event
            }
        }

        /// In an order in which they follow one another.
        static let acts = [
            Act("check", leaves: nil),
            Act("callers add", "shop", "--role", "backend", leaves: "caller.create"),
            Act("callers add-key", "shop", leaves: "caller.key"),
            Act("callers list", leaves: nil),
            Act("callers revoke", "shop", leaves: "caller.revoke"),
            Act("sessions list", leaves: nil),
            Act("keys disable", "ABC123DEFG", leaves: "key.disable key.disabled"),
            Act("keys enable", "ABC123DEFG", leaves: "key.enable"),
            Act("keys list", leaves: nil),
            Act("audit query", "--key", "ABC123DEFG", leaves: "audit.read"),
            Act("audit export", leaves: "audit.export"),
            Act("audit reconcile", leaves: "audit.read"),
            Act("audit proof", "--index", "0", leaves: "audit.read"),
            Act("audit verify", leaves: "audit.read"),
            Act("audit key", leaves: nil),
            Act("audit index", "--compare", leaves: "audit.read"),
            Act("seal", "--reason", "a drill", leaves: "service.seal service.sealed"),
            Act("unseal", "--reason", "it is over", leaves: "service.unseal"),
            Act(
                "customers pseudonym",
                "--app",
                "com.example.app",
                "--customer-id",
                "ada@example.com",
                leaves: "customer.lookup"
            ),
            Act("customers destroy-epoch", "1", leaves: "epoch.destroy"),
        ]

        /// Acts that other tests show.
        static let elsewhere: Set = [
            "serve",  // ServiceTests: start, configuration, keys, reload, stop
            "notifications catch-up",  // NotificationCommandTests
            "audit find",  // below
            "sessions end",  // SessionsCommandTests
            "retention perf-test",  // PerformanceTestCommandTests
            "verify", "verify answer",  // VerifyTests
            "backup", "restore",  // BackupTests
            "migrate",  // LedgerMoveTests: only while no service runs
            "audit new-log",  // LogRollbackTests: only while no service runs
            // EventDeliveryTests: these need an events file, and change nothing but what receivers are sent.
            "events endpoints", "events deliveries", "events replay", "events test",
        ]
        /// What is made before there is anything to record in, or uses no record.
        static let excepted: Set = [
            "demo", "init", "diagnose", "health", "completion bash", "completion zsh", "completion fish",
            "tokens explain",
        ]

        @Test func `what an app received is found on record, and that it was looked for is on record too`() async throws
        {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo)
            let answer = try service.sign(demo.request(customer: "ada", token: "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"))
            let members = try #require(
                try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]
            )
            func text(_ name: String) throws -> String { "\(try #require(members[name]))" }
            let options = [
                "audit", "find", "--database", demo.location, "--bundle-id", "com.example.app",
                "--product-id", "com.example.pro.monthly", "--offer-id", try text("identifier"),
                "--key-id", try text("keyIdentifier"), "--nonce", try text("nonce"),
                "--app-account-token", try text("appAccountToken"), "--signature", try text("signature"),
                "--public-key", demo.path(of: "public-key.pem"),
            ]
            let found = try await Program.run(options + ["--timestamp", try text("timestamp")])
            #expect(found.succeeded && found.output.contains(#""signatureVerifies":true"#), "\(found)")
            #expect(found.output.contains(try text("grantId")))
            let other = try await Program.run(options + ["--timestamp", "1700000000000"])
            #expect(other.end == .exited(1), "\(other)")
            let path = try demo.directory.write(Array(answer.body.utf8), to: "answer.json")
            let whole = try await Program.run(
                ["audit", "find", "--database", demo.location, "--answer", path, "--public-key"]
                    + [demo.path(of: "public-key.pem")]
            )
            let lines = whole.output.split(separator: "\n")
            #expect(whole.succeeded && lines.count == 2, "both signatures of the answer: \(whole)")
            #expect(lines.allSatisfy { $0.hasSuffix(#""signatureVerifies":true}"#) }, "\(whole)")
            #expect(try await service.stop() == .exited(0))
            #expect(try await events(demo).count { $0 == "audit.read" } == 3)
        }

        /// The events of all entries, in order.
        private func events(_ demo: DemoFolder) async throws -> [String] {
            let outcome = try await Program.check("events", demo.location)
            guard outcome.succeeded else { throw ChildProcess.Failure("\(outcome)") }
            return outcome.output.split(separator: "\n").map(String.init)
        }

        @Test func `each usage that the help lists is in the table`() async throws {
            let list = try await Program.run(["--help"]).output
            let commands = list.matches(of: #/(?m)^  ([a-z]+) +\S/#).map { String($0.1) }
            #expect(commands.count > 7)
            var usages: Set<String> = []
            for command in commands {
                let help = try await Program.run([command, "--help"]).output
                let lines = help.matches(of: #/(?m)^(?:Usage:| ) *offer-signer ([a-z]+(?: [a-z][a-z-]*)?)/#)
                #expect(!lines.isEmpty, "\(command)")
                usages.formUnion(lines.map { String($0.1) }.filter { $0.hasPrefix(command) })
            }
            let known = Set(Self.acts.map(\.usage)).union(Self.elsewhere).union(Self.excepted)
            #expect(usages.subtracting(known).isEmpty, "acts without a row")
            #expect(known.subtracting(usages).isEmpty, "rows without an act")
        }

        @Test func `each act leaves its entry, one and no other`() async throws {
            let demo = try await DemoFolder()
            #expect(try await RunningService(demo).stop() == .exited(0))
            let outcome = try await runProcess(
                ["sh", "-c", "umask 077; openssl rand -hex 32 > \"$1\"", "sh", demo.path(of: "next.key")]
            )
            #expect(outcome.succeeded, "\(outcome)")
            try demo.edit(
                "keys",
                replacing: #"customerIds: { epoch: "1", file: "customer-ids.key" }"#,
                with: #"customerIds: [{ epoch: "2", file: "next.key" }, { epoch: "1", file: "customer-ids.key" }]"#
            )
            let service = try await RunningService(demo)
            for act in Self.acts {
                let before = try await events(demo)
                let outcome = try await Program.run(act.arguments + demo.options())
                #expect(outcome.succeeded, "\(act.usage): \(outcome)")
                let left = Array(try await events(demo).dropFirst(before.count)).filter { $0 != "noise" }
                #expect(left.joined(separator: " ") == act.event ?? "", "\(act.usage)")
            }
            #expect(!FileManager.default.fileExists(atPath: demo.path(of: "customer-ids.key")))
            #expect(try await service.stop() == .exited(0))
            let all = try await events(demo)
            #expect(all.count { $0 == "epoch.begin" } == 2 && all.last == "service.stop")
            let export = try await Program.run(["audit", "export", "--database", demo.location])
            #expect(!export.output.contains("ada@example.com"))
        }
    }
}
