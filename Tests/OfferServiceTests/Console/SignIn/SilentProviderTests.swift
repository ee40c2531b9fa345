// SPDX-License-Identifier: Apache-2.0
import OfferService
import TestSupport
import Testing

/// A provider takes the code of a sign-in and never answers: what happens to the sign-in, and to all other requests.
struct SilentProviderTests {
    /// Runs `body` with sign-ins that a person brings back while the provider hangs.
    private func withSilentProvider(
        _ wire: Wire,
        signIns: Int,
        milliseconds: Int,
        _ body: (SignInPlace, [SignInPlace.Attempt]) async throws -> Void
    ) async throws {
        let provider = try FakeIdentityProvider()
        var files = SignInPlace.files(provider)
        files.signInMilliseconds = milliseconds
        try await withService(wire, files) { service async throws in
            let place = SignInPlace(service: service, provider: provider)
            var attempts: [SignInPlace.Attempt] = []
            for _ in 0..<signIns { attempts.append(try await place.begin()) }
            try provider.behave(.hang)
            try await body(place, attempts)
        }
    }

    @Test func `a token endpoint that never answers ends the sign-in with 503 and a page`() async throws {
        try await withSilentProvider(.inProcess, signIns: 1, milliseconds: 50) { place, attempts async throws in
            let reply = try await place.callBack(attempts[0])
            #expect(reply.status == 503 && reply.body.contains("Your identity provider does not answer"), "\(reply)")
            #expect(reply.body.contains("sign in with an API key"))
            #expect(!reply.setCookies.contains { $0.hasPrefix("__Host-offer-signer-session=") })
            #expect(try await place.count("timeout") == 1)
            #expect(try place.service.entries("session.begin").isEmpty)
        }
    }

    @Test(arguments: Wire.allCases)
    func `sign-ins that wait for the provider hold no other request`(wire: Wire) async throws {
        // More than the service has event loops, and this machine cores.
        try await withSilentProvider(wire, signIns: 16, milliseconds: 60_000) { place, attempts async throws in
            let service = place.service
            let finished = Recorder()
            try await withThrowingTaskGroup(of: Reply.self) { group in
                for attempt in attempts {
                    group.addTask {
                        let reply = try await place.callBack(attempt)
                        finished.add()
                        return reply
                    }
                }
                #expect(try await eventually { try (place.provider.counts()["/token"] ?? 0) > 0 })
                #expect(try await service.sign(offer: "open").status == 200)
                #expect(try await service.get("/v1/audit/entries", as: "auditor").status == 200)
                #expect(try await service.send(.get("/console/sign-in?provider=login")).status == 303)
                #expect(try await service.send(.get("/console/providers")).status == 200)
                #expect(finished.count == 0, "all of them still wait")
                // It closes the connections.
                try place.provider.behave(.close)
                for try await reply in group { #expect(reply.status == 503, "\(reply)") }
            }
        }
    }
}
