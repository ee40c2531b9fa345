// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// What makes the command line pleasant: completion, help of subcommands, dates, tables, and text logs.
    @Suite struct TerminalTests {
        /// What bash would complete, given the words so far.
        private func completed(_ words: String...) async throws -> Set<Substring> {
            let script = #"""
                source <("$0" completion bash)
                COMP_WORDS=(offer-signer "$@"); COMP_CWORD=$#
                _offer_signer
                printf '%s\n' "${COMPREPLY[@]}"
                """#
            let outcome = try await runProcess(["bash", "-c", script, Program.path] + words)
            #expect(outcome.succeeded && outcome.errors.isEmpty, "\(outcome)")
            return Set(outcome.output.split(separator: "\n"))
        }

        @Test func `bash completes commands, subcommands, options and values`() async throws {
            #expect(try await completed("ver") == ["verify"])
            #expect(try await completed("audit", "q") == ["query"])
            #expect(try await completed("audit", "query", "--fo") == ["--format"])
            #expect(try await completed("callers", "add", "x", "--role", "") == ["app", "backend", "auditor", "admin"])
            #expect(try await completed("serve", "--log-f") == ["--log-format"])
            #expect(try await completed("serve", "--log", "w") == ["warning"])
            #expect(try await completed("serve", "--listen", "").isEmpty)
            #expect(try await completed("init", "--p") == ["--p8", "--product"])
            #expect(try await completed("audit", "").contains("key"))
            #expect(try await completed("audit", "").isDisjoint(with: ["--keys", "--help"]))
            #expect(try await completed("audit", "--he") == ["--help"])
            #expect(try await completed("callers", "list", "--format", "") == ["text", "table"])
            #expect(try await completed("audit", "export", "--format", "") == ["ndjson", "csv"])
            #expect(try await completed("audit", "query", "--format", "t") == ["table"])
            #expect(try await completed("diagnose", "--format", "") == ["text", "json"])
            #expect(try await completed("audit", "query", "--event", "sign.i") == ["sign.intent"])
            #expect(try await completed("audit", "query", "--reason", "cooldown-r") == ["cooldown-running"])
            #expect(try await completed("health", "--rea") == ["--ready"])
            #expect(try await completed("serve", "--log-format", "=").isSuperset(of: ["text", "json"]))
            #expect(try await completed("serve", "--log-format", "=", "te") == ["text"])
            #expect(try await completed("help", "aud") == ["audit"])
            #expect(try await completed("help", "audit", "rec") == ["reconcile"])
        }

        @Test(arguments: ["zsh", "fish"])
        func `the other shells get every command and option too`(shell: String) async throws {
            let script = try await Program.run(["completion", shell])
            #expect(script.succeeded)
            for word in ["catch-up", "destroy-epoch", "clock-check", "from-index", "p8", "text table", "help"] {
                #expect(script.output.contains(word), "\(word)")
            }
        }

        @Test(arguments: [
            ["audit", "query"], ["audit", "key"], ["audit", "new-log"], ["callers", "add"], ["keys", "disable"],
            ["notifications", "catch-up"], ["customers", "pseudonym"],
        ])
        func `each subcommand has a page of its own, with placeholders and an example`(words: [String]) async throws {
            let page = try await Program.run(words + ["--help"])
            #expect(page.succeeded)
            #expect(page.output.contains("Usage: offer-signer \(words.joined(separator: " ")) "), "\(page.output)")
            #expect(page.output.contains("Example:\n  offer-signer "))
            #expect(try await Program.run(["help"] + words).output == page.output)
            for line in page.output.split(separator: "\n") { #expect(line.count <= 130, "\(line)") }
        }

        @Test func `settings have placeholders in the help`() async throws {
            let help = try await Program.run(["serve", "--help"]).output
            for text in [
                "--keys FILE\n", "--app-store-url URL\n", "--log-format json|text\n", "--listen ADDRESS:PORT\n",
            ] {
                #expect(help.contains(text), "\(text)")
            }
        }

        @Test func `queries take days and ages, and lists are tables if that is wanted`() async throws {
            let demo = try await DemoFolder()
            let database = demo.databaseOptions()
            for from in ["-24h", "-7d", "2026-01-01", "2026-01-01T00:00:00Z"] {
                let found = try await Program.run(
                    ["audit", "query", "--event", "caller.create", "--from", from] + database
                )
                #expect(found.succeeded && found.output.contains("caller.create"), "\(from) \(found)")
            }
            let none = try await Program.run(["audit", "query", "--until", "-1d"] + database)
            #expect(none.succeeded && none.output.isEmpty)
            for wrong in ["24h", "-24", "-1y", "2026-13-01", "26-11-2026"] {
                #expect(
                    try await Program.run(["audit", "query", "--from", wrong] + database).end == .exited(2),
                    "\(wrong)"
                )
            }
            let entries = try await Program.run(["audit", "query", "--format", "table"] + database).output
            #expect(entries.hasPrefix("INDEX     TIME") && entries.contains("caller.create"), "\(entries)")
            let callers = try await Program.run(["callers", "list", "--format", "table"] + database).output
            #expect(callers.hasPrefix("CALLER        ROLE     APPS  RATE  KEY"), "\(callers)")
            #expect(callers.contains("demo-backend  backend  all   -"), "\(callers)")
            let keys = try await Program.run(["keys", "list", "--format", "table"] + demo.options()).output
            #expect(keys.hasPrefix("KEY         STATE") && keys.contains("\nABC123DEFG  active"), "\(keys)")
        }

        @Test(.aboutSQLite) func `a caller is added nowhere but where a service looks`() async throws {
            let directory = try TemporaryDirectory()
            let script = #"cd "$0" && "$@""#
            let words = [Program.path, "callers", "add", "shop", "--role", "backend"]
            let lost = try await runProcess(["sh", "-c", script, directory.path] + words)
            #expect(lost.end == .exited(3) && lost.errors.contains("--create"), "\(lost)")
            #expect(lost.errors.contains("\(directory.path)/offer-signer.db") && lost.output.isEmpty)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
            let wanted = try await runProcess(["sh", "-c", script, directory.path] + words + ["--create"])
            #expect(wanted.succeeded && wanted.errors.contains("made a new database"), "\(wanted)")
        }

        @Test func `the log is text if that is asked for, with a line for each decision`() async throws {
            let demo = try await DemoFolder()
            let log = demo.directory.path(of: "text-log")
            let service = try ChildProcess(
                [Program.path, "serve", "--listen", "127.0.0.1:0", "--clock-check", "warn", "--log-format", "text"]
                    + demo.options(),
                environment: ownEnvironment(),
                output: demo.directory.path(of: "output"),
                errors: log
            )
            var port: UInt16 = 0
            try await eventually("it listens") {
                port = textOfFile(log).firstMatch(of: /listening .*port=([0-9]+)/).flatMap { UInt16($0.1) } ?? 0
                return port != 0
            }
            for key in [demo.apiKey, "0123456789abcdef.x"] {
                let client = try RawHTTPClient(port: port, patience: 60)
                let body = demo.text(of: "request.json")
                client.send(RunningService.text("POST", RunningService.signatures, body: body, apiKey: key))
                _ = try client.readAnswer()
            }
            try await eventually("both are logged") {
                let text = textOfFile(log)
                let granted =
                    /INFO    decided  caller=demo-backend  offer=winback_3m  outcome=eligible .*milliseconds=[0-9]+/
                let refused = /INFO    request refused  caller=unknown .*status=401  outcome=unauthenticated/
                return text.contains(granted) && text.contains(refused) && !text.contains("\u{1B}")
            }
            service.send(SIGTERM)
            _ = try await service.waitForEnd()
        }
    }
}
