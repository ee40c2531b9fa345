// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// A witness follows the log, and says no to one that did not grow.
    @Suite struct WitnessTests {
        @Test func `growth is cosigned within seconds, and the cosignature is verified by Go`() async throws {
            let (audited, witness, policy) = try await witnessed()
            let service = try await RunningService(audited.demo, options: policy)
            for _ in 0..<3 {
                #expect(try service.sign(audited.demo.request(customer: UUID().uuidString)).status == 200)
                let size = try audited.logState(service).size
                try await eventually("\(size) entries are cosigned") {
                    try witness.state(of: Self.origin).size >= size
                }
            }
            try await cosigned(audited, service)
            let state = try audited.logState(service)
            #expect(state.witnesses.map(\.state) == ["current"])
            #expect(state.quorum.isMet)
            let note = try audited.checkpoint(service)
            let path = try audited.demo.directory.write(Array(note.utf8), to: "cosigned")
            let verdict = try await LogVerifier.run([
                "checkpoint", "--vkey", audited.verifierKey, "--witness", witness.verifierKey, path,
            ])
            #expect(verdict.succeeded, "\(verdict)")
            // The newest one may be so new that the witness has not seen it.
            try await eventually("the whole log is verified with the witness") {
                try await audited.verify(service, "--witness", witness.verifierKey).succeeded
            }

            // After a restart, the service continues with the witness where it was.
            #expect(try await service.stop() == .exited(0))
            let seen = try witness.state(of: Self.origin).size
            let again = try await RunningService(audited.demo, options: policy)
            try await eventually("the next checkpoint is cosigned") { try witness.state(of: Self.origin).size > seen }
            #expect(try await again.stop() == .exited(0))
        }

        @Test func `signing continues while a witness is away, and the witness catches up later`() async throws {
            let (audited, witness, policy) = try await witnessed()
            let service = try await RunningService(audited.demo, options: policy)
            try await cosigned(audited, service)
            try witness.behave(.status, status: 503)
            for _ in 0..<3 {
                #expect(try service.sign(audited.demo.request(customer: UUID().uuidString)).status == 200)
            }
            try await eventually("it is said that the witness is away") {
                try audited.logState(service).witnesses.map(\.state) == ["unreachable"]
            }
            #expect(try service.sign(audited.demo.request(customer: UUID().uuidString)).status == 200)
            try witness.behave()
            try await cosigned(audited, service)
            #expect(try await service.stop() == .exited(0))
        }

        @Test func `a cosignature that does not verify is not served`() async throws {
            let (audited, witness, policy) = try await witnessed()
            try witness.behave(.forged)
            let service = try await RunningService(audited.demo, options: policy)
            try await eventually("the witness was asked") { try witness.state(of: Self.origin).requests > 0 }
            try await audited.settle(service)
            #expect(!(try audited.checkpoint(service).contains("witness.example")))
            #expect(try audited.logState(service).witnesses.map(\.state) != ["current"])
            try witness.behave()
            try await cosigned(audited, service)
            #expect(try await service.stop() == .exited(0))
        }

        @Test func `a fork is refused by the witness and loudly reported`() async throws {
            let (audited, witness, policy) = try await witnessed()
            let demo = audited.demo
            try await run(audited, policy, requests: 1)
            try copyState(demo, to: "fork")
            // The one history goes on, and is seen.
            try await run(audited, policy, requests: 2)
            let seen = try witness.state(of: Self.origin).size
            try copyState(demo, from: "fork")

            // The other begins where both were the same, so that nothing on the disk betrays it.
            let service = try await RunningService(demo, options: policy)
            try await refusedLoudly(audited, service)
            #expect(try witness.state(of: Self.origin).size == seen)
            #expect(try await service.stop() == .exited(0))
        }

        @Test(.aboutPostgreSQL)
        func `a service that lags behind another takes the witness for no contradiction`() async throws {
            let (audited, witness, policy) = try await witnessed()
            let far = try audited.policy(demanding: witness, at: witness.farURL)
            let file = audited.demo.path(of: "far.checkpoint")
            let near = try await RunningService(audited.demo, options: policy)
            let behind = try await RunningService(audited.demo, checkpoint: file, options: far)
            try witness.cutOff(true)
            #expect(try behind.sign(audited.demo.request(customer: UUID().uuidString)).status == 200)
            try await eventually("it is said that the witness is away") {
                try says("unreachable", behind)
            }
            // The witness follows the other, which goes on, and then answers the first.
            try await whileSigning(audited, near) {
                try await cosigned(audited, near)
                try witness.cutOff(false)
                try await eventually("the one that lagged behind is cosigned too") {
                    try says("current", behind)
                }
            }
            for service in [near, behind] {
                #expect(try service.sign(audited.demo.request(customer: UUID().uuidString)).status == 200)
                try await cosigned(audited, service)
                #expect(try service.ask("/v1/seal", apiKey: audited.apiKey).body.contains(#""causes":[]"#))
            }
            for service in [near, behind] { #expect(try await service.stop() == .exited(0)) }
        }

        static let origin = "example.com/offer-signer"

        /// An example with one witness for its log.
        private func witnessed() async throws -> (AuditedDemo, FakeWitness, policy: [String]) {
            let audited = try await AuditedDemo()
            let witness = try FakeWitness()
            try witness.trust(audited.verifierKey)
            return (audited, witness, try audited.policy(demanding: witness))
        }

        /// Runs the service for that many signatures, until all is cosigned.
        private func run(_ audited: AuditedDemo, _ policy: [String], requests: Int) async throws {
            let service = try await RunningService(audited.demo, options: policy)
            for _ in 0..<requests {
                #expect(try service.sign(audited.demo.request(customer: UUID().uuidString)).status == 200)
            }
            try await cosigned(audited, service)
            #expect(try await service.stop() == .exited(0))
        }

        /// Does something while a service signs, a few times a second.
        private func whileSigning(
            _ audited: AuditedDemo,
            _ service: RunningService,
            _ body: () async throws -> Void
        ) async throws {
            let signing = Task {
                while !Task.isCancelled {
                    let answer = try service.sign(audited.demo.request(customer: UUID().uuidString))
                    #expect(answer.status == 200, "\(answer)")
                    try? await Task.sleep(for: .milliseconds(200))
                }
            }
            defer { signing.cancel() }
            try await body()
            signing.cancel()
            try await signing.value
        }

        /// Whether a service's metrics have the witness in that state; a request for the log's state would be recorded,
        /// and the service would then see what others have recorded.
        private func says(_ state: String, _ service: RunningService) throws -> Bool {
            let metrics = try service.ask("/metrics").body
            return metrics.split(separator: "\n").contains { line in
                line.hasPrefix("offer_signer_witness") && line.contains(#"state="\#(state)""#) && line.hasSuffix(" 1")
            }
        }

        /// Waits until the newest checkpoint has a cosignature.
        private func cosigned(_ audited: AuditedDemo, _ service: RunningService) async throws {
            let size = try audited.logState(service).size
            try await eventually("a checkpoint of \(size) entries is served with its cosignature") {
                let note = try audited.checkpoint(service)
                let lines = note.split(separator: "\n", omittingEmptySubsequences: false)
                return lines.count > 3 && Int64(lines[1]) ?? 0 >= size && note.contains("— witness.example/w1 ")
            }
        }

        /// In the service's log, its metrics, its own words, and by sealing itself.
        private func refusedLoudly(_ audited: AuditedDemo, _ service: RunningService) async throws {
            try await eventually("the witness is said to refuse") {
                try audited.logState(service).witnesses.map(\.state) == ["refused"]
            }
            let state = try audited.logState(service)
            #expect(state.witnesses[0].detail?.isEmpty == false)
            #expect(!state.quorum.isMet)
            try await service.logs(#""level":"error""#)
            let metrics = try service.ask("/metrics").body
            #expect(metrics.contains(/witness[a-z_]*\{[^}]*state="refused"[^}]*\} 1/), "\(metrics)")
            let seal = try service.ask("/v1/seal", apiKey: audited.apiKey)
            #expect(seal.body.contains(#""cause":"checkpoint""#), "\(seal)")
            let answer = try service.sign(audited.demo.request(customer: UUID().uuidString))
            #expect(answer.status == 503, "\(answer)")
        }

        /// The database together with its checkpoint file, as a thorough forger would copy them.
        private func copyState(_ demo: DemoFolder, to name: String) throws {
            try copy(from: demo.path, to: demo.directory.path(of: name))
            if TestedEngine.isPostgreSQL { try demo.directory.copyDatabase(DemoFolder.name, to: "\(name).db") }
        }

        private func copyState(_ demo: DemoFolder, from name: String) throws {
            try copy(from: demo.directory.path(of: name), to: demo.path)
            if TestedEngine.isPostgreSQL { try demo.directory.copyDatabase("\(name).db", to: DemoFolder.name) }
        }

        private func copy(from: String, to: String) throws {
            try? FileManager.default.removeItem(atPath: to)
            try FileManager.default.copyItem(atPath: from, toPath: to)
        }
    }
}
