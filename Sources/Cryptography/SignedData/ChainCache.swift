// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Headers whose chain was found good, and under which a signature has verified.
///
/// Only a holder of a trusted leaf's key can add an entry. The name of an entry is the digest of the whole header, so
/// of its certificates too; an entry holds for no other header.
final class ChainCache: Sendable {
    /// What need not be found out again.
    struct Entry: Sendable {
        let key: PublicKey
        let chain: VerifiedChain
        let verifiedAt: Int64
    }

    /// How long an entry is used, in seconds; what became of the certificates since then goes unseen.
    static let lifetimeSeconds: Int64 = 900

    private struct State {
        var entries: [SHA256Digest: (entry: Entry, lastUse: UInt64)] = [:]
        var uses: UInt64 = 0
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// A cache of at most `capacity` entries; it keeps none if that is not positive.
    init(capacity: Int) {
        self.capacity = max(0, capacity)
    }

    /// How many entries there are, used up ones included.
    var count: Int { state.withLock { $0.entries.count } }

    /// The entry for a header, if it may still be used at the instant.
    func entry(for header: SHA256Digest, at unixSeconds: Int64) -> Entry? {
        state.withLock { state in
            guard let entry = state.entries[header]?.entry else { return nil }
            // If the instant is before the entry was made, the clock was set back, and everything is checked again.
            let end = min(entry.verifiedAt + Self.lifetimeSeconds, entry.chain.notAfter)
            guard entry.verifiedAt <= unixSeconds, unixSeconds < end else { return nil }
            state.uses += 1
            state.entries[header]?.lastUse = state.uses
            return entry
        }
    }

    /// Whether there is an entry for a header, used up or not.
    func has(_ header: SHA256Digest) -> Bool { state.withLock { $0.entries[header] != nil } }

    /// Keeps an entry; if there is no room, it replaces the least recently used one.
    func insert(_ entry: Entry, for header: SHA256Digest) {
        state.withLock { state in
            guard capacity > 0 else { return }
            state.uses += 1
            state.entries[header] = (entry, state.uses)
            guard state.entries.count > capacity else { return }
            // A walk over all of them, but only when there is a new chain.
            let oldest = state.entries.min { $0.value.lastUse < $1.value.lastUse }
            if let oldest { state.entries[oldest.key] = nil }
        }
    }
}
