// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// The name of a log, under which its key signs: 1 to 128 of `[A-Za-z0-9._/-]`, by convention a URL without its scheme.
///
/// Source: [C2SP tlog-checkpoint](https://c2sp.org/tlog-checkpoint).
package struct LogOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The name as it is written in checkpoints.
    package let text: String

    /// Nil for anything else.
    package init?(_ text: String) {
        guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.text = text
    }

    /// The name itself.
    package var description: String { text }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "/"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

/// The key that signs the log's checkpoints, with the log's name.
package struct LogKey: Sendable {
    /// The name that the key signs under; it is the name of its verifier key too.
    package let origin: LogOrigin
    private let privateKey: Ed25519PrivateKey
    /// What others verify with.
    package let verifierKey: NoteVerifierKey

    /// Derives the verifier key, with the algorithm Ed25519, from the private key.
    package init(origin: LogOrigin, privateKey: Ed25519PrivateKey) {
        self.origin = origin
        self.privateKey = privateKey
        verifierKey = NoteVerifierKey(name: origin.text, algorithm: .ed25519, publicKey: privateKey.publicKey)
    }

    /// SHA-256 over the SubjectPublicKeyInfo as 64 hex digits; records name the key by it.
    package var publicKeyDigest: String { SHA256.digest(of: verifierKey.publicKey.spki).hex }

    /// Signs a checkpoint; the same one gives the same bytes each time.
    package func sign(_ checkpoint: Checkpoint) throws(SigningError) -> SignedNote {
        let text = checkpoint.text
        let signature = NoteSignature(
            name: origin.text,
            keyID: verifierKey.keyID,
            bytes: try privateKey.signature(of: text)
        )
        return SignedNote(text: text, signatures: [signature])
    }
}
