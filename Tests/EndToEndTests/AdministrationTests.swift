// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Commands that run beside the service, which follows them.
    @Suite struct AdministrationTests {
        @Test func `a key is disabled and enabled while the service runs`() async throws {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo)
            func status() throws -> Int { try service.sign(demo.request(customer: UUID().uuidString)).status }
            #expect(try status() == 200)
            #expect(try await Program.run(["keys", "disable", "ABC123DEFG"] + demo.options()).succeeded)
            try await eventually("nothing is signed any more") { try status() == 503 }
            let refusal = try service.sign(demo.request(customer: "refused"))
            #expect(refusal.body.contains("/problems/key-unavailable"))
            try await eventually("it is not ready") { try service.ask("/health/ready").status == 503 }
            #expect(try service.ask("/health/ready").body.contains(#""name":"key-unavailable""#))
            #expect(try await Program.run(["keys", "list"] + demo.options()).output.contains("ABC123DEFG  disabled"))

            // A restart or a reload does not forget it.
            try await service.reload()
            #expect(try status() == 503)
            #expect(try await Program.run(["keys", "enable", "ABC123DEFG"] + demo.options()).succeeded)
            try await eventually("signatures are made again") { try status() == 200 }

            let records = try await Program.run(
                ["audit", "query", "--key", "ABC123DEFG", "--database", demo.location]
            )
            #expect(records.output.contains(#""ev":"key.disable""#))
            #expect(records.output.contains(#""ev":"key.enable""#))
        }

        @Test func `a key that the keys file disables is not said to be enabled`() async throws {
            let demo = try await DemoFolder()
            try demo.edit("keys", replacing: #"status: "active""#, with: #"status: "disabled""#)
            let outcome = try await Program.run(["keys", "enable", "ABC123DEFG"] + demo.options())
            #expect(outcome.succeeded && outcome.output.contains("if the keys file has it as active"), "\(outcome)")
            #expect(try await Program.run(["keys", "list"] + demo.options()).output.contains("ABC123DEFG  disabled"))
        }

        @Test func `a key is not reported as disabled in a database that does not exist`() async throws {
            let demo = try await DemoFolder()
            let outcome = try await Program.run(
                ["keys", "disable", "ABC123DEFG", "--database", demo.directory.database("elsewhere.db")]
            )
            #expect(outcome.end == .exited(3), "\(outcome)")
            #expect(outcome.errors.contains("there is no database at "))
            #expect(TestedEngine.isPostgreSQL || outcome.errors.contains("elsewhere.db"), "\(outcome)")
            #expect(try !demo.directory.hasDatabase("elsewhere.db"), "none is made")
        }

        @Test(arguments: [["list"], ["revoke", "shop"], ["add-key", "shop"]])
        func `only callers add creates a database, and it says so beside the key`(words: [String]) async throws {
            let demo = try await DemoFolder()
            let location = demo.directory.database("elsewhere.db")
            let refused = try await Program.run(["callers"] + words + ["--database", location])
            #expect(refused.end == .exited(3) && refused.output.isEmpty, "\(refused)")
            #expect(refused.errors.contains("there is no database at ") && refused.errors.contains("--database"))
            #expect(try !demo.directory.hasDatabase("elsewhere.db"), "none is made")

            let add = ["callers", "add", "shop", "--role", "backend", "--database", location]
            let first = try await Program.run(add)
            #expect(first.succeeded && first.errors.contains("made a new database: "), "\(first)")
            #expect(first.output.wholeMatch(of: /[0-9a-f]{16}\.\S+\n/) != nil, "the key and nothing else")
            let other = try await Program.run(["callers", "add", "other", "--role", "app", "--database", location])
            #expect(other.succeeded && !other.errors.contains("made a new database"), "\(other)")
            #expect(try await Program.run(["callers"] + words + ["--database", location]).succeeded)
        }

        @Test func `an id that is perhaps mistyped is disabled with a word about it`() async throws {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo)
            #expect(try service.sign(demo.request(customer: "anna")).status == 200)
            let mistyped = try await Program.run(["keys", "disable", "ABC123DEFH", "--database", demo.location])
            #expect(mistyped.succeeded && mistyped.output.hasPrefix("ABC123DEFH is disabled; "), "\(mistyped)")
            #expect(mistyped.errors.contains("no use of a key ABC123DEFH is on record"), "\(mistyped)")
            let options = demo.options()
            #expect(
                try await Program.run(["keys", "list"] + options).output.contains(
                    "ABC123DEFH  disabled  not in the keys file\n"
                )
            )
            #expect(try await Program.run(["keys", "enable", "ABC123DEFH"] + options).succeeded)
            #expect(try await !Program.run(["keys", "list"] + options).output.contains("ABC123DEFH"))
            #expect(try service.sign(demo.request(customer: "bert")).status == 200)
            let right = try await Program.run(["keys", "disable", "ABC123DEFG", "--database", demo.location])
            #expect(right.succeeded && right.errors.isEmpty, "\(right)")
            #expect(try service.sign(demo.request(customer: "carl")).status == 503)
        }

        @Test(arguments: [">/dev/full", "| head -c 40; exit 3"])
        func `an export that is cut off does not pass for whole, and is on record`(end: String) async throws {
            let demo = try await DemoFolder()
            #expect(try await RunningService(demo).stop() == .exited(0))
            let outcome = try await runProcess([
                "/bin/sh", "-c", "'\(Program.path)' audit export --database '\(demo.location)' \(end)",
            ])
            #expect(outcome.end == .exited(3), "\(outcome)")
            try await eventually("it is on record") {
                let export = try await Program.run(["audit", "query", "--database", demo.location])
                return export.output.contains(#""ev":"audit.export""#)
            }
        }

        @Test func `a caller is added, given a second key, and revoked while the service runs`() async throws {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo)
            let database = ["--database", demo.location]
            func credential(_ words: String...) async throws -> String {
                let outcome = try await Program.run(["callers"] + words + database)
                guard outcome.succeeded else { throw ChildProcess.Failure("\(outcome)") }
                return String(outcome.output.dropLast())
            }
            func status(_ key: String) throws -> Int {
                try service.sign(demo.request(customer: UUID().uuidString), apiKey: key).status
            }
            let first = try await credential("add", "shop", "--role", "backend", "--bundle", "com.example.app")
            try await eventually("the caller is known") { try status(first) == 200 }
            let second = try await credential("add-key", "shop")
            try await eventually("its second key is known") { try status(second) == 200 }
            #expect(try status(first) == 200)
            let firstID = String(first.prefix { $0 != "." })
            #expect(
                try await Program.run(["callers", "revoke", "shop", "--key", firstID] + database).succeeded
            )
            try await eventually("its first key is refused") { try status(first) == 401 }
            #expect(try status(second) == 200)
            #expect(try await Program.run(["callers", "revoke", "shop"] + database).succeeded)
            try await eventually("the caller is refused") { try status(second) == 401 }

            // A caller of another app, and one with an incomplete key.
            let other = try await credential("add", "other", "--role", "backend", "--bundle", "com.example.other")
            try await eventually("the other caller is known") { try status(other) == 403 }
            #expect(try status(String(other.dropLast())) == 401)
            let list = try await Program.run(["callers", "list"] + database)
            #expect(list.output.contains("other"), "\(list)")
            #expect(!list.output.contains(other.split(separator: ".")[1]))
        }

        @Test func `records can be asked who used a key, and exported byte for byte`() async throws {
            let demo = try await DemoFolder()
            try demo.edit("offers", replacing: "atMost: 100,", with: "atMost: 3,")
            let service = try await RunningService(demo)
            let database = ["--database", demo.location]
            let body = demo.text(of: "request.json")
            let statuses = try (0..<4).map { _ in try service.sign(body).status }
            #expect(statuses == [200, 200, 200, 403])
            let query = try await Program.run(
                ["audit", "query", "--event", "sign.intent", "--key", "ABC123DEFG", "--offer", "winback_3m"] + database
            )
            // Three answers with two signatures each.
            #expect(query.output.split(separator: "\n").count == 6, "\(query)")
            let refusals = try await Program.run(["audit", "query", "--outcome", "notEligible"] + database)
            #expect(refusals.output.split(separator: "\n").count == 1, "\(refusals)")
            // The customer's cap.
            let reasons = try await Program.run(["audit", "query", "--reason", "grants-cap-reached"] + database)
            #expect(reasons.output.split(separator: "\n").count == 1, "\(reasons)")
            let other = try await Program.run(["audit", "query", "--reason", "cooldown-running"] + database)
            #expect(other.succeeded && other.output.isEmpty, "\(other)")
            let rest = try await Program.run(
                ["audit", "query", "--exclude", "sign.intent,audit.read", "--from", "today"] + database
            )
            #expect(rest.output.contains("sign.deny") && !rest.output.contains("sign.intent"), "\(rest)")
            for wrong in [["--reason", "because"], ["--exclude", "sign.intend"]] {
                #expect(try await Program.run(["audit", "query"] + wrong + database).end == .exited(2), "\(wrong)")
            }
            let future = try await Program.run(["audit", "query", "--from", "2126-01-01T00:00:00Z"] + database)
            #expect(future.succeeded && future.output.isEmpty, "\(future)")
            for (key, isKnown) in [("ABC123DEFG", true), ("ABC123DEFH", false)] {
                let none = try await Program.run(["audit", "query", "--event", "sign.failed", "--key", key] + database)
                #expect(none.succeeded && none.output.isEmpty, "\(none)")
                #expect(none.errors.contains("no entry names a key “\(key)”") != isKnown, "\(none)")
            }
            let nobody = try await Program.run(["audit", "query", "--caller", "nobody"] + database)
            #expect(nobody.succeeded && nobody.errors.contains("no entry names a caller “nobody”"), "\(nobody)")
            let name = try await Program.run(["audit", "query", "--user", "customer-42"] + database)
            #expect(name.end == .exited(2) && name.errors.contains("customers pseudonym"), "\(name)")
            #expect(!name.errors.contains("customer-42"), "names are not repeated")
            let key = try await Program.run(["audit", "key"] + demo.options())
            #expect(key.succeeded && key.output == demo.text(of: "audit-log.vkey"), "\(key)")

            let export = demo.directory.path(of: "export")
            let command = #""$1" audit export --database "$2" >"$3""#
            let outcome = try await runProcess(
                ["sh", "-c", command, "sh", Program.path, demo.location, export]
            )
            #expect(outcome.succeeded, "\(outcome)")
            let size = textOfFile(export).split(separator: "\n").count
            // The export is on record, too.
            for (first, exitCode, lines) in [(size + 1, 0, 0), (size + 3, 1, 0), (size, 0, 2)] as [(Int, Int32, Int)] {
                let rest = try await Program.run(["audit", "export", "--from-index", "\(first)"] + database)
                #expect(rest.end == .exited(exitCode), "\(rest)")
                #expect(rest.output.split(separator: "\n").count == lines, "\(rest)")
                #expect(rest.errors.contains("is beyond them") == (exitCode == 1), "\(rest)")
            }
            for span in [["query", "--from", "2026-02-01T00:00:00Z", "--until", "2026-01-01T00:00:00Z"]] {
                #expect(try await Program.run(["audit"] + span + database).end == .exited(2))
            }
            let verdict = try await runProcess(
                [Program.python, "-B", Program.checker("canonical_records")],
                input: export
            )
            #expect(verdict.succeeded, "\(verdict)")
            #expect(verdict.output.contains(#""sign.intent": 6"#), "\(verdict)")
            #expect(verdict.output.contains(#""sign.deny": 1"#), "\(verdict)")
            #expect(!textOfFile(export).contains("7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"))
            #expect(!textOfFile(export).contains("2000000123456789"))

            // A blank too many, and the checker says no.
            let spoilt = textOfFile(export).replacing(#""v":1}"#, with: #""v": 1}"#)
            let spoiltPath = try demo.directory.write(Array(spoilt.utf8), to: "spoilt")
            let doubt = try await runProcess(
                [Program.python, "-B", Program.checker("canonical_records")],
                input: spoiltPath
            )
            #expect(doubt.end == .exited(1))
            #expect(try await Program.run(["audit", "query", "--event", "audit.export"] + database).output != "")
        }
    }
}
