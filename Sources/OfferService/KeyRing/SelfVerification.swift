// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Which fresh signatures the service verifies itself before they leave; each costs three times its signing.
package final class SelfVerification: Sendable {
    /// How often.
    package enum Mode: String, CaseIterable, Hashable, Sendable {
        case always, sampled, off
    }

    /// With ``Mode/sampled``, the first signature and then one in so many.
    package static let sampleInterval = 128

    private let mode: Mode
    private let signatures = Atomic<Int>(0)

    package init(_ mode: Mode) {
        self.mode = mode
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
