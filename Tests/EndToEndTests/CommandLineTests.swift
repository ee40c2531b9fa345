// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// What the program says to the person at the keyboard.
    @Suite struct CommandLineTests {
        private static let commands = [
            "demo", "init", "check", "serve", "verify", "completion", "callers", "keys", "customers", "seal", "unseal",
            "notifications", "tokens", "audit",
        ]

        @Test func `the list of commands names each of them`() async throws {
            let outcome = try await Program.run(["--help"])
            #expect(outcome.succeeded)
            for command in Self.commands { #expect(outcome.output.contains("\n  \(command) ")) }
            #expect(outcome.errors.isEmpty)
            let bare = try await Program.run([])
            #expect(bare.end == .exited(2))
            #expect(bare.errors == outcome.output)
            #expect(try await Program.run(["--version"]).output.contains(/^offer-signer [0-9]+\.[0-9]+\.[0-9]+\n$/))
        }

        @Test(arguments: commands)
        func `each command has a help that fits on a screen's width`(_ command: String) async throws {
            let outcome = try await Program.run([command, "--help"])
            #expect(outcome.succeeded)
            #expect(outcome.output.contains("offer-signer \(command)"))
            #expect(outcome.output.contains("Usage:"))
            #expect(outcome.errors.isEmpty)
            for line in outcome.output.split(separator: "\n") { #expect(line.count <= 115, "\(line)") }
            #expect(try await Program.run(["help", command]).output == outcome.output)
        }

        @Test(arguments: CommandLineRow.all)
        func `what is not understood is said, with exit code 2`(_ row: CommandLineRow) async throws {
            let outcome = try await Program.run(row.arguments, environment: row.environment)
            #expect(outcome.end == .exited(row.exitCode), "\(outcome)")
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.contains(row.complaint), "\(outcome)")
        }

        @Test func `check says everything that is wrong at once`() async throws {
            let demo = try await DemoFolder()
            let good = try await Program.run(["check"] + demo.options())
            #expect(good.succeeded, "\(good)")
            #expect(good.output.contains("1 key, 1 active"))

            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: demo.privateKey)
            try demo.edit("keys", replacing: "purposes:", with: "purpose:")
            try demo.edit("keys", replacing: #"status: "active""#, with: #"status: "activ""#)
            try demo.edit("offers", replacing: "appAppleId: 1234567890", with: #"appAppleId: "1234567890""#)
            try demo.edit("offers", replacing: "autoRenew:", with: "autoRenews:")
            try demo.edit("offers", replacing: "atLeastDays: 30", with: "atLeastDays: -1")
            let bad = try await Program.run(["check"] + demo.options())
            #expect(bad.end == .exited(1))
            let issues = bad.errors.split(separator: "\n")
            for expected in [
                "did you mean “purposes”", "/keys/0/status", "found “activ”", "/keys/0/file", "/apps/0/appAppleId",
                "did you mean “autoRenew”", "/apps/0/plans/0/offers/1/eligibility/all/1/any/0", "/atLeastDays",
            ] {
                #expect(bad.errors.contains(expected), "\(expected) is missing in:\n\(bad.errors)")
            }
            // Each names its file, line and column.
            #expect(issues.count >= 5)
            for issue in issues { #expect(issue.contains(/^error: \S+\/(keys|offers):[0-9]+:[0-9]+ \//), "\(issue)") }
            // The service says the same, and does not start.
            let serve = try await Program.run(["serve", "--listen", "127.0.0.1:0"] + demo.options())
            #expect(serve.end == .exited(1))
            for issue in issues { #expect(serve.errors.contains(issue)) }
        }

        @Test(arguments: ["--app-store-roots", "--trusted-certificates"])
        func `check and serve refuse a file of certificates that can't be used`(_ flag: String) async throws {
            let demo = try await DemoFolder()
            try demo.write("no certificate\n", to: "empty.pem")
            try demo.write("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n", to: "broken.pem")
            for (name, complaint) in [
                ("missing.pem", "No such file"), ("empty.pem", "no "), ("broken.pem", " "),
            ] {
                let options = demo.options() + [flag, demo.path(of: name)]
                let check = try await Program.run(["check"] + options)
                #expect(check.end == .exited(1), "\(check)")
                #expect(check.errors.contains("error: \(demo.path(of: name)): "), "\(check)")
                #expect(check.errors.contains(complaint), "\(check)")
                let serve = try await Program.run(["serve", "--listen", "127.0.0.1:0"] + options)
                #expect(serve.end == .exited(1))
                #expect(serve.errors.contains(check.errors))
            }
        }

        @Test(arguments: ["keys", "offers"])
        func `a world-writable file is refused`(_ name: String) async throws {
            let demo = try await DemoFolder()
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: demo.path(of: name))
            let check = try await Program.run(["check"] + demo.options())
            #expect(check.end == .exited(1), "\(check)")
            #expect(check.errors.contains("error: \(demo.path(of: name)): is world-writable"), "\(check)")
        }

        @Test func `files in a world-writable directory are refused`() async throws {
            let demo = try await DemoFolder()
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: demo.directory.path)
            let check = try await Program.run(["check"] + demo.options())
            #expect(check.end == .exited(1), "\(check)")
            for name in ["keys", "offers"] {
                #expect(check.errors.contains("error: \(demo.path(of: name)): decides what is signed, and"), "\(check)")
            }
            #expect(check.errors.contains("the mode of the directory \(demo.directory.path) is 0777"), "\(check)")
        }

        @Test(.enabled(if: Program.isRoot, "only root may mount"))
        func `a world-writable directory is accepted on a read-only mount`()
            async throws
        {
            let demo = try await DemoFolder()
            let folder = demo.path(of: "config")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try FileManager.default.moveItem(atPath: demo.path(of: "offers"), toPath: "\(folder)/offers")
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder)
            let words = [Program.path, "check", "--keys", demo.path(of: "keys"), "--offers", "\(folder)/offers"]
            let check = words + ["--database", demo.location]
            let mount = ["unshare", "-m", "sh", "-c", #"mount --bind -o ro "$0" "$0" && exec "$@""#, folder]
            let writable = try await runProcess(check)
            #expect(writable.end == .exited(1) && writable.errors.contains("does not lie safely"), "\(writable)")
            let readable = try await runProcess(mount + check)
            #expect(readable.succeeded, "\(readable)")
        }

        @Test func `check refuses an address to listen on that serve would refuse`() async throws {
            let demo = try await DemoFolder()
            let check = try await Program.run(["check", "--listen", "example.com:8080"] + demo.options())
            #expect(check.end == .exited(1) && check.errors.contains("127.0.0.1:8080"), "\(check)")
        }

        @Test func `a pipe in place of a certificate is refused, and not waited for`() async throws {
            let demo = try await DemoFolder()
            try demo.write("-", to: "tls.key")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: demo.path(of: "tls.key"))
            #expect(try await runProcess(["mkfifo", demo.path(of: "tls.pem")]).succeeded)
            let options = ["--tls-certificate", demo.path(of: "tls.pem"), "--tls-key", demo.path(of: "tls.key")]
            let check = try await Program.run(["check"] + demo.options() + options)
            #expect(check.errors.contains("tls.pem: is not a regular file"), "\(check)")
        }

        @Test func `check takes the certificates of the system`() async throws {
            let demo = try await DemoFolder()
            let bundle = ["--trusted-certificates", "/etc/ssl/certs/ca-certificates.crt"]
            let check = try await Program.run(["check"] + demo.options() + bundle)
            #expect(check.succeeded, "\(check)")
        }

        @Test func `a port or a database that can't be used ends with exit code 3`() async throws {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo)
            let taken = try await Program.run(
                ["serve", "--listen", "127.0.0.1:\(service.port)"] + demo.options(database: "other.db")
            )
            #expect(taken.end == .exited(3), "\(taken)")
            let nowhere = try await Program.run(
                ["serve", "--listen", "127.0.0.1:0"] + demo.options(at: demo.directory.unreachableDatabase)
            )
            #expect(nowhere.end == .exited(3), "\(nowhere)")
            try demo.directory.makeStrangeDatabase("no.db")
            let strange = try await Program.run(
                ["serve", "--listen", "127.0.0.1:0"] + demo.options(database: "no.db")
            )
            #expect(strange.end == .exited(3), "\(strange)")
        }
    }
}

/// A command line that is wrong, and what is said of it.
struct CommandLineRow: CustomTestStringConvertible {
    let arguments: [String]
    var environment: [String: String] = [:]
    let complaint: String
    var exitCode: Int32 = 2

    var testDescription: String { (environment.map { "\($0)=\($1)" } + arguments).joined(separator: " ") }

    static let all = [
        CommandLineRow(arguments: ["serv"], complaint: "did you mean “serve”"),
        CommandLineRow(arguments: ["kyes", "list"], complaint: "did you mean “keys”"),
        CommandLineRow(arguments: ["serve", "--lisen", "127.0.0.1:0"], complaint: "did you mean --listen"),
        CommandLineRow(arguments: ["serve", "--listen"], complaint: "--listen needs a value"),
        CommandLineRow(arguments: ["serve", "now"], complaint: "no further words"),
        CommandLineRow(arguments: ["demo", "a", "b"], complaint: "DIRECTORY"),
        CommandLineRow(arguments: ["sever"], complaint: "did you mean “serve”"),
        CommandLineRow(arguments: ["start"], complaint: "did you mean “serve”"),
        CommandLineRow(arguments: ["callers", "lst"], complaint: "did you mean “list”"),
        CommandLineRow(arguments: ["audit", "exprt"], complaint: "did you mean “export”"),
        CommandLineRow(arguments: ["serve", "--port", "8080"], complaint: "did you mean --listen"),
        CommandLineRow(arguments: ["serve", "--log-level", "debug"], complaint: "did you mean --log?"),
        CommandLineRow(arguments: ["version"], complaint: "did you mean “--version”"),
        CommandLineRow(arguments: ["-V"], complaint: "did you mean “--version”"),
        CommandLineRow(arguments: ["--hlep"], complaint: "did you mean “--help”"),
        CommandLineRow(arguments: ["status"], complaint: "did you mean “health”"),
        CommandLineRow(arguments: ["audit", "query", "--format", "xml"], complaint: "expected ndjson, csv or table"),
        CommandLineRow(arguments: ["audit", "export", "--format", "table"], complaint: "expected ndjson or csv"),
        CommandLineRow(arguments: ["migrate", "--dry-run", "--to", "sqlite:b"], complaint: "--from is missing"),
        CommandLineRow(arguments: ["completion", "tcsh"], complaint: "expected bash, zsh or fish"),
        CommandLineRow(
            arguments: ["init", "--p8", "k.p8", "--offer", "o"],
            complaint: "--issuer, --bundle, --product, --group"
        ),
        CommandLineRow(arguments: ["keys"], complaint: "list"),
        CommandLineRow(arguments: ["keys", "disable"], complaint: "KEY_ID"),
        CommandLineRow(
            arguments: ["keys", "disable", "0123456789abcdef0123456789abcdef01234567"],
            complaint: "enable a service account in the keys file"
        ),
        CommandLineRow(
            arguments: ["keys", "disable", "signer@example.iam.gserviceaccount.com"],
            complaint: "enable a service account in the keys file"
        ),
        CommandLineRow(arguments: ["customers"], complaint: "expected pseudonym or destroy-epoch"),
        CommandLineRow(arguments: ["customers", "pseudonym", "--customer-id", "ada"], complaint: "--app is missing"),
        CommandLineRow(
            arguments: ["customers", "pseudonym", "--app", "com.a", "--customer-id", "a b"],
            complaint: "--customer-id: expected 1 to 64 visible ASCII characters, no spaces; what is given is not shown"
        ),
        CommandLineRow(arguments: ["customers", "pseudonym", "--app", "com.a"], complaint: "1 to 16 names"),
        CommandLineRow(arguments: ["customers", "destroy-epoch", "a:b"], complaint: "1 to 16 letters or digits"),
        CommandLineRow(arguments: ["callers", "add", "x", "--role", "king"], complaint: "one of app, backend"),
        CommandLineRow(
            arguments: ["callers", "add", "x", "--role", "auditor", "--bundle", "com.a"],
            complaint: "is not bound to apps"
        ),
        CommandLineRow(arguments: ["audit", "query", "--from", "someday"], complaint: "--from"),
        CommandLineRow(arguments: ["audit", "query", "--outcome", "granted"], complaint: "notEligible"),
        CommandLineRow(
            arguments: ["audit", "query", "--event", "sign.denied"],
            complaint: "did you mean “sign.deny”?"
        ),
        CommandLineRow(arguments: ["audit", "query", "--event", "x"], complaint: "docs/audit-log.md has all of them"),
        // What another subcommand has would be ignored, and more be done than was asked for.
        CommandLineRow(
            arguments: ["callers", "revoke", "shop", "--bundle", "com.a"],
            complaint: "--bundle is not an option of revoke"
        ),
        CommandLineRow(
            arguments: ["customers", "destroy-epoch", "one", "--app", "com.a"],
            complaint: "--app is not an option of destroy-epoch"
        ),
        CommandLineRow(
            arguments: ["audit", "export", "--until", "2026-11-21T08:00:00Z"],
            complaint: "--until is not an option of export"
        ),
        CommandLineRow(
            arguments: ["audit", "reconcile", "--rebuild"],
            complaint: "--rebuild is not an option of reconcile"
        ),
        CommandLineRow(
            arguments: ["audit", "export", "--tiles", "log", "--from-index", "7"],
            complaint: "--tiles writes the whole log into a folder, without --from-index"
        ),
        CommandLineRow(
            arguments: ["audit", "verify", "--tiles", "log", "--database", "sqlite:a.db"],
            complaint: "give one of the two"
        ),
        CommandLineRow(arguments: ["serve", "--listen", "8080"], complaint: "--listen", exitCode: 1),
        CommandLineRow(
            arguments: ["serve"],
            environment: ["OFFER_SIGNER_LISTENN": "127.0.0.1:0"],
            complaint: "did you mean OFFER_SIGNER_LISTEN",
            exitCode: 1
        ),
    ]
}
