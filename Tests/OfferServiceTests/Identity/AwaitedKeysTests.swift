// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP
import OfferDomain
import ServiceRuntime
import TestSupport
import Testing

@testable import Configuration
@testable import OfferService

/// What a token with a new key waits for that comes while the provider's keys are being read.
struct AwaitedKeysTests {
    /// What a test has: keys that are being read for the first time, with `es1` alone, and a token by `es2`.
    private struct Place {
        let provider: FakeIdentityProvider
        let keys: ProviderKeys
        let source: IdentityProvider.KeySource
        let token: JSONWebToken
        /// Of the requests that wait, as far as they have begun to.
        let patience: Patience

        /// Lets the token wait, and returns once it does.
        func wait() async throws -> Task<Void, Never> {
            let before = patience.begun.count
            let waiting = Task { [keys, source, token] in await keys.awaitKeys(of: source, for: token) }
            #expect(try await eventually { patience.begun.count == before + 1 })
            return waiting
        }

        func isHeld(_ count: Int) async throws -> Bool {
            try await eventually { try provider.counts()["held"] == count }
        }

        var isSigned: Bool? { keys.isSigned(token, by: source, hasAsked: true) }
    }

    /// Ends the patience of requests when a test says so, and not by time.
    private final class Patience: Sendable {
        let begun = Recorder()
        let ended = Recorder()

        var pause: Pause {
            Pause { [self] milliseconds in
                guard milliseconds == 2000 else { return await Pause.system(milliseconds: milliseconds) }
                begun.add()
                while !Task.isCancelled, ended.count == 0 { try? await Task.sleep(for: .milliseconds(5)) }
            }
        }
    }

    private func withPlace(_ body: (Place) async throws -> Void) async throws {
        let provider = try FakeIdentityProvider()
        try await withService(.inProcess, .trusting(provider)) { service async throws in
            let token = UserToken(provider.issuer, at: service.clock.now)
            // From now on the service's own keys are read no more.
            #expect(try await service.send(.preview(try token.text(provider))).status == 200)
            let patience = Patience()
            let runtime = Runtime(
                clock: service.clock.wallClock,
                random: try SystemRandom(),
                log: Log(level: .debug, clock: service.clock.wallClock, sink: service.log.sink)
            )
            let keys = ProviderKeys(runtime, patienceMilliseconds: 2000, pause: patience.pause)
            let client = try Client(service.settings.providerClientConfiguration)
            try client.start()
            try provider.hold()
            keys.start(client, current: service.current)
            let new = try token.signed(by: "es2", "ES256").text(provider)
            let place = Place(
                provider: provider,
                keys: keys,
                source: try #require(service.current.value.identity.all.first).keySource,
                token: try JSONWebToken(Array(new.utf8)[...]),
                patience: patience
            )
            #expect(try await place.isHeld(1))
            try provider.publish(["es1", "es2"])
            try await body(place)
            try provider.release()
            keys.stop()
            client.stop()
        }
    }

    @Test func `a new key is known after one more reading, where one was under way before it was published`()
        async throws
    {
        try await withPlace { place async throws in
            let tokens = [try await place.wait(), try await place.wait()]
            try place.provider.release()
            for waiting in tokens { await waiting.value }
            #expect(place.isSigned == true)
            // The service's own, the one that was under way, and one more for both.
            #expect(try place.provider.counts()["/jwks"] == 3)
        }
    }

    @Test func `patience ends once, however many readings a request waits for`() async throws {
        try await withPlace { place async throws in
            let waiting = try await place.wait()
            try place.provider.hold(releasingHeld: true)
            #expect(try await place.isHeld(2), "the second reading")
            #expect(place.isSigned == nil)
            place.patience.ended.add()
            await waiting.value
            #expect(place.isSigned == nil, "the reading has not ended")
            #expect(place.patience.begun.count == 1)
        }
    }

    @Test func `tokens have the keys read once a minute, also where a reading was under way`() async throws {
        try await withPlace { place async throws in
            try place.provider.publish(["es1"])
            let first = try await place.wait()
            try place.provider.hold(releasingHeld: true)
            #expect(try await place.isHeld(2), "the second reading")
            let second = try await place.wait()
            try place.provider.release()
            for waiting in [first, second] { await waiting.value }
            #expect(place.isSigned == nil)
            await place.keys.awaitKeys(of: place.source, for: place.token)
            #expect(try place.provider.counts()["/jwks"] == 3)
        }
    }
}
