// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import ServiceRuntime
import TestSupport
import Testing

@testable import Configuration
@testable import OfferService
@testable import Stores

/// What the memory of used proofs promises: none counts twice, on any instance, and none is forgotten early to make room.
struct ProofLimitsTests {
    /// A device with proofs for a token that is bound to its key, and the time.
    private struct Device {
        static let origin = "https://offers.example.com"
        static let token = "a.bound.token"

        let provider: FakeIdentityProvider
        let name: String
        let key: FakeIdentityProvider.DeviceKey
        let clock: SettableClock

        init(_ name: String, _ provider: FakeIdentityProvider, _ clock: SettableClock) throws {
            (self.name, self.provider, self.clock) = (name, provider, clock)
            key = try provider.deviceKey(name)
        }

        /// A proof that was made now.
        func proof(_ id: Int, nonce: String? = nil) throws -> String {
            var proof = ProofOfPossessionTests.Proof(key, for: Self.token, at: clock.now).with("jti", "\"\(id)\"")
            proof.key = name
            return try proof.with("nonce", nonce.map { "\"\($0)\"" }).text(provider)
        }

        /// What keeps an instance from taking the proof; `nil` if it takes it.
        func fault(_ proof: String, at instance: ProofsOfPossession) -> ProofFault? {
            do throws(ProofFault) {
                try instance.check(
                    Call.preview("").with("DPoP", proof).request,
                    Array(Self.token.utf8)[...],
                    confirmation: key.thumbprint,
                    origin: Self.origin,
                    at: clock.now
                )
                return nil
            } catch {
                return error
            }
        }
    }

    private static func instance(
        _ clock: SettableClock,
        isAlone: Bool = true,
        _ limits: ProofLimits = .init()
    ) throws -> ProofsOfPossession {
        let log = Log(level: .debug, clock: clock.wallClock, sink: LogRecorder().sink)
        let runtime = Runtime(clock: clock.wallClock, random: try SystemRandom(), log: log)
        return ProofsOfPossession(runtime, isAlone: isAlone, limits: limits)
    }

    @Test func `remembers 2,000 proofs of a key and 500,000 in all`() {
        #expect(ProofLimits().ofKey == 2000 && ProofLimits().ofAll == 500_000)
    }

    @Test func `a key that has used as many proofs as are remembered has to wait, and no other key has`() throws {
        let (provider, clock) = (try FakeIdentityProvider(), SettableClock())
        let (busy, other) = (try Device("es-busy", provider, clock), try Device("es-other", provider, clock))
        let instance = try Self.instance(clock, .init(ofKey: 3))
        let used = try (0..<3).map { try busy.proof($0) }
        for proof in used { #expect(busy.fault(proof, at: instance) == nil) }
        #expect(busy.fault(try busy.proof(3), at: instance) == .tooManyOfKey)
        for proof in used { #expect(busy.fault(proof, at: instance) == .replayed, "none is forgotten") }
        #expect(other.fault(try other.proof(0), at: instance) == nil)
        clock.advance(seconds: 659)
        #expect(busy.fault(try busy.proof(3), at: instance) == .tooManyOfKey)
        clock.advance(seconds: 1)
        #expect(busy.fault(try busy.proof(3), at: instance) == nil, "the next span")
    }

    @Test func `proofs beyond what is remembered in all are refused, of every key, until the next span`() throws {
        let (provider, clock) = (try FakeIdentityProvider(), SettableClock())
        let (busy, other) = (try Device("es-busy", provider, clock), try Device("es-other", provider, clock))
        let instance = try Self.instance(clock, .init(ofAll: 3))
        let used = try (0..<3).map { try busy.proof($0) }
        for proof in used { #expect(busy.fault(proof, at: instance) == nil) }
        for device in [busy, other] { #expect(device.fault(try device.proof(9), at: instance) == .tooMany) }
        for proof in used { #expect(busy.fault(proof, at: instance) == .replayed, "none is forgotten") }
        clock.advance(seconds: 660)
        #expect(other.fault(try other.proof(9), at: instance) == nil)
    }

    @Test func `a refusal over the limit says when to try again, and the token stays valid`() async throws {
        let provider = try FakeIdentityProvider()
        var files = TestFiles.trusting(provider, #"dpop: "required", publicOrigin: "\#(Device.origin)""#)
        files.userTokens.proofs.ofKey = 5
        for setting: Setting in [.appRate, .appRatePerAddress, .appRatePerCustomer] { files.settings[setting] = "none" }
        try await withService(.inProcess, files) { service async throws in
            let key = try provider.deviceKey("es-device")
            let token = try UserToken(provider.issuer, at: service.clock.now)
                .with("cnf", #"{"jkt":"\#(key.thumbprint)"}"#).text(provider)
            let proof = ProofOfPossessionTests.Proof(key, for: token, at: service.clock.now)
            func ask(_ number: Int, _ nonce: String? = nil) async throws -> Reply {
                let text = try proof.with("jti", "\"\(number)\"").with("nonce", nonce.map { "\"\($0)\"" }).text(
                    provider
                )
                let call = Call.preview("").changing("Authorization") { _ in "DPoP \(token)" }
                return try await service.send(call.with("DPoP", text))
            }
            for number in 0..<5 { #expect(try await ask(number).status == 200) }
            service.clock.advance(seconds: 30)
            let refused = try await ask(5)
            #expect(refused.status == 429 && refused.problem == "rate-limited", "\(refused)")
            #expect(refused.headers["retry-after"] == "630" && refused.body.contains("DPoP proofs"), "\(refused)")
            #expect(service.metrics[.rateLimited(scope: "proofs")] == 1)
        }
    }

    @Test func `a used proof is remembered for as long as its nonce is good, over the end of a span too`() throws {
        let (provider, clock) = (try FakeIdentityProvider(), SettableClock())
        let device = try Device("es-device", provider, clock)
        let instance = try Self.instance(clock)
        for id in 0..<3 {
            // Late in a span, with a nonce that is good until after its end.
            clock.advance(seconds: 659)
            let proof = try device.proof(id, nonce: instance.nonce)
            #expect(device.fault(proof, at: instance) == nil)
            // As long as a nonce can be good.
            for _ in 0..<11 where device.fault(proof, at: instance) != .nonceUnknown {
                #expect(device.fault(proof, at: instance) == .replayed)
                clock.advance(seconds: 60)
            }
            #expect(device.fault(proof, at: instance) == .nonceUnknown)
        }
    }

    @Test func `several instances take no proof without a nonce, and each takes its own nonces alone`() throws {
        let (provider, clock) = (try FakeIdentityProvider(), SettableClock())
        let device = try Device("es-device", provider, clock)
        let (one, other) = (try Self.instance(clock, isAlone: false), try Self.instance(clock, isAlone: false))
        clock.advance(seconds: 30)
        #expect(one.nonce != other.nonce)
        let bare = try device.proof(1)
        for instance in [one, other] { #expect(device.fault(bare, at: instance) == .nonceMissing) }
        #expect(device.fault(bare, at: try Self.instance(clock)) == nil, "a single instance takes it")
        let proof = try device.proof(2, nonce: one.nonce)
        #expect(device.fault(proof, at: other) == .nonceUnknown)
        #expect(device.fault(proof, at: one) == nil)
        #expect(device.fault(proof, at: one) == .replayed)
        #expect(device.fault(proof, at: other) == .nonceUnknown, "what one has taken, the other never takes")
        #expect(device.fault(try device.proof(3, nonce: other.nonce), at: other) == nil)
    }

    /// Two services with a database of a server each, because they share nothing that proofs depend on.
    @Test(.aboutPostgreSQL)
    func `an app that moves between instances is asked for a nonce of the new one, and gets in with it`() async throws {
        let provider = try FakeIdentityProvider()
        var files = TestFiles.trusting(provider, #"dpop: "required", publicOrigin: "\#(Device.origin)""#)
        files.isShared = true
        let key = try provider.deviceKey("es-device")
        try await withService(.inProcess, files) { one async throws in
            try await withService(.inProcess, files) { other async throws in
                let token = try UserToken(provider.issuer, at: one.clock.now)
                    .with("cnf", #"{"jkt":"\#(key.thumbprint)"}"#).text(provider)
                let proof = ProofOfPossessionTests.Proof(key, for: token, at: one.clock.now)
                var (nonce, number): (String?, Int) = (nil, 0)
                for (service, reason) in [(one, "proof-nonce-missing"), (other, "proof-nonce-unknown")] {
                    func ask(_ nonce: String?) async throws -> Reply {
                        number += 1
                        let sent = proof.with("jti", "\"\(number)\"").with("nonce", nonce.map { "\"\($0)\"" })
                        var call = Call.preview("").with("DPoP", try sent.text(provider))
                        call.fields.removeAll { $0.name == "Authorization" }
                        return try await service.send(call.with("Authorization", "DPoP \(token)"))
                    }
                    let refused = try await ask(nonce)
                    #expect(refused.status == 401, "\(refused)")
                    let challenge = #"DPoP error="use_dpop_nonce", algs="ES256""#
                    #expect(refused.headers["www-authenticate"] == challenge)
                    #expect(service.metrics[.tokensRefused(issuer: provider.issuer, reason: reason)] == 1)
                    nonce = refused.headers["dpop-nonce"]
                    #expect(try await ask(nonce).status == 200)
                }
            }
        }
    }
}
