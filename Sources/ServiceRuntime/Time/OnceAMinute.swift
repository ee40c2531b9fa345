// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// Admits each key once a minute, for events that unauthenticated traffic may cause without limit.
///
/// It keeps every key that it was asked about, so keys must come from a closed list.
package final class OnceAMinute<Key: Hashable & Sendable>: Sendable {
    private let admitted = Guarded<[Key: Timestamp]>([:])

    /// Has admitted nothing yet.
    package init() {}

    /// Whether the key was not admitted within the last minute; setting the clock back does not block it.
    package func admits(_ key: Key, at now: Timestamp) -> Bool {
        admitted.withLock { admitted in
            if let before = admitted[key], now >= before, now < before.adding(minutes: 1) { return false }
            admitted[key] = now
            return true
        }
    }
}
