// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import OfferDomain

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
