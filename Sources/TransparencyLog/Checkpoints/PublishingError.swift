// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// Why there is no checkpoint of the newest entries.
enum PublishingError: Error, CustomStringConvertible {
    /// There are fewer entries than were signed for.
    case shrunk(from: Int64, to: Int64)
    /// The entries up to that size have another hash than they had.
    case rewritten(size: Int64)
    case unreadable(AuditReadError)
    case signing(SigningError)
    case keeping(CheckpointKeepingError)
    /// The database holds a larger checkpoint that is not the log's.
    case notBelieved(CheckpointFault)

    /// Whether the log contradicts what was signed; every other error may pass.
    var isContradiction: Bool {
        switch self {
        case .shrunk, .rewritten, .keeping(.contradictsEarlier), .unreadable(.damaged), .unreadable(.log),
            .unreadable(.noSuchTree), .notBelieved:
            true
        case .unreadable(.database), .signing, .keeping(.records), .keeping(.file), .keeping(.isOutrun): false
        }
    }

    var description: String {
        switch self {
        case .shrunk(let from, let to):
            "The log has \(to) entries, and a checkpoint was signed of \(from): entries are missing."
        case .rewritten(let size):
            "The first \(size) entries of the log have a different hash than the one they had: entries were changed."
        case .unreadable(.noSuchTree(let size)):
            "The log no longer has the \(size) entries that it had: the database was restored to an earlier state, or "
                + "another server answers, and entries are missing."
        case .unreadable(let error): error.description
        case .signing(let error): error.description
        case .keeping(let error): error.description
        case .notBelieved(let fault): "The database holds a larger checkpoint that can't be believed: \(fault)"
        }
    }
}
