// SPDX-License-Identifier: Apache-2.0
import JSON
package import OfferDomain

/// What the running service knows of its log beside what is stored: the newest entries, and when each key was used last.
///
/// Written by ``AuditIndexer``'s thread, read by any.
package final class AuditIndex: Sendable {
    private struct State {
        var tail: IndexRunBuilder?
        /// Milliseconds since 1970 UTC, by the key's id; of stored runs.
        var lastUses: [String: Int64] = [:]
    }

    package let format: AuditIndexFormat
    private let state = Guarded(State())

    package init(format: AuditIndexFormat = .init()) {
        self.format = format
    }

    /// The newest entries, which are no whole run yet; nil before the first look at the log.
    package var tail: IndexRunBuilder? { state.withLock { $0.tail } }

    /// When a key was used last, as far as the index has come: within a second of now, once it has caught up.
    package func lastUse(ofKey id: KeyID) -> Timestamp? {
        state.withLock { state in
            let times = [state.lastUses[id.text], state.tail?.usage.lastUse(ofKey: id.text)].compactMap(\.self)
            return times.max().map(Timestamp.init(milliseconds:))
        }
    }

    /// The newest entries, once they are a whole run.
    var fullTail: IndexRunBuilder? { state.withLock { state in state.tail?.isFull == true ? state.tail : nil } }

    func setTail(_ tail: IndexRunBuilder?) {
        state.withLock { $0.tail = tail }
    }

    /// Takes the next entries, as many as there is room for.
    func add(_ entries: [JSONObject]) {
        state.withLock { state in
            for entry in entries where state.tail?.isFull == false { state.tail?.add(entry) }
        }
    }

    /// Takes note of what a run comes to that is stored.
    func noteStored(_ usage: LogUsage) {
        state.withLock { state in
            for (item, tally) in usage.items where item.kind == .key {
                state.lastUses[item.name] = max(state.lastUses[item.name] ?? .min, tally.lastAt)
            }
        }
    }
}

extension LogUsage {
    fileprivate func lastUse(ofKey id: String) -> Int64? {
        items.filter { $0.key.kind == .key && $0.key.name == id }.map(\.value.lastAt).max()
    }
}
