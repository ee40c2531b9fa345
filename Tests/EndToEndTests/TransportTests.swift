// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// TLS and IPv6, as curl sees them.
    @Suite struct TransportTests {
        /// Makes a certificate for 127.0.0.1, valid from now on.
        private func makeCertificate(_ demo: DemoFolder, name: String = "service") throws {
            try KeyTool.openssl(
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=\(name)",
                "-addext",
                "subjectAltName=IP:127.0.0.1",
                "-keyout",
                demo.path(of: "tls.key"),
                "-out",
                demo.path(of: "tls.pem")
            )
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: demo.path(of: "tls.key"))
        }

        private func curl(_ demo: DemoFolder, _ url: String, _ options: String...) async throws -> ProcessOutcome {
            try await runProcess(
                ["curl", "-sS", "--cacert", demo.path(of: "tls.pem"), "--noproxy", "*"] + options + [url]
            )
        }

        @Test func `with a certificate it speaks TLS 1_3 and nothing older`() async throws {
            let demo = try await DemoFolder()
            try makeCertificate(demo)
            let service = try await RunningService(
                demo,
                options: ["--tls-certificate", demo.path(of: "tls.pem"), "--tls-key", demo.path(of: "tls.key")]
            )
            let url = "https://127.0.0.1:\(service.port)"
            let answer = try await curl(
                demo,
                url + RunningService.signatures,
                "-H",
                "Authorization: Bearer \(demo.apiKey)",
                "-H",
                "Content-Type: application/json",
                "-d",
                "@\(demo.path(of: "request.json"))"
            )
            #expect(answer.output.contains(#""signature":"#), "\(answer)")
            let old = try await curl(demo, url + "/health/live", "--tls-max", "1.2")
            #expect(old.end == .exited(35), "\(old)")
            let plain = try await curl(demo, "http://127.0.0.1:\(service.port)/health/live")
            #expect(!plain.output.contains("live"), "\(plain)")

            // A renewed certificate comes into force on SIGHUP; curl trusts only the new one.
            try makeCertificate(demo, name: "renewed")
            #expect(try await curl(demo, url + "/health/live").end == .exited(60))
            try await service.reload()
            #expect(try await curl(demo, url + "/health/live").output == #"{"status":"live"}"#)
            // Not before the new configuration is on record: curl trusts only the one that could not be recorded.
            let good = ["tls.key", "tls.pem"].map { ($0, demo.text(of: $0)) }
            try makeCertificate(demo, name: "unrecorded")
            try demo.alter("ALTER TABLE audit_entries RENAME TO entries_elsewhere")
            try await service.reload()
            #expect(try await curl(demo, url + "/health/live").end == .exited(60))
            try demo.alter("ALTER TABLE entries_elsewhere RENAME TO audit_entries")
            for (name, text) in good { try demo.write(text, to: name) }
            #expect(try await curl(demo, url + "/health/live").output == #"{"status":"live"}"#)
            // A bad one does not.
            try demo.write("no certificate", to: "tls.key")
            try await service.reload()
            #expect(try await curl(demo, url + "/health/live").output == #"{"status":"live"}"#)
            #expect(service.log.contains("reload refused"))
        }

        @Test func `a backend that shows its certificate needs no API key, and from its revocation on is refused`()
            async throws
        {
            let demo = try await DemoFolder()
            try makeCertificate(demo)
            try KeyTool.openssl(
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=shop",
                "-keyout",
                demo.path(of: "client.key"),
                "-out",
                demo.path(of: "client.pem")
            )
            let service = try await RunningService(
                demo,
                options: ["--tls-certificate", demo.path(of: "tls.pem"), "--tls-key", demo.path(of: "tls.key")]
            )
            let url = "https://127.0.0.1:\(service.port)\(RunningService.signatures)"
            func sign(_ options: String...) async throws -> String {
                let words =
                    ["-H", "Content-Type: application/json", "-d", "@\(demo.path(of: "request.json"))"] + options
                let curl = ["curl", "-sS", "--cacert", demo.path(of: "tls.pem"), "--noproxy", "*"]
                return try await runProcess(curl + words + [url]).output
            }
            let shown = ["--cert", demo.path(of: "client.pem"), "--key", demo.path(of: "client.key")]
            func signShowing() async throws -> String { try await sign(shown[0], shown[1], shown[2], shown[3]) }
            #expect(try await signShowing().contains("unauthenticated"))
            let add = ["callers", "add", "shop", "--role", "backend", "--certificate", demo.path(of: "client.pem")]
            let added = try await Program.run(add + ["--database", demo.location])
            #expect(added.succeeded && added.output.contains("shop, as key cert-"), "\(added)")
            try await eventually("its certificate is known") { try await signShowing().contains(#""signature":"#) }
            #expect(try await sign().contains("unauthenticated"))
            #expect(try await Program.run(["callers", "revoke", "shop", "--database", demo.location]).succeeded)
            try await eventually("it is refused") { try await signShowing().contains("unauthenticated") }
        }

        @Test func `a certificate that can't be used is a wrong setting, for check and for serve`() async throws {
            let demo = try await DemoFolder()
            try makeCertificate(demo, name: "first")
            let tls = ["--tls-certificate", demo.path(of: "tls.pem"), "--tls-key", demo.path(of: "tls.key")]
            #expect(try await Program.run(["check"] + demo.options() + tls).end == .exited(0))
            try demo.write("no certificate", to: "tls.pem")
            for command in ["check", "serve"] {
                let outcome = try await Program.run([command] + demo.options() + tls)
                #expect(outcome.end == .exited(1), "\(outcome)")
                #expect("\(outcome)".contains("Cannot read the certificate chain"), "\(outcome)")
            }
        }

        @Test func `the certificate's key may be a credential, which only what reads it has to find`() async throws {
            let demo = try await DemoFolder()
            try makeCertificate(demo)
            let tls = ["--tls-certificate", demo.path(of: "tls.pem"), "--tls-key", "credential:tls.key"]
            let passed = ["CREDENTIALS_DIRECTORY": demo.path]
            let check = try await Program.run(["check"] + demo.options() + tls, environment: passed)
            #expect(check.succeeded, "\(check)")
            let other = tls.dropLast() + ["credential:none"]
            let absent = try await Program.run(["check"] + demo.options() + other, environment: passed)
            #expect(absent.end == .exited(1) && absent.errors.contains("\(demo.path(of: "none")): "), "\(absent)")
            for command in ["check", "serve"] {
                let alone = try await Program.run([command] + demo.options() + tls)
                #expect(alone.end == .exited(1), "\(alone)")
                #expect(alone.errors.contains("CREDENTIALS_DIRECTORY is not set"), "\(alone)")
            }
            let seal = try await Program.run(["seal", "--reason", "x"] + demo.databaseOptions() + tls)
            #expect(seal.succeeded, "an emergency needs no key: \(seal)")
        }

        @Test func `it listens on IPv6`() async throws {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo, address: "[::1]")
            let answer = try await curl(demo, "http://[::1]:\(service.port)/health/ready")
            #expect(answer.output.hasPrefix(#"{"status":"ready","obstacles":[]"#), "\(answer)")
        }
    }
}
