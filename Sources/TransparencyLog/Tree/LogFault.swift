// SPDX-License-Identifier: Apache-2.0

/// How the stored log differs from the log that was written; nothing is added to such a log.
package enum LogFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The row that says how long the log is and what its root is can't be found.
    case headMissing
    /// The head counts other entries than there are.
    case sizeDiffers(head: Int64, entries: Int64)
    /// Entries and tiles lead to another root than the head has.
    case rootDiffers(size: Int64)
    /// A tile is missing, or not as wide as the log's size wants it.
    case tileDamaged(level: Int, index: Int64)
    /// An entry is missing, or the service did not write it.
    case entryDamaged(index: Int64)
    /// The log no longer begins with the entries that it had: it was put back to an earlier state, or replaced.
    case notContinued(size: Int64)

    /// The history was moved into another database, where it goes on.
    case movedAway

    /// What was found and what to do.
    package var description: String {
        if self == .movedAway {
            return "The history in this database was moved into another one (offer-signer migrate): use that one."
        }
        let reason =
            switch self {
            case .headMissing: "its head is missing"
            case .sizeDiffers(let head, let entries): "its head counts \(head) entries, and there are \(entries)"
            case .rootDiffers(let size): "its \(size) entries do not lead to the root of its head"
            case .tileDamaged(let level, let index): "tile \(index) of level \(level) is missing or not whole"
            case .entryDamaged(let index): "entry \(index) is missing or can't be read"
            case .notContinued(let size): "it does not begin with the \(size) entries that it had"
            case .movedAway: "it was moved"
            }
        return "The audit log is not as it was written: \(reason). Nothing is added to it; see docs/audit-log.md."
    }
}
