// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestSupport
import Testing

/// What of a key is left in memory.
///
/// Each test has a process of its own, so that secure memory comes first in it and nothing of the making of the key is
/// in it.
@Suite(.disabled(if: Sanitizer.isActive, "sanitizers keep freed memory, and map more than can be searched"))
struct KeyResidueTests {
    @Test
    func `has one copy of a key while it is loaded, and none after`() async throws {
        let directory = try TemporaryDirectory()
        let (path, needles) = try makeKey(in: directory)
        await #expect(processExitsWith: .success) { [path = path as String, needles = needles as KeyNeedles] in
            try SecureMemory.start()
            #expect(needles.copies() == KeyCopies())
            try useKey(path, needles: needles)
            #expect(needles.copies() == KeyCopies())
        }
    }

    @Test
    func `has one copy of an encrypted key while it is loaded, and none after`() async throws {
        let directory = try TemporaryDirectory()
        let (path, needles) = try makeKey(in: directory, passphrase: "right")
        await #expect(processExitsWith: .success) { [path = path as String, needles = needles as KeyNeedles] in
            try SecureMemory.start()
            try useKey(path, needles: needles, passphrase: SecureBytes(copying: Array("right".utf8)))
            #expect(needles.copies() == KeyCopies())
        }
    }

    @Test
    func `has no copy of a key after writing it`() async throws {
        let directory = try TemporaryDirectory()
        let (path, needles) = try makeKey(in: directory)
        await #expect(processExitsWith: .success) { [path = path as String, needles = needles as KeyNeedles] in
            try SecureMemory.start()
            try writeTwice(path)
            #expect(needles.copies() == KeyCopies())
        }
    }

    @Test
    func `finds what OpenSSL leaves of a written key when it does not wipe`() async throws {
        let directory = try TemporaryDirectory()
        let (path, needles) = try makeKey(in: directory)
        await #expect(processExitsWith: .success) { [path = path as String, needles = needles as KeyNeedles] in
            _ = SHA256.digest(of: [1])
            try SecureMemory.start(conceding: .unwipedBlocks)
            // What is left may be overwritten before it is looked for.
            var isFound = false
            for number in 0..<20 where !isFound {
                try writeTwice(path, number)
                isFound = needles.copies() != KeyCopies()
            }
            #expect(isFound)
        }
    }

    /// Where the exponent and the two primes stand among the numbers of an RSA key.
    @Test(arguments: [3, 4, 5])
    func `has each number of a service account's key in secure memory only, and none after`(number: Int) async throws {
        let directory = try TemporaryDirectory()
        let pem = try KeyTool.makeRSAKey()
        let der = try KeyDER.contents(of: pem)
        let value = Array(der[KeyDER.rsaNumbers(in: der)[number]].drop { $0 == 0 })
        let needles = KeyNeedles(scalar: value, line: Array(pem.split(separator: 10)[3]))
        let path = try directory.write(ServiceAccountDraft(pem: pem).bytes, to: "account.json")
        await #expect(processExitsWith: .success) { [path = path as String, needles = needles as KeyNeedles] in
            try SecureMemory.start()
            try useServiceAccount(path, needles: needles)
            #expect(needles.copies() == KeyCopies())
        }
    }

    @Test
    func `has a secret of HMACs in secure memory while it is read, and nowhere while it is used`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "secret")
        let secret = (0..<32).map { _ in UInt8.random(in: 0...255) }
        let text = secret.flatMap { byte in [byte >> 4, byte & 15].map { Array("0123456789abcdef".utf8)[Int($0)] } }
        try directory.write(text, to: "secret")
        let needles = KeyNeedles(scalar: secret, line: text)
        await #expect(processExitsWith: .success) { [path = path as String, needles = needles as KeyNeedles] in
            try SecureMemory.start()
            let key = try loadSecret(path, needles: needles)
            #expect(needles.copies() == KeyCopies())
            #expect(key.authenticationCode(for: [1]) == key.authenticationCode(for: [1]))
            #expect(needles.copies() == KeyCopies())
        }
    }

    private func makeKey(
        in directory: TemporaryDirectory,
        passphrase: String? = nil
    ) throws -> (path: String, needles: KeyNeedles) {
        let pem = try KeyTool.makeKey()
        let scalar = try KeyDER.numbers(in: pem).scalar
        let file = try passphrase.map { try KeyTool.encrypt(pem, passphrase: $0, "-v2", "aes-256-cbc") } ?? pem
        let line = file.split(separator: 10)[1]
        return (try directory.write(file, to: "key.p8"), KeyNeedles(scalar: scalar, line: Array(line)))
    }
}

/// Loads a key, signs with it, and releases it.
private func useKey(_ path: String, needles: KeyNeedles, passphrase: SecureBytes? = nil) throws {
    let key = try loadKey(path, needles: needles, passphrase: passphrase)
    #expect(needles.copies() == KeyCopies(littleEndian: 1))
    _ = try key.verifiedSignature(of: SHA256.digest(of: [1]))
    #expect(needles.copies() == KeyCopies(littleEndian: 1))
}

/// Reads a service account's file, signs with its key, and releases it.
private func useServiceAccount(_ path: String, needles: KeyNeedles) throws {
    let key = try loadServiceAccount(path, needles: needles)
    #expect(needles.copies() == KeyCopies(bigEndian: 1))
    _ = try key.signatureRS256(of: [1])
    #expect(needles.copies() == KeyCopies(bigEndian: 1))
}

private func loadSecret(_ path: String, needles: KeyNeedles) throws -> HMACKey {
    let secret = try SecretFile.readHexadecimal(path: path)
    #expect(needles.copies() == KeyCopies(bigEndian: 1))
    return try HMACKey(secret)
}

private func loadServiceAccount(_ path: String, needles: KeyNeedles) throws -> RSAPrivateKey {
    let object = try SecretObject(SecretFile.read(path: path))
    #expect(needles.copies() == KeyCopies(text: 1))
    guard let pem = try object.secret("private_key") else { throw SecretObjectError.empty }
    return try RSAPrivateKey(pem: pem)
}

/// Writes a key from two objects; without wiping, a copy is left that no later call writes over.
private func writeTwice(_ path: String, _ number: Int = 0) throws {
    let first = try PrivateKey(pem: SecretFile.read(path: path))
    try first.writePKCS8(to: path + "\(number).first")
    try PrivateKey(pem: SecretFile.read(path: path)).writePKCS8(to: path + "\(number).second")
}

private func loadKey(_ path: String, needles: KeyNeedles, passphrase: SecureBytes?) throws -> PrivateKey {
    let text = try SecretFile.read(path: path)
    #expect(needles.copies() == KeyCopies(text: 1))
    return try PrivateKey(pem: text, passphrase: passphrase)
}
