// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestSupport
import Testing

struct DigestTests {
    /// Source: FIPS 180-4 examples, as NIST publishes them.
    static let vectors = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (String(repeating: "a", count: 1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ]

    @Test(arguments: vectors.indices)
    func `computes SHA-256`(index: Int) {
        let (message, hex) = Self.vectors[index]
        let digest = SHA256.digest(of: Array(message.utf8))
        #expect(digest.hex == hex)
        #expect(SHA256Digest(bytes: digest.bytes) == digest)
    }

    @Test
    func `takes 32 bytes for a digest, and nothing else`() {
        #expect(SHA256Digest(bytes: [UInt8](repeating: 1, count: 31)) == nil)
        #expect(SHA256Digest(bytes: [UInt8](repeating: 1, count: 33)) == nil)
        #expect(SHA256Digest(bytes: Array(0..<32))?.bytes == Array(0..<32))
    }

    /// Source: RFC 4231 sections 4.2 to 4.8, those with keys of at least 32 bytes, and RFC 4868 section 2.7.2.1.
    static let hmacVectors: [(key: [UInt8], message: [UInt8], hex: String)] = [
        (
            [UInt8](repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131),
            Array(
                ("This is a test using a larger than block-size key and a larger than block-size data. The key needs "
                    + "to be hashed before being used by the HMAC algorithm.").utf8
            ),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
        ),
        (
            [UInt8](repeating: 0x0B, count: 32), Array("Hi There".utf8),
            "198a607eb44bfbc69903a0f1cf2bbdc5ba0aa3f3d9ae3c1c7a3b1696a0b68cf7"
        ),
    ]

    @Test(arguments: hmacVectors.indices)
    func `computes HMAC-SHA256, again and again`(index: Int) throws {
        let (bytes, message, hex) = Self.hmacVectors[index]
        let key = try HMACKey(secret(bytes))
        for _ in 0..<3 {
            #expect(SHA256Digest(bytes: key.authenticationCode(for: message))?.hex == hex)
            _ = key.authenticationCode(for: [])
        }
    }

    /// RFC 4231's other keys are shorter than we take; filled up with zeros they mean the same (RFC 2104 section 2).
    static let shortKeyVectors: [(key: [UInt8], message: [UInt8], hex: String)] = [
        (
            [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            Array(1...25), [UInt8](repeating: 0xCD, count: 50),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
        ),
    ]

    @Test(arguments: shortKeyVectors.indices)
    func `computes HMAC-SHA256 of keys filled up with zeros`(index: Int) throws {
        let (bytes, message, hex) = Self.shortKeyVectors[index]
        let key = try HMACKey(secret(bytes + [UInt8](repeating: 0, count: 32)))
        #expect(SHA256Digest(bytes: key.authenticationCode(for: message))?.hex == hex)
    }

    @Test
    func `refuses a short HMAC key`() throws {
        let short = try secret([UInt8](repeating: 1, count: 31))
        #expect(throws: HMACKeyError.tooShort(byteCount: 31)) { _ = try HMACKey(short) }
        _ = try HMACKey(secret([UInt8](repeating: 1, count: 32)))
    }

    @Test
    func `compares bytes`() {
        #expect(constantTimeEqual([], []))
        #expect(constantTimeEqual([1, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2, 4]))
        #expect(!constantTimeEqual([0, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEqual([1, 2, 3], [1, 2]))
        #expect(!constantTimeEqual([], [0]))
    }
}

struct SystemRandomTests {
    @Test
    func `never gives the same number twice, from any source`() throws {
        let (first, second) = (try SystemRandom(), try SystemRandom())
        var seen: Set<UInt64> = []
        for _ in 0..<1000 {
            seen.insert(first.next())
            seen.insert(second.next())
        }
        #expect(seen.count == 2000)
        #expect(!seen.contains(0))
    }

    @Test(arguments: [0, 1, 7, 8, 9, 16, 512, 5000])
    func `gives as many bytes as asked for`(count: Int) throws {
        let random = try SystemRandom()
        let bytes = random.bytes(count)
        #expect(bytes.count == count)
        #expect(count < 16 || bytes != random.bytes(count))
        #expect(count < 5000 || Set(bytes).count == 256)
    }
}
