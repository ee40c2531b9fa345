// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Cryptography
package import ServiceRuntime
import Synchronization

/// Which fresh signatures the service verifies itself before they leave; each costs three times its signing.
package final class SelfVerification: Sendable {
    /// With `sampled`, the signatures of one request in each such interval are verified, the first request included:
    /// nearly all of them under a light load.
    package static let sampleMicroseconds: Int64 = 10_000

    /// Whether a signature over a digest is that key's.
    package typealias Verify = @Sendable (PublicKey, ECDSASignature, SHA256Digest) -> Bool

    private let mode: SelfVerificationMode
    private let verify: Verify
    private let running: Stopwatch
    /// From then on the next one is due, in microseconds of ``running``.
    private let due = Atomic<Int64>(0)

    /// Tests pass in `verify`, because they cannot make a processor fail.
    package init(_ mode: SelfVerificationMode, clock: WallClock, verify: @escaping Verify = { $0.verifies($1, of: $2) })
    {
        self.mode = mode
        self.verify = verify
        running = clock.stopwatch()
    }

    /// Whether the signature just made verifies.
    package func verifies(_ signature: ECDSASignature, of digest: SHA256Digest, by key: PublicKey) -> Bool {
        verify(key, signature, digest)
    }

    /// Whether the signatures that are made next, for one request, are to be verified.
    package func isDue() -> Bool {
        switch mode {
        case .always: true
        case .off: false
        case .sampled: isTurn()
        }
    }

    private func isTurn() -> Bool {
        let (now, due) = (running.microseconds, due.load(ordering: .relaxed))
        guard now >= due else { return false }
        // Of several who find it due, one takes the turn.
        return self.due.compareExchange(
            expected: due,
            desired: now + Self.sampleMicroseconds,
            ordering: .relaxed
        ).exchanged
    }
}
