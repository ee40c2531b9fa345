// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `offer-signer health`, and the name under which the process is found.
    @Suite struct HealthCommandTests {
        @Test func `finds a service that answers, and none that does not`() async throws {
            let service = try await RunningService(try await DemoFolder())
            for address in ["127.0.0.1:\(service.port)", "0.0.0.0:\(service.port)"] {
                for words in [["health"], ["health", "--ready"]] {
                    let outcome = try await Program.run(words + ["--listen", address])
                    #expect(outcome.succeeded && outcome.output.contains("is \(words.count == 1 ? "live" : "ready")"))
                }
            }
            #expect(textOfFile("/proc/\(service.process.id)/comm") == "offer-signer\n")
            service.process.send(SIGSTOP)
            let address = ["OFFER_SIGNER_LISTEN": "127.0.0.1:\(service.port)"]
            #expect(try await Program.run(["health"], environment: address).end == .exited(1))
            service.process.send(SIGCONT)
            #expect(try await Program.run(["health"], environment: address).succeeded)
            _ = try await service.stop()
            let gone = try await Program.run(["health"], environment: address)
            #expect(gone.end == .exited(1) && gone.errors.contains("no service answers"), "\(gone)")
        }

        @Test func `says why a service is not ready, and that it is live`() async throws {
            let demo = try await DemoFolder()
            let service = try await RunningService(demo)
            let seal = try await Program.run(["seal", "--reason", "a trial"] + demo.databaseOptions())
            #expect(seal.succeeded, "\(seal)")
            let listen = ["--listen", "127.0.0.1:\(service.port)"]
            let outcome = try await Program.run(["health", "--ready"] + listen)
            #expect(outcome.end == .exited(1) && outcome.errors.contains("sealed-administrator"), "\(outcome)")
            #expect(try await Program.run(["health"] + listen).succeeded)
        }

        @Test func `asks by TLS where a certificate is set`() async throws {
            let demo = try await DemoFolder()
            let (key, chain) = (demo.path(of: "tls.key"), demo.path(of: "tls.pem"))
            let made = try await runProcess([
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                "/CN=offers.example.com", "-keyout", key, "-out", chain,
            ])
            #expect(made.succeeded, "\(made)")
            let tls = ["--tls-certificate", chain, "--tls-key", key]
            let service = try await RunningService(demo, options: tls)
            let listen = ["--listen", "127.0.0.1:\(service.port)"]
            #expect(try await Program.run(["health"] + listen + tls).succeeded)
            #expect(try await Program.run(["health"] + listen).end == .exited(1))
        }
    }
}
