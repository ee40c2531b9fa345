// SPDX-License-Identifier: Apache-2.0

/// Entries with their indices, in order, one behind the other in one piece of memory.
package struct EntryBuffer: Sendable {
    /// Of all entries.
    package private(set) var bytes: [UInt8] = []
    private var entries: [(index: Int64, end: Int)] = []

    /// A buffer without entries.
    package init() {}

    package var isEmpty: Bool { entries.isEmpty }
    /// How many entries there are.
    package var count: Int { entries.count }

    /// The index in the log of the entry at a place, from 0 to ``count``.
    package func index(at place: Int) -> Int64 { entries[place].index }

    /// Where in ``bytes`` the entry at a place is.
    package func range(at place: Int) -> Range<Int> {
        (place == 0 ? 0 : entries[place - 1].end)..<entries[place].end
    }

    package mutating func append(_ entry: [UInt8], index: Int64) {
        bytes.append(contentsOf: entry)
        entries.append((index, bytes.count))
    }

    /// Keeps the memory for others.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
    }
}

/// Hands entries that were just made durable to whoever follows the log: so nobody reads what was just written.
///
/// Not all entries come this way: those of others don't, nor those beyond ``mostBytes``. Who takes them sees by their
/// indices what is missing, and reads it from the log.
package final class FreshEntries: Sendable {
    /// Of one transaction, more are not handed over.
    package static let mostBytes = 1 << 20

    /// Is called on the committer's thread, once who waits for the entries was told, with what is read then or never.
    package typealias Follower = @Sendable (borrowing EntryBuffer) -> Void

    private let follower = Guarded<Follower?>(nil)

    /// Nobody follows as yet.
    package init() {}

    /// Hands over what comes from now on.
    package func follow(_ follower: @escaping Follower) {
        self.follower.withLock { $0 = follower }
    }

    /// Hands over nothing more, but for what is just being handed over.
    package func stopFollowing() {
        follower.withLock { $0 = nil }
    }

    /// Hands over entries of which no one can be lost any more.
    package func add(_ entries: borrowing EntryBuffer) {
        guard let follower = follower.withLock({ $0 }), !entries.isEmpty else { return }
        follower(entries)
    }
}
