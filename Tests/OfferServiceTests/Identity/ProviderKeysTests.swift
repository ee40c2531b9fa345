// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

/// How a provider's keys are had, kept and renewed, and that a provider that is down stops its own users alone.
struct ProviderKeysTests {
    private static let readings = "/jwks"

    private func status(
        _ service: TestService,
        _ provider: FakeIdentityProvider,
        _ key: String = "es1"
    ) async throws -> Int {
        let token = UserToken(provider.issuer, at: service.clock.now).signed(by: key, "ES256")
        return try await service.send(.preview(try token.text(provider))).status
    }

    @Test func `reads the keys at the start, and takes a new key at once`() async throws {
        let provider = try FakeIdentityProvider()
        try await withService(.inProcess, .trusting(provider)) { service async throws in
            #expect(try await status(service, provider) == 200)
            #expect(try provider.counts()[Self.readings] == 1)
            try provider.publish(["es1", "es2"])
            #expect(try await status(service, provider, "es2") == 200)
            #expect(try provider.counts()[Self.readings] == 2)
            #expect(try provider.counts()["/.well-known/openid-configuration"] == 2)
        }
    }

    @Test func `takes a new key of tokens that name none, and has the keys read once a minute for forged ones`()
        async throws
    {
        let provider = try FakeIdentityProvider()
        try await withService(.inProcess, .trusting(provider)) { service async throws in
            let good = UserToken(provider.issuer, at: service.clock.now)
            #expect(try await status(service, provider) == 200)
            try provider.publish(["es2"])
            let new = try good.signed(by: "es2", "ES256").header("kid", nil).text(provider)
            #expect(try await service.send(.preview(new)).status == 200)
            let forged = try good.signed(by: "es3", "ES256").header("kid", nil).text(provider)
            for _ in 0..<5 { #expect(try await service.send(.preview(forged)).status == 401) }
            #expect(try provider.counts()[Self.readings] == 2)
            let counted = Metric.tokensRefused(issuer: provider.issuer, reason: "signature-wrong")
            #expect(service.metrics[counted] == 5)
        }
    }

    @Test func `follows the keys to another address, and needs no discovery document for those it knows`() async throws
    {
        let provider = try FakeIdentityProvider()
        try await withService(.inProcess, .trusting(provider)) { service async throws in
            #expect(try await status(service, provider) == 200)
            try provider.move(to: "/moved")
            try provider.publish(["es1", "es2"])
            #expect(try await status(service, provider, "es2") == 200)
            #expect(try provider.counts()["/moved"] == 1)
            try provider.move(to: nil)
            try provider.publish(["es3"])
            service.clock.advance(seconds: 61)
            #expect(try await status(service, provider, "es3") == 200)
            #expect(try provider.counts()["/moved"] == 2)
        }
    }

    @Test func `made-up key ids have the keys read once a minute, however many they are`() async throws {
        let provider = try FakeIdentityProvider()
        try await withService(.inProcess, .trusting(provider)) { service async throws in
            #expect(try await status(service, provider) == 200)
            let good = UserToken(provider.issuer, at: service.clock.now)
            let calls = try (0..<40).map { number in
                Call.preview(try good.header("kid", "\"made-up-\(number)\"").text(provider))
            }
            for reply in try await service.send(calls) { #expect(reply.status == 401, "\(reply)") }
            #expect(try provider.counts()[Self.readings] == 2)
            service.clock.advance(seconds: 59)
            #expect(try await status(service, provider, "es3") == 401)
            #expect(try provider.counts()[Self.readings] == 2)
            service.clock.advance(seconds: 1)
            #expect(try await status(service, provider, "es3") == 401)
            #expect(try provider.counts()[Self.readings] == 3)
        }
    }

    @Test func `a key that the provider takes back is refused once the keys are renewed`() async throws {
        let provider = try FakeIdentityProvider()
        try provider.publish(["es1", "es2"])
        try provider.behave(cacheControl: "max-age=400")
        try await withService(.inProcess, .trusting(provider)) { service async throws in
            // One token, which the service knows by then.
            let named = UserToken(provider.issuer, at: service.clock.now).signed(by: "es2", "ES256")
            var unnamed = named
            unnamed.header.removeAll { $0.name == "kid" }
            let (token, other) = (try named.text(provider), try unnamed.text(provider))
            for _ in 0..<2 {
                for token in [token, other] { #expect(try await service.send(.preview(token)).status == 200) }
            }
            try provider.publish(["es1"])
            // Three quarters of the age.
            service.clock.advance(seconds: 301)
            #expect(try await eventually { try provider.counts()[Self.readings] == 2 })
            #expect(try await eventually { try await service.send(.preview(token)).status == 401 })
            #expect(try await service.send(.preview(other)).status == 401)
            // What has not changed is not sent again.
            service.clock.advance(seconds: 301)
            #expect(try await eventually { try provider.counts()["unchanged"] == 1 })
            #expect(try await self.status(service, provider) == 200)
        }
    }

    @Test(arguments: FakeIdentityProvider.Mode.allCases.filter { $0 != .good })
    func `a provider that answers badly stops its own users with 503, and they come back with it`(
        mode: FakeIdentityProvider.Mode
    ) async throws {
        let provider = try FakeIdentityProvider()
        try provider.behave(mode)
        try await withService(.inProcess, .trusting(provider)) { service async throws in
            let token = try UserToken(provider.issuer, at: service.clock.now).text(provider)
            let reply = try await service.send(.preview(token))
            #expect(reply.status == 503 && reply.problem == "identity-provider-unavailable", "\(reply)")
            #expect(reply.headers["retry-after"].flatMap { Int($0) } ?? 0 >= 1)
            #expect(try await service.sign(offer: "open", #""customerId": "anna""#).status == 200)
            guard mode != .hang else { return }
            let ready = try await service.send(.get("/health/ready"))
            #expect(ready.body.contains("identity-provider"), "\(ready)")
            try provider.behave()
            // After the longest pause; then the next token waits for the keys.
            service.clock.advance(seconds: 16)
            #expect(try await service.send(.preview(token)).status == 200)
        }
    }

    @Test func `the last keys stay good for a day while the provider is down, and no longer`() async throws {
        let provider = try FakeIdentityProvider()
        try await withService(.inProcess, .trusting(provider)) { service async throws in
            #expect(try await status(service, provider) == 200)
            try provider.behave(.status)
            service.clock.advance(hours: 23)
            #expect(try await status(service, provider) == 200)
            service.clock.advance(hours: 1)
            #expect(try await status(service, provider) == 503)
        }
    }

    @Test func `a slow provider is waited for, and a silent one for a while`() async throws {
        let provider = try FakeIdentityProvider()
        try provider.behave(delayMilliseconds: 200)
        try await withService(.inProcess, .trusting(provider)) { service async throws in
            let token = try UserToken(provider.issuer, at: service.clock.now).text(provider)
            let replies = try await service.send(Array(repeating: Call.preview(token), count: 40))
            #expect(replies.allSatisfy { $0.status == 200 }, "all wait for one reading")
            #expect(try provider.counts()[Self.readings] == 1)
        }
        try provider.behave(.hang)
        var files = TestFiles.trusting(provider)
        files.userTokens.keysMilliseconds = 50
        try await withService(.inProcess, files) { service async throws in
            #expect(try await status(service, provider) == 503)
        }
    }

    @Test func `requests that wait for one provider leave room for those of another`() async throws {
        let (silent, slow) = (try FakeIdentityProvider(), try FakeIdentityProvider())
        try silent.behave(.hang)
        try slow.behave(delayMilliseconds: 500)
        var files = TestFiles.trusting(slow)
        let entry = #"{issuer: "\#(silent.issuer)", audience: "offer-signer", bundleIds: ["com.example.app"]}"#
        files.keys = files.keys.replacing("identityProviders: [", with: "identityProviders: [\(entry), ")
        try await withService(.inProcess, files) { service async throws in
            let lost = try UserToken(silent.issuer, at: service.clock.now).text(silent)
            let good = try UserToken(slow.issuer, at: service.clock.now).text(slow)
            let answered = Recorder()
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<400 {
                    group.addTask {
                        defer { answered.add() }
                        return try await service.send(.preview(lost)).status
                    }
                }
                #expect(try await eventually { answered.count == 144 }, "those that do not wait")
                let reply = try await service.send(.preview(good))
                #expect(reply.status == 200, "\(reply)")
                // It closes the connections.
                try silent.behave(.close)
                for try await status in group { #expect(status == 503) }
            }
        }
    }

    @Test func `a provider that publishes an empty set has revoked all its keys`() async throws {
        let provider = try FakeIdentityProvider()
        try provider.behave(cacheControl: "max-age=400")
        try await withService(.inProcess, .trusting(provider)) { service async throws in
            #expect(try await status(service, provider) == 200)
            try provider.publish([])
            service.clock.advance(seconds: 301)
            #expect(try await eventually { try provider.counts()[Self.readings] == 2 })
            #expect(try await eventually { try await status(service, provider) == 503 })
        }
    }

    @Test func `keys that can't be used are passed over`() async throws {
        let provider = try FakeIdentityProvider()
        let extra = """
            [{"kty":"oct","k":"AAAA","kid":"a"}, {"kty":"EC","crv":"P-256","x":"AA","y":"AA","kid":"b"}, 7,
             {"kty":"RSA","n":"AQAB","e":"AQAB","kid":"c"}, {"kty":"none"}]
            """
        try provider.publish(["es1", "es384", "rs-small"], extra: extra)
        try await withService(.inProcess, .trusting(provider)) { service async throws in
            #expect(try await status(service, provider) == 200)
        }
    }
}
