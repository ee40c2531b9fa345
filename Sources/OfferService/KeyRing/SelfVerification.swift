// SPDX-License-Identifier: Apache-2.0
package import Cryptography
import Synchronization

/// Which fresh signatures the service verifies itself before they leave; each costs three times its signing.
package final class SelfVerification: Sendable {
    /// How often.
    package enum Mode: String, CaseIterable, Hashable, Sendable {
        case always, sampled, off
    }

    /// With ``Mode/sampled``, the first signature and then one in so many.
    package static let sampleInterval = 128

    /// Whether a signature over a digest is that key's.
    package typealias Verify = @Sendable (PublicKey, ECDSASignature, SHA256Digest) -> Bool

    private let mode: Mode
    private let verify: Verify
    private let signatures = Atomic<Int>(0)

    /// `verify` is passed in because nobody can have a processor err at will.
    package init(_ mode: Mode, verify: @escaping Verify = { $0.verifies($1, of: $2) }) {
        self.mode = mode
        self.verify = verify
    }

    /// Whether the signature just made verifies.
    package func verifies(_ signature: ECDSASignature, of digest: SHA256Digest, by key: PublicKey) -> Bool {
        verify(key, signature, digest)
    }

    /// Whether the signature just made is to be verified.
    package func isDue() -> Bool {
        switch mode {
        case .always: true
        case .off: false
        case .sampled: signatures.add(1, ordering: .relaxed).oldValue % Self.sampleInterval == 0
        }
    }
}
