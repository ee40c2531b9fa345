// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestSupport
import Testing

struct ChainCacheTests {
    private func signed(_ authority: TestAuthority, kid: Int = 0, _ chain: [[UInt8]]) throws -> [UInt8] {
        var jws = TestJWS(chain: chain, key: authority.leafKey)
        jws.set("kid", #""\#(kid)""#)
        return try jws.bytes()
    }

    @Test
    func `remembers a chain for 15 minutes`() throws {
        let authority = try TestAuthority()
        let jws = try signed(authority, authority.chain())
        let verifier = SignedDataVerifier(anchors: try authority.anchors())
        for (seconds, hits, misses) in [(0, 0, 1), (0, 1, 1), (899, 2, 1), (900, 2, 2), (901, 3, 2), (1799, 4, 2)] {
            _ = try verifier.verify(jws, at: testInstant + Int64(seconds))
            #expect(verifier.statistics == SignedDataStatistics(hits: hits, misses: misses, rememberedChains: 1))
        }
    }

    @Test
    func `checks again when the clock was set back`() throws {
        let authority = try TestAuthority()
        let jws = try signed(authority, authority.chain())
        let verifier = SignedDataVerifier(anchors: try authority.anchors())
        _ = try verifier.verify(jws, at: testInstant)
        _ = try verifier.verify(jws, at: testInstant - 1)
        #expect(verifier.statistics == SignedDataStatistics(hits: 0, misses: 2, rememberedChains: 1))
    }

    @Test
    func `forgets a chain at the second in which a certificate expires`() throws {
        for role in [CertificateRole.leaf, .intermediate, .root] {
            var authority = try TestAuthority()
            switch role {
            case .leaf: authority.leaf.notAfter = testInstant + 10
            case .intermediate: authority.intermediate.notAfter = testInstant + 10
            case .root: authority.root.notAfter = testInstant + 10
            }
            let jws = try signed(authority, authority.chain())
            let verifier = SignedDataVerifier(anchors: try authority.anchors())
            _ = try verifier.verify(jws, at: testInstant)
            _ = try verifier.verify(jws, at: testInstant + 9)
            #expect(throws: SignedDataError.chain(.expired(role))) { try verifier.verify(jws, at: testInstant + 10) }
        }
    }

    @Test
    func `never holds more than its capacity, and forgets what was not used for longest`() throws {
        let authority = try TestAuthority()
        let chain = try authority.chain()
        let verifier = SignedDataVerifier(anchors: try authority.anchors(), cacheCapacity: 4)
        let jws = try (0..<8).map { try signed(authority, kid: $0, chain) }
        for index in 0..<4 { _ = try verifier.verify(jws[index], at: testInstant) }
        _ = try verifier.verify(jws[0], at: testInstant)
        for index in 4..<7 {
            _ = try verifier.verify(jws[index], at: testInstant)
            #expect(verifier.statistics.rememberedChains == 4)
        }
        // 1, 2 and 3 had to go for 4, 5 and 6; 0 was used since.
        let before = verifier.statistics
        _ = try verifier.verify(jws[0], at: testInstant)
        #expect(verifier.statistics.hits == before.hits + 1)
        _ = try verifier.verify(jws[1], at: testInstant)
        #expect(verifier.statistics.misses == before.misses + 1)
    }

    @Test
    func `keeps nothing if it has no room`() throws {
        let authority = try TestAuthority()
        let jws = try signed(authority, authority.chain())
        let verifier = SignedDataVerifier(anchors: try authority.anchors(), cacheCapacity: 0)
        for _ in 0..<2 { _ = try verifier.verify(jws, at: testInstant) }
        #expect(verifier.statistics == SignedDataStatistics(hits: 0, misses: 2, rememberedChains: 0))
    }

    @Test
    func `can't be filled by a sender that has the certificates but not the key`() throws {
        let authority = try TestAuthority()
        var stranger = authority
        stranger.leafKey = try .p256()
        let chain = try authority.chain()
        let verifier = SignedDataVerifier(anchors: try authority.anchors(), cacheCapacity: 4)
        let genuine = try signed(authority, chain)
        _ = try verifier.verify(genuine, at: testInstant)
        for count in 0..<64 {
            let junk = try signed(stranger, kid: count, chain)
            #expect(throws: SignedDataError.wrongSignature) { try verifier.verify(junk, at: testInstant) }
        }
        _ = try verifier.verify(genuine, at: testInstant)
        #expect(verifier.statistics == SignedDataStatistics(hits: 1, misses: 1, rememberedChains: 1))
    }

    @Test
    func `does not take one chain for another with the same leaf key`() throws {
        let authority = try TestAuthority()
        let verifier = SignedDataVerifier(anchors: try authority.anchors())
        _ = try verifier.verify(signed(authority, authority.chain()), at: testInstant)
        var expired = authority
        expired.leaf.notAfter = testInstant - 1
        let jws = try signed(expired, expired.chain())
        #expect(throws: SignedDataError.chain(.expired(.leaf))) { try verifier.verify(jws, at: testInstant) }
    }

    @Test
    func `serves several threads at once`() async throws {
        let authority = try TestAuthority()
        let verifier = SignedDataVerifier(anchors: try authority.anchors(), cacheCapacity: 2)
        let chain = try authority.chain()
        let texts = try (0..<5).map { try signed(authority, kid: $0, chain) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    for round in 0..<50 {
                        let text = texts[(thread + round) % texts.count]
                        _ = try verifier.verify(text, at: testInstant + Int64(round * 30))
                    }
                }
            }
            try await group.waitForAll()
        }
        let statistics = verifier.statistics
        #expect(statistics.hits + statistics.misses == 200)
        #expect(statistics.rememberedChains <= 2)
    }
}
