// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// A public key with the name under which it signs notes, as `NAME+ID+BASE64` writes it (a “vkey”).
///
/// Source: [C2SP signed-note](https://c2sp.org/signed-note), [tlog-cosignature](https://c2sp.org/tlog-cosignature).
package struct NoteVerifierKey: Hashable, Sendable, CustomStringConvertible {
    /// What a signature is over.
    package enum Algorithm: UInt8, Hashable, Sendable {
        /// Ed25519 over the note's text.
        case ed25519 = 0x01
        /// A witness's: a time, and Ed25519 over the time and the note's text (`cosignature/v1`).
        case cosignature = 0x04
    }

    /// One to 255 bytes of UTF-8 without spaces and `+`.
    package let name: String
    /// What the key signs: notes, or cosignatures with a time.
    package let algorithm: Algorithm
    /// 32 bytes.
    package let publicKey: Ed25519PublicKey
    /// The first 4 bytes of SHA-256 over name, line feed, algorithm and key, big-endian.
    package let keyID: UInt32

    /// A key under a name that is one (`name(_:)`).
    package init(name: String, algorithm: Algorithm, publicKey: Ed25519PublicKey) {
        self.name = name
        self.algorithm = algorithm
        self.publicKey = publicKey
        let digest = SHA256.digest(
            of: Array(name.utf8) + [UInt8(ascii: "\n"), algorithm.rawValue] + publicKey.bytes
        )
        keyID = digest.bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Reads `NAME+ID+BASE64`, the id in 8 lowercase hexadecimal digits.
    package init(_ text: String) throws(NoteKeyError) {
        // Base64 has the plus sign too.
        let parts = text.utf8.split(separator: UInt8(ascii: "+"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .notThreeParts }
        guard let name = Self.name(ArraySlice(Array(parts[0]))) else { throw .badName }
        guard let id = Self.keyID(parts[1]) else { throw .badID }
        guard let bytes = Base64.decode(Array(parts[2])), let first = bytes.first else { throw .badBase64 }
        guard let algorithm = Algorithm(rawValue: first) else { throw .otherAlgorithm(first) }
        guard let publicKey = Ed25519PublicKey(bytes: Array(bytes.dropFirst())) else { throw .badLength(bytes.count) }
        self.init(name: name, algorithm: algorithm, publicKey: publicKey)
        guard keyID == id else { throw .idMismatch(found: Self.hex(id), computed: Self.hex(keyID)) }
    }

    /// The key as `NAME+ID+BASE64`.
    package var description: String {
        let key = Base64.encode([algorithm.rawValue] + publicKey.bytes)
        return "\(name)+\(Self.hex(keyID))+\(String(decoding: key, as: UTF8.self))"
    }

    /// A name out of its UTF-8; nil unless it is one.
    static func name(_ bytes: ArraySlice<UInt8>) -> String? {
        guard (1...255).contains(bytes.count), let name = String(validating: bytes, as: UTF8.self),
            name.unicodeScalars.allSatisfy({ $0 != "+" && $0.value > 0x20 && !$0.properties.isWhitespace })
        else { return nil }
        return name
    }

    /// Whether a signature says that it is this key's.
    func isNamed(by signature: NoteSignature) -> Bool {
        signature.keyID == keyID && signature.name.utf8.elementsEqual(name.utf8)
    }

    /// The signature and its contents, if this key made it over that text; otherwise nil.
    func verify(_ signature: NoteSignature, of text: [UInt8]) -> VerifiedSignature? {
        switch algorithm {
        case .ed25519:
            guard publicKey.verifies(signature.bytes, of: text) else { return nil }
            return VerifiedSignature(key: self, seconds: nil, signature: signature)
        case .cosignature:
            let time = signature.bytes.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            guard signature.bytes.count == 8 + Ed25519PublicKey.signatureByteCount,
                let seconds = Int64(exactly: time), seconds > 0,
                publicKey.verifies(
                    Array(signature.bytes.dropFirst(8)),
                    of: Self.cosigned(text, at: seconds)
                )
            else { return nil }
            return VerifiedSignature(key: self, seconds: seconds, signature: signature)
        }
    }

    /// What a witness signs.
    static func cosigned(_ text: [UInt8], at seconds: Int64) -> [UInt8] {
        Array("cosignature/v1\ntime \(seconds)\n".utf8) + text
    }

    private static func keyID(_ digits: Substring.UTF8View) -> UInt32? {
        guard digits.count == 8,
            digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    private static func hex(_ id: UInt32) -> String {
        let digits = String(id, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}

/// Why a text is not taken as a verifier key.
package enum NoteKeyError: Error, Hashable, Sendable, CustomStringConvertible {
    case notThreeParts
    case badName
    case badID
    case badBase64
    case otherAlgorithm(UInt8)
    case badLength(Int)
    case idMismatch(found: String, computed: String)

    /// What is wrong, as the end of a sentence that begins with the key.
    package var description: String {
        switch self {
        case .notThreeParts: "is not NAME+ID+BASE64"
        case .badName: "has a name that is empty, over 255 bytes, or has spaces"
        case .badID: "has an id that is not 8 lowercase hexadecimal digits"
        case .badBase64: "has a key that is not Base64"
        case .otherAlgorithm(let number): "is of algorithm \(number); 1 (Ed25519) and 4 (cosignature/v1) are known"
        case .badLength(let count): "has a key of \(count) bytes; 33 were expected"
        case .idMismatch(let found, let computed): "says that its id is \(found), but it is \(computed)"
        }
    }
}
