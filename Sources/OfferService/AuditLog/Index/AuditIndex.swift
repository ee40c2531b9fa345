// SPDX-License-Identifier: Apache-2.0
import Ledger
package import OfferDomain
import ServiceRuntime
import TransparencyLog

/// What the running service holds in memory of its log: the newest entries, and when each key was used last.
///
/// ``AuditIndexer``'s thread and the committer's, which has just recorded entries, write it; any thread reads it.
package final class AuditIndex: Sendable {
    private struct State {
        var tail: IndexRunBuilder?
        /// Milliseconds since 1970 UTC, by the key's id; of stored runs.
        var lastUses: [String: Int64] = [:]
    }

    /// How the index is laid out; the same for the whole life of the service.
    package let format: AuditIndexFormat
    private let state = Guarded(State())

    package init(format: AuditIndexFormat = .init()) {
        self.format = format
    }

    /// The newest entries, which are no whole run yet; nil before the first look at the log.
    package var tail: IndexRunBuilder? { state.withLock { $0.tail } }

    /// The index of the entry that comes next; nil before the first look at the log.
    var nextEntry: Int64? { state.withLock { $0.tail?.nextEntry } }

    /// When a key was used last, as far as the index has come: within a second of now, once it has caught up.
    package func lastUse(ofKey id: KeyID) -> Timestamp? {
        lastUses[id.text].map(Timestamp.init(milliseconds:))
    }

    /// The same of every key that ever was used, by its id, in milliseconds since 1970 UTC.
    package var lastUses: [String: Int64] {
        // Added up after the lock is free again, because the committer may wait for it.
        let (stored, newest) = state.withLock { ($0.lastUses, $0.tail?.counter) }
        return (newest?.usage.items ?? [:]).reduce(into: stored) { uses, item in
            guard item.key.kind == .key else { return }
            uses[item.key.name] = max(uses[item.key.name] ?? .min, item.value.lastAt)
        }
    }

    /// The newest entries, once they are a whole run.
    var fullTail: IndexRunBuilder? { state.withLock { state in state.tail?.isFull == true ? state.tail : nil } }

    func setTail(_ tail: IndexRunBuilder?) {
        state.withLock { $0.tail = tail }
    }

    /// Adds entries that were read from the log, as many as fit; the committer may have added some meanwhile.
    ///
    /// Adds them in small groups, because the committer may wait to add entries that it has just recorded.
    func add(_ page: [(index: Int64, entry: [UInt8])]) throws(AuditReadError) {
        for first in stride(from: 0, to: page.count, by: Self.mostAtOnce) {
            _ = try lendTail { tail throws(AuditReadError) in
                for (index, entry) in page[first...].prefix(Self.mostAtOnce) where !tail.isFull {
                    guard tail.follow(with: entry.span, index) else { throw .damaged(index: tail.nextEntry) }
                }
            }
        }
    }

    private static let mostAtOnce = 64

    /// Adds entries that were just recorded; the indexer may have read some of them meanwhile.
    ///
    /// - Returns: Whether the index has all of them now. If not, earlier entries are missing, or a run is full, and the
    ///   indexer has to read the log.
    func follow(_ entries: borrowing EntryBuffer) -> Bool {
        let known = lendTail { tail -> Bool in
            for place in 0..<entries.count {
                let entry = entries.bytes.span.extracting(entries.range(at: place))
                guard tail.follow(with: entry, entries.index(at: place)) else { return false }
            }
            return true
        }
        return known ?? false
    }

    /// Lets `body` add to the newest entries; the lock hides them from all other threads meanwhile.
    private func lendTail<Value, Failure: Error>(
        _ body: (inout IndexRunBuilder) throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        try state.withLock { state throws(Failure) in
            // Taken out, so that it is changed where it is and not copied.
            guard var tail = state.tail.take() else { return nil }
            defer { state.tail = tail }
            return try body(&tail)
        }
    }

    /// Notes the usage that a stored run contains.
    func noteStored(_ usage: LogUsage) {
        state.withLock { state in
            for (item, tally) in usage.items where item.kind == .key {
                state.lastUses[item.name] = max(state.lastUses[item.name] ?? .min, tally.lastAt)
            }
        }
    }
}

extension IndexRunBuilder {
    /// Takes the entry with that index, unless it has it already; false if it can't be the next.
    fileprivate mutating func follow(with entry: Span<UInt8>, _ index: Int64) -> Bool {
        if index < nextEntry { return true }
        return index == nextEntry && !isFull && add(entry)
    }
}
