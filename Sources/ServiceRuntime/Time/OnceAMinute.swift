// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// Admits each thing once a minute, for what strangers may bring about without end.
///
/// It keeps every key that it was asked about, so keys are to be of a closed list.
package final class OnceAMinute<Key: Hashable & Sendable>: Sendable {
    private let admitted = Guarded<[Key: Timestamp]>([:])

    /// One that has admitted nothing.
    package init() {}

    /// Whether it was not admitted within the last minute; a clock that is put back does not keep it out.
    package func admits(_ key: Key, at now: Timestamp) -> Bool {
        admitted.withLock { admitted in
            if let before = admitted[key], now >= before, now < before.adding(minutes: 1) { return false }
            admitted[key] = now
            return true
        }
    }
}
