// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Foundation
import TestSupport
import Testing

struct SignatureTests {
    private let message = Array("com.example.app\u{2063}ABC123DEFG".utf8)

    @Test
    func `makes signatures that openssl verifies`() throws {
        let directory = try TemporaryDirectory()
        let key = try privateKey(KeyTool.makeKey())
        let publicKey = try directory.write(Array(key.publicKey.pem.utf8), to: "public.pem")
        for _ in 0..<16 {
            let signature = try key.verifiedSignature(of: SHA256.digest(of: message))
            let file = try directory.write(signature.der, to: "signature")
            let answer = try KeyTool.openssl(
                "dgst",
                "-sha256",
                "-verify",
                publicKey,
                "-signature",
                file,
                input: message
            )
            #expect(String(decoding: answer, as: UTF8.self) == "Verified OK\n")
        }
    }

    @Test
    func `verifies what openssl signed, and nothing else`() throws {
        let directory = try TemporaryDirectory()
        let pem = try KeyTool.makeKey()
        let publicKey = try privateKey(pem).publicKey
        let file = try directory.write(pem, to: "key.pem")
        let der = try KeyTool.openssl("dgst", "-sha256", "-sign", file, input: message)
        let signature = try #require(ECDSASignature(der: der))
        let digest = SHA256.digest(of: message)
        #expect(publicKey.verifies(signature, of: digest))
        #expect(!publicKey.verifies(signature, of: SHA256.digest(of: message + [0])))
        #expect(try !privateKey(KeyTool.makeKey()).publicKey.verifies(signature, of: digest))
        var raw = signature.rawRS
        raw[63] ^= 1
        #expect(try !publicKey.verifies(#require(ECDSASignature(rawRS: raw)), of: digest))
        let beyondOrder = KeyDER.order + raw[32...]
        #expect(try !publicKey.verifies(#require(ECDSASignature(rawRS: beyondOrder)), of: digest))
        #expect(publicKey.verifies(signature, of: digest))
    }

    @Test
    func `signs the same digest differently each time`() throws {
        let key = try privateKey(KeyTool.makeKey())
        let digest = SHA256.digest(of: message)
        let signatures = try (0..<64).map { _ in try key.signature(of: digest) }
        #expect(Set(signatures).count == 64)
        #expect(Set(signatures.map { $0.rawRS.prefix(32) }).count == 64)
    }

    @Test
    func `turns DER into r and s and back`() throws {
        let key = try privateKey(KeyTool.makeKey())
        for count in 0..<512 {
            let signature = try key.signature(of: SHA256.digest(of: [UInt8(count & 255)]))
            #expect(signature.rawRS.count == 64)
            #expect(ECDSASignature(rawRS: signature.rawRS) == signature)
            #expect(ECDSASignature(der: signature.der) == signature)
        }
    }

    @Test
    func `knows the shortest and the longest signature`() throws {
        let one = [UInt8](repeating: 0, count: 31) + [1]
        let most = [UInt8](repeating: 0xFF, count: 64)
        #expect(ECDSASignature(rawRS: one + one)?.der == [0x30, 6, 2, 1, 1, 2, 1, 1])
        #expect(ECDSASignature(rawRS: most)?.der.count == 72)
        #expect(ECDSASignature(rawRS: most)?.rawRS == most)
    }

    struct MalformedRow: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let der: [UInt8]
    }

    static let malformed = [
        MalformedRow(testDescription: "nothing", der: []),
        MalformedRow(testDescription: "no sequence", der: [0x31, 6, 2, 1, 1, 2, 1, 1]),
        MalformedRow(testDescription: "length too small", der: [0x30, 5, 2, 1, 1, 2, 1, 1]),
        MalformedRow(testDescription: "bytes after", der: [0x30, 6, 2, 1, 1, 2, 1, 1, 0]),
        MalformedRow(testDescription: "bytes after s", der: [0x30, 7, 2, 1, 1, 2, 1, 1, 0]),
        MalformedRow(testDescription: "a third number", der: [0x30, 9, 2, 1, 1, 2, 1, 1, 2, 1, 1]),
        MalformedRow(testDescription: "long form length", der: [0x30, 0x81, 6, 2, 1, 1, 2, 1, 1]),
        MalformedRow(testDescription: "r negative", der: [0x30, 6, 2, 1, 0x81, 2, 1, 1]),
        MalformedRow(testDescription: "r zero", der: [0x30, 6, 2, 1, 0, 2, 1, 1]),
        MalformedRow(testDescription: "r with needless zero", der: [0x30, 7, 2, 2, 0, 1, 2, 1, 1]),
        MalformedRow(testDescription: "r empty", der: [0x30, 6, 2, 0, 2, 2, 1, 1]),
        MalformedRow(testDescription: "s beyond the end", der: [0x30, 6, 2, 1, 1, 2, 2, 1]),
        MalformedRow(
            testDescription: "r of 33 bytes",
            der: [0x30, 38, 2, 33, 1] + [UInt8](repeating: 0, count: 32) + [2, 1, 1]
        ),
    ]

    @Test(arguments: malformed)
    func `refuses a malformed signature`(row: MalformedRow) {
        #expect(ECDSASignature(der: row.der) == nil)
    }

    @Test
    func `refuses r and s of another length, or zero`() {
        #expect(ECDSASignature(rawRS: [UInt8](repeating: 1, count: 63)) == nil)
        #expect(ECDSASignature(rawRS: [UInt8](repeating: 1, count: 65)) == nil)
        #expect(ECDSASignature(rawRS: [UInt8](repeating: 0, count: 32) + [UInt8](repeating: 1, count: 32)) == nil)
        #expect(ECDSASignature(rawRS: [UInt8](repeating: 1, count: 32) + [UInt8](repeating: 0, count: 32)) == nil)
    }

    @Test
    func `signs on eight threads at once with one key`() throws {
        let key = try privateKey(KeyTool.makeKey())
        let hmac = try HMACKey(secret([UInt8](repeating: 7, count: 32)))
        let random = try SystemRandom()
        let expected = hmac.authenticationCode(for: message)
        let failures = Recorder()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<100 {
                let digest = SHA256.digest(of: random.bytes(100))
                guard
                    let signature = try? key.signature(of: digest),
                    key.publicKey.verifies(signature, of: digest),
                    hmac.authenticationCode(for: message) == expected
                else { return failures.add() }
            }
        }
        #expect(failures.count == 0)
    }

    @Test
    func `reads only whole public keys on P-256`() throws {
        let spki = try privateKey(KeyTool.makeKey()).publicKey.spki
        #expect(try PublicKey(spki: spki).spki == spki)
        #expect(throws: PublicKeyError.self) { _ = try PublicKey(spki: spki + [0]) }
        #expect(throws: PublicKeyError.self) { _ = try PublicKey(spki: spki.dropLast() + []) }
        #expect(throws: PublicKeyError.self) { _ = try PublicKey(spki: []) }
        var offCurve = spki
        offCurve[90] ^= 1
        #expect(throws: PublicKeyError.self) { _ = try PublicKey(spki: offCurve) }
        let other = try KeyTool.openssl(
            "pkey",
            "-pubout",
            "-outform",
            "DER",
            input: KeyTool.makeKey(curve: "secp256k1")
        )
        #expect(throws: PublicKeyError.self) { _ = try PublicKey(spki: other) }
    }
}
