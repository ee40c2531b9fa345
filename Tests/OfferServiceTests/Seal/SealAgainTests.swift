// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import ServiceRuntime
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Ledger

/// A seal that is lifted at one instance while its cause still holds at another.
@Suite(.overBothEngines) struct SealAgainTests {
    /// One more instance on a service's database, with a clock of its own.
    private final class Other: Sendable {
        let clock = SettableClock()
        let clockState = SettableClockState()
        let committer: Committer
        let seal: Seal
        let watch: SealWatch
        /// Why its own signatures don't verify.
        let fault = Mutex<String?>(nil)

        init(beside service: TestService) throws {
            let log = Log(level: .error, clock: clock.wallClock, sink: service.log.sink)
            let open: ConnectionOpener = { [ledger = service.ledger] () throws(StorageError) in
                try ledger.openPatiently()
            }
            committer = Committer(
                clock: clock.wallClock,
                observer: Metrics(),
                options: CommitterOptions(acknowledges: true),
                open: open
            )
            committer.start(on: try service.ledger.openPatiently())
            seal = Seal(keyUseGuard: committer.keyUseGuard, committer: committer, clock: clock.wallClock, log: log) {
                nil
            }
            watch = SealWatch(
                SealSettings(),
                seal: seal,
                committer: committer,
                status: clockState.status(clock),
                runtime: Runtime(clock: clock.wallClock, random: ScriptedRandom(), log: log)
            )
            seal.keep(.selfVerification) { [self] in fault.withLock { $0 } }
        }

        /// Hears what others have recorded, and then looks once.
        func look() async throws {
            try await committer.change { _ in }
            watch.look()
        }
    }

    /// Two instances; the first one knows of no fault.
    private func withTwo(_ body: (TestService, Other) async throws -> Void) async throws {
        try await withService { service async throws in
            let other = try Other(beside: service)
            do {
                try await body(service, other)
            } catch {
                await mayBlock { other.committer.stop() }
                throw error
            }
            await mayBlock { other.committer.stop() }
        }
    }

    private func unseal(_ service: TestService) async throws {
        let lifted = try await service.act("/v1/unseal", body: #"{"reason": "all is well here"}"#)
        #expect(lifted.status == 200, "\(lifted)")
        let signed = try await service.sign(offer: "open")
        #expect(signed.status == 200, "\(signed)")
    }

    private func seals(_ service: TestService) throws -> [String?] {
        try service.entries("service.seal").map(\.["cause"].text)
    }

    @Test func `a clock that is behind seals again, until it is right`() async throws {
        try await withTwo { service, other async throws in
            #expect(try await service.sign(offer: "open").status == 200)
            try await other.look()
            other.clockState.step(other.clock, seconds: -86_400)
            try await other.look()
            #expect(try await eventually { try seals(service) == ["clock-stepped"] })
            #expect(try await service.sign(offer: "open").problem == "sealed")
            try await unseal(service)
            try await other.look()
            #expect(try await eventually { try seals(service) == ["clock-stepped", "clock-stepped"] })
            #expect(try await service.sign(offer: "open").problem == "sealed")
            other.clock.advance(hours: 24)
            try await unseal(service)
            try await other.look()
            #expect(other.seal.causes.isEmpty)
        }
    }

    @Test func `a machine whose signatures don't verify seals again, until they do`() async throws {
        try await withTwo { service, other async throws in
            other.fault.withLock { $0 = "the self-test failed" }
            try await other.look()
            #expect(try seals(service).isEmpty, "keys are tested when they sign")
            other.seal.seal(.selfVerification, detail: "a signature did not verify")
            for count in 2...3 {
                try await other.committer.change { _ in }
                try await unseal(service)
                try await other.look()
                #expect(try await eventually { try seals(service).count == count })
            }
            other.fault.withLock { $0 = nil }
            try await unseal(service)
            for _ in 1...2 { try await other.look() }
            #expect(other.seal.causes.isEmpty && other.committer.keyUseGuard.stop(of: nil) == nil)
            // It was lifted for good: what is found later is found by a signature.
            other.fault.withLock { $0 = "the self-test failed" }
            try await other.look()
            #expect(other.seal.causes.isEmpty)
        }
    }

    @Test func `an instance does not renew a lifted seal that another instance set`() async throws {
        try await withTwo { service, other async throws in
            other.fault.withLock { $0 = "the self-test failed" }
            for cause in [SealCause.selfVerification, .administrator] {
                try service.sealFromElsewhere(cause)
                try await other.look()
                try await unseal(service)
                try await other.look()
                #expect(other.seal.causes.isEmpty)
            }
        }
    }
}
