// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
import ServiceRuntime

/// What was counted in a span of time.
package struct Counted<Key: Hashable & Sendable>: Sendable {
    /// How many keys an entry names; all of them fit into its 4 KiB.
    static var mostNamed: Int { 24 }

    /// When the first was counted.
    package let from: Timestamp
    /// When the count was taken.
    package let until: Timestamp
    /// How often each key was counted; at most as many keys as are kept apart.
    package let counts: [Key: Int]
    /// What was counted for further keys, once `mostKeys` keys were kept apart.
    package let others: Int

    package init(from: Timestamp, until: Timestamp, counts: [Key: Int], others: Int = 0) {
        self.from = from
        self.until = until
        self.counts = counts
        self.others = others
    }
}

/// Counts what is too frequent for an entry each, or too easy to cause without authentication; its memory is bounded.
package final class MinuteCounter<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var from: Timestamp?
        var counts: [Key: Int] = [:]
        var others = 0
    }

    private let state = Guarded(State())
    private let mostKeys: Int

    /// - Parameter mostKeys: How many keys are kept apart.
    package init(mostKeys: Int = 256) {
        self.mostKeys = mostKeys
    }

    /// Adds one; a new key counts among the others if `mostKeys` keys are kept apart already.
    package func count(_ key: Key, at now: Timestamp) {
        state.withLock { state in
            state.from = state.from ?? now
            if state.counts[key] != nil || state.counts.count < mostKeys {
                state.counts[key, default: 0] += 1
            } else {
                state.others += 1
            }
        }
    }

    /// What was counted since the last time; `nil` if nothing was.
    package func take(until now: Timestamp) -> Counted<Key>? {
        state.withLock { state in
            guard let from = state.from else { return nil }
            defer { state = State() }
            return Counted(from: from, until: max(from, now), counts: state.counts, others: state.others)
        }
    }

    /// Counts again what could not be recorded.
    package func restore(_ counted: Counted<Key>) {
        state.withLock { state in
            state.from = min(counted.from, state.from ?? counted.from)
            state.others += counted.others
            for (key, count) in counted.counts {
                if state.counts[key] != nil || state.counts.count < mostKeys {
                    state.counts[key, default: 0] += count
                } else {
                    state.others += count
                }
            }
        }
    }
}
