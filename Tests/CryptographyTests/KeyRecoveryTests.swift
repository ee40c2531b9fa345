// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import Cryptography

@Suite struct KeyRecoveryTests {
    @Test func `the key that signed is among the few that come out, and not among those of another digest`() throws {
        try startSecureMemory()
        for number in 0..<32 {
            let key = try PrivateKey.generate()
            let digest = SHA256.digest(of: Array("message \(number)".utf8))
            let signature = try key.signature(of: digest)
            let recovery = try KeyRecovery(signature)
            let candidates = try recovery.candidates(digest)
            #expect((1...4).contains(candidates.count) && candidates.contains(key.publicKey.spki))
            #expect(try !recovery.candidates(SHA256.digest(of: [1])).contains(key.publicKey.spki))
            for spki in candidates { #expect(try PublicKey(spki: spki).verifies(signature, of: digest)) }
        }
    }

    @Test func `numbers of a signature that are no point's give no key`() throws {
        let counts = try (UInt8(1)...16).map { number in
            var raw = [UInt8](repeating: 0, count: 64)
            (raw[31], raw[63]) = (number, 1)
            let signature = try #require(ECDSASignature(rawRS: raw))
            return try KeyRecovery(signature).candidates(SHA256.digest(of: [1])).count
        }
        // Below the prime less the order, r plus the order is looked at too.
        #expect(counts.contains(0) && counts.contains(2) && counts.contains(4), "\(counts)")
    }
}
