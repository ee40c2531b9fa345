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

/// Entries that were just made durable, until whoever follows the log takes them: so nobody reads what was just written.
///
/// Not all entries come this way: those of others don't, and none while too many wait or nobody has come to take any. Who
/// takes them sees by their indices what is missing, and reads it from the log.
package final class FreshEntries: Sendable {
    /// More do not wait.
    package static let mostBytes = 1 << 20
    /// Whoever takes them is woken for so many.
    package static let portionBytes = 1 << 17

    private struct State {
        var entries = EntryBuffer()
        var wake: (@Sendable () -> Void)?
    }

    private let state = Guarded(State())

    /// Nothing waits as yet.
    package init() {}

    /// Keeps what comes from now on; `wake` is called, on the committer's thread, when a portion waits.
    package func follow(_ wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.wake = wake }
    }

    /// Keeps no more, and forgets what waits.
    package func stopFollowing() {
        state.withLock { $0 = State() }
    }

    /// Takes in entries of which no one can be lost any more, if there is room for all of them.
    package func add(_ entries: EntryBuffer) {
        let wake: (@Sendable () -> Void)? = state.withLock { state in
            let before = state.entries.bytes.count
            guard state.wake != nil, before + entries.bytes.count <= Self.mostBytes else { return nil }
            state.entries.append(entries)
            return before < Self.portionBytes && state.entries.bytes.count >= Self.portionBytes ? state.wake : nil
        }
        wake?()
    }

    /// Exchanges all that waits for a buffer, which is emptied and used for what comes.
    package func take(into buffer: inout EntryBuffer) {
        buffer.removeAll()
        state.withLock { swap(&$0.entries, &buffer) }
    }
}
