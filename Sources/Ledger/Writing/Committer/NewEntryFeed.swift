// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// Entries with their indices, in order, in one contiguous piece of memory.
package struct EntryBuffer: Sendable {
    /// The bytes of all entries.
    package private(set) var bytes: [UInt8] = []
    private var entries: [(index: Int64, end: Int)] = []

    /// A buffer without entries.
    package init() {}

    /// Whether there are no entries.
    package var isEmpty: Bool { entries.isEmpty }
    /// How many entries there are.
    package var count: Int { entries.count }

    /// The log index of the entry at a place, which is at least 0 and below ``count``.
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

    /// Removes all entries and keeps the memory for others.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
    }
}

/// Passes newly durable entries to the follower of the log, so that it need not read what was just written.
///
/// Entries wait until there are enough, since to take one alone costs far more than a share of many. Entries of other
/// instances come with them, as they were added to the tree. Two kinds do not come this way: those of other instances
/// after an error, and those beyond ``mostBytes``. The follower sees gaps by the indices and reads them from the log.
/// It also reads there what waits here for long.
package final class NewEntryFeed: Sendable {
    /// Entries of one transaction beyond this many bytes are not passed on.
    package static let mostBytes = 1 << 20
    /// Fewer entries than this wait for more.
    package static let fewest = 48

    /// Is called on the committer's thread after the callers are answered, and must read the entries before it returns;
    /// `follow` and `stopFollowing` wait for that.
    package typealias Follower = @Sendable (borrowing EntryBuffer) -> Void

    private struct State {
        var waiting = EntryBuffer()
        var follower: Follower?
    }

    private let state = Guarded(State())

    /// A feed without a follower.
    package init() {}

    /// Passes on the entries that come from now on.
    package func follow(_ follower: @escaping Follower) {
        state.withLock { $0.follower = follower }
    }

    /// Passes on nothing more, and forgets what waits.
    package func stopFollowing() {
        state.withLock { $0 = State() }
    }

    /// Passes on durable entries and those that wait, or lets them wait too.
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
