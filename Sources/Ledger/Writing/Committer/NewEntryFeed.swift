// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// Entries with their indices, in order, one behind the other in one piece of memory.
package struct EntryBuffer: Sendable {
    /// Of all entries.
    package private(set) var bytes: [UInt8] = []
    private var entries: [(index: Int64, end: Int)] = []

    /// A buffer without entries.
    package init() {}

    /// Whether there are no entries.
    package var isEmpty: Bool { entries.isEmpty }
    /// How many entries there are.
    package var count: Int { entries.count }

    /// The index in the log of the entry at a place, from 0 to ``count``.
    package func index(at place: Int) -> Int64 { entries[place].index }

    /// Where in ``bytes`` the entry at a place is.
    package func range(at place: Int) -> Range<Int> {
        (place == 0 ? 0 : entries[place - 1].end)..<entries[place].end
    }

    /// Copies an entry to the end; its index must be the one after the last.
    package mutating func append(_ entry: [UInt8], index: Int64) {
        bytes.append(contentsOf: entry)
        entries.append((index, bytes.count))
    }

    /// Appends the entries of another buffer.
    mutating func append(_ other: EntryBuffer) {
        let start = bytes.count
        bytes.append(contentsOf: other.bytes)
        for entry in other.entries { entries.append((entry.index, start + entry.end)) }
    }

    /// Keeps the memory for others.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
    }
}

/// Hands entries that were just made durable to whoever follows the log: so nobody reads what was just written.
///
/// Some wait until there are enough of them, since to take one by itself costs far more than a share of many. Those that other
/// instances have recorded come with them, as the tree was given them. Not all entries come this way: after an error those of
/// others don't, nor those beyond ``mostBytes``. Who takes them sees by their indices what is missing, and
/// reads it from the log, as it does with what waits here for long.
package final class NewEntryFeed: Sendable {
    /// Of one transaction, more are not handed over.
    package static let mostBytes = 1 << 20
    /// Fewer wait for others.
    package static let fewest = 48

    /// Is called on the committer's thread, once who waits for the entries was told, with what is read then or never; whoever
    /// wants to follow or to stop waits for it to return.
    package typealias Follower = @Sendable (borrowing EntryBuffer) -> Void

    private struct State {
        var waiting = EntryBuffer()
        var follower: Follower?
    }

    private let state = Guarded(State())

    /// Nobody follows as yet.
    package init() {}

    /// Hands over what comes from now on.
    package func follow(_ follower: @escaping Follower) {
        state.withLock { $0.follower = follower }
    }

    /// Hands over nothing more, and forgets what waits.
    package func stopFollowing() {
        state.withLock { $0 = State() }
    }

    /// Hands over entries of which no one can be lost any more, and those that wait; or has them wait, too.
    package func add(_ entries: EntryBuffer) {
        guard !entries.isEmpty else { return }
        state.withLock { state in
            guard let follower = state.follower else { return }
            if state.waiting.isEmpty, entries.count >= Self.fewest { return follower(entries) }
            state.waiting.append(entries)
            guard state.waiting.count >= Self.fewest else { return }
            follower(state.waiting)
            state.waiting.removeAll()
        }
    }
}
