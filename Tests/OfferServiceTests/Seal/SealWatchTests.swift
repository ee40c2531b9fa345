// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import ServiceRuntime
import Testing

@testable import Ledger

/// What the service notices by itself, and what it does then; each look is asked for.
struct SealWatchTests {
    /// A service with a watch that looks only when the test calls `look()`.
    private func withWatch(
        _ settings: SealSettings = SealSettings(),
        wrap: @escaping TestService.Wrap = { $0 },
        _ body: (TestService, SealWatch, SettableClockState) async throws -> Void
    ) async throws {
        try await withService(wrap: wrap) { service async throws in
            let clockState = SettableClockState()
            let log = Log(level: .debug, clock: service.clock.wallClock, sink: service.log.sink)
            let watch = SealWatch(
                settings,
                seal: service.seal,
                committer: service.committer,
                status: clockState.status(service.clock),
                runtime: Runtime(clock: service.clock.wallClock, random: ScriptedRandom(), log: log)
            )
            try await body(service, watch, clockState)
        }
    }

    private func causes(_ service: TestService) -> [SealCause] { service.seal.causes.map(\.cause) }

    // MARK: - The file

    @Test func `a file seals while it is there, and its removal lifts nothing else`() async throws {
        let folder = try TemporaryFolder()
        try await withWatch(SealSettings(sealFile: folder.path)) { service, watch, _ async throws in
            watch.look()
            #expect(causes(service) == [])
            try folder.write()
            watch.look()
            #expect(causes(service) == [.file])
            #expect(try await service.sign(offer: "open").problem == "sealed")
            let refusal = try await service.act("/v1/unseal", body: #"{"reason": "over"}"#)
            #expect(refusal.status == 409 && refusal.problem == "still-sealed", "\(refusal)")
            #expect(refusal.json["detail"].text?.contains("file: the file") == true)
            _ = try await service.act("/v1/seal", body: #"{"reason": "leak"}"#)
            #expect(try await service.act("/v1/unseal", body: #"{"reason": "over"}"#).status == 409)
            try folder.remove()
            watch.look()
            #expect(try await eventually { causes(service) == [.administrator] })
            #expect(try await service.sign(offer: "open").problem == "sealed")
            #expect(try await service.act("/v1/unseal", body: #"{"reason": "over"}"#).status == 200)
            #expect(try await service.sign(offer: "open").status == 200)
            let entries = try service.entries().map(Tree.init)
            #expect(
                entries.map(\.["ev"].text) == [
                    "service.seal", "service.seal", "service.unseal", "service.unseal", "sign.intent",
                ]
            )
            #expect(entries.map(\.["cause"].text) == ["file", "administrator", "file", "administrator", nil])
            #expect(entries.map(\.["by"].text) == ["file", "api", "file", "api", nil])
        }
    }

    @Test func `a link that leads nowhere seals, and so does what can't be looked for`() async throws {
        let folder = try TemporaryFolder()
        try await withWatch(SealSettings(sealFile: try folder.danglingLink())) { service, watch, _ async throws in
            watch.look()
            #expect(causes(service) == [.file])
        }
        try folder.write()
        try await withWatch(SealSettings(sealFile: folder.path + "/inside")) { service, watch, _ async throws in
            watch.look()
            #expect(causes(service) == [], "there can be nothing inside of a file")
        }
        let tooLong = "/tmp/" + String(repeating: "x", count: 300)
        try await withWatch(SealSettings(sealFile: tooLong)) { service, watch, _ async throws in
            watch.look()
            #expect(causes(service) == [.file], "its name is too long to be looked for")
        }
    }

    // MARK: - The clock

    @Test(arguments: [Int64(-7200), -4, 3, 86_400])
    func `a clock jump is recorded, and seals until an administrator unseals the service`(seconds: Int64) async throws {
        try await withWatch { service, watch, clockState async throws in
            #expect(try await service.sign(offer: "open").status == 200)
            watch.look()
            service.clock.advance(seconds: 1)
            watch.look()
            #expect(causes(service) == [])
            let before = service.clock.now
            clockState.step(service.clock, seconds: seconds)
            watch.look()
            #expect(causes(service) == [.clockStepped])
            #expect(try await service.sign(offer: "open").problem == "sealed")
            #expect(try await eventually { try service.entries("clock.step").count == 1 })
            let entry = try service.entries("clock.step")[0]
            #expect(
                entry["from"].integer == before.milliseconds && entry["to"].integer == service.clock.now.milliseconds
            )
            watch.look()
            #expect(try service.entries("service.seal").count == 1, "noticed once")
            let lift = try await service.act("/v1/unseal", body: #"{"reason": "clock is right"}"#)
            if seconds < 0 {
                #expect(lift.problem == "still-sealed", "\(lift)")
                #expect(lift.json["detail"].text?.contains("before that of the last record") == true)
                service.clock.advance(milliseconds: -seconds * 1000)
                #expect(try await service.act("/v1/unseal", body: #"{"reason": "it is now"}"#).status == 200)
            } else {
                #expect(lift.status == 200)
            }
            #expect(try await service.sign(offer: "open").status == 200)
        }
    }

    @Test func `a clock that is slewed to the right time does not seal`() async throws {
        try await withWatch { service, watch, clockState async throws in
            for _ in 0..<20 {
                service.clock.advance(seconds: 1)
                clockState.step(service.clock, seconds: 2)
                watch.look()
                service.clock.advance(seconds: 1)
                clockState.step(service.clock, seconds: -2)
                watch.look()
            }
            #expect(causes(service) == [])
        }
    }

    @Test func `the threshold is what is set`() async throws {
        try await withWatch(SealSettings(clockStepSeconds: 60)) { service, watch, clockState async throws in
            watch.look()
            clockState.step(service.clock, seconds: 60)
            watch.look()
            #expect(causes(service) == [])
            clockState.step(service.clock, seconds: -61)
            watch.look()
            #expect(causes(service) == [.clockStepped])
        }
    }

    @Test(arguments: [ClockSynchronisation.unsynchronised, .unknown(reason: "Operation not permitted")])
    func `a clock that nothing keeps right seals until something does`(_ state: ClockSynchronisation) async throws {
        try await withWatch { service, watch, clockState async throws in
            clockState.synchronisation = state
            watch.look()
            #expect(causes(service) == [.clockUnsynchronised])
            let reply = try await service.sign(offer: "open")
            #expect(reply.problem == "sealed" && reply.headers["retry-after"] == "5", "\(reply)")
            #expect(try await service.act("/v1/unseal", body: #"{"reason": "never mind"}"#).problem == "still-sealed")
            clockState.synchronisation = .synchronised
            watch.look()
            #expect(try await eventually { causes(service) == [] })
            #expect(try await service.sign(offer: "open").status == 200)
            let acts = try service.entries().map(Tree.init).map { [$0["ev"].text, $0["cause"].text] }
            #expect(
                acts == [
                    ["service.seal", "clock-unsynchronised"], ["service.unseal", "clock-unsynchronised"],
                    ["sign.intent", nil],
                ]
            )
        }
    }

    @Test func `only warns where that is set, and looks at nothing where that is set`() async throws {
        for check in [ClockCheck.warn, .off] {
            try await withWatch(SealSettings(clockCheck: check)) { service, watch, clockState async throws in
                clockState.synchronisation = .unsynchronised
                watch.look()
                clockState.step(service.clock, seconds: 10)
                watch.look()
                #expect(causes(service) == [])
                #expect(try await service.sign(offer: "open").status == 200)
                let names = watch.warnings.map(\.name)
                #expect(names == (check == .warn ? ["clock-stepped", "clock-unsynchronised"] : []))
                #expect(try service.entries("clock.step").count == (check == .warn ? 1 : 0))
            }
        }
    }

    // MARK: - What can't be recorded

    @Test func `a cause that ends before it could be recorded leaves both entries`() async throws {
        let faults = Faults()
        let folder = try TemporaryFolder()
        try await withWatch(SealSettings(sealFile: folder.path), wrap: faults.wrap) {
            service,
            watch,
            _ async throws in
            faults.failCommits(Faults.diskFull)
            try folder.write()
            watch.look()
            #expect(try await eventually { service.metrics[.commitFailures(reason: "disk-full")] == 1 })
            #expect(causes(service) == [.file, .logUnwritable])
            watch.look()
            #expect(try await eventually { causes(service) == [.file] })
            try folder.remove()
            watch.look()
            #expect(try await eventually { causes(service) == [] })
            let events = try service.entries().map(Tree.init).map(\.["ev"].text)
            #expect(events == ["service.seal", "audit.resume", "service.unseal"])
        }
    }

    @Test func `a log that can't be written is a cause as long as that is so`() async throws {
        let faults = Faults()
        try await withWatch(wrap: faults.wrap) { service, _, _ async throws in
            faults.failCommits(Faults.diskFull)
            let refused = try await service.sign(offer: "open")
            #expect(refused.problem == "audit-unavailable", "as ever")
            let shown = try await service.send(service.authorized(.get("/v1/seal"), as: "auditor"))
            #expect(shown.json["causes"][0]["cause"] == .text("log-unwritable"), "\(shown)")
            #expect(shown.json["causes"][0]["since"].text == service.clock.now.rfc3339)
            let page = try MetricsPage(try await service.send(.get("/metrics")))
            #expect(page.samples[#"offer_signer_sealed{cause="log-unwritable"}"#] == 1)
            let ready = try await service.send(.get("/health/ready")).json["obstacles"].elements
            #expect(ready.map(\.["name"].text) == ["audit-unavailable"])
            #expect(try await service.sign(offer: "open").status == 200)
            #expect(!service.seal.isSealed)
        }
    }
}
