// SPDX-License-Identifier: Apache-2.0
import Cryptography
package import OfferDomain
package import TransparencyLog

/// An ``AuditEvent`` of the records themselves, or of their readers.
package enum RecordsEvent: Sendable {
    /// Records could not be written for a while; now they can. Each service records only what it saw itself.
    case resumed(since: Timestamp)
    /// The log was started again under another name, because what was signed under its earlier name is lost.
    case logRestarted(previous: Checkpoint)
    /// The whole history was moved into this database, with `entries` entries.
    case ledgerMoved(entries: Int64)
    /// A command wrote `count` entries to a file, beginning with the index `from`.
    case exported(from: Int64, count: Int64)
    /// A reader queried the log.
    case read(RecordedRead)
    /// Parts of the log that any reader may copy were fetched, in about a minute.
    case fetched(Counted<AuditFetch>)

    /// What the entry's `ev` member says.
    var name: AuditEventName {
        switch self {
        case .resumed: .auditResume
        case .logRestarted: .logRestarted
        case .ledgerMoved: .ledgerMoved
        case .exported: .auditExport
        case .read: .auditRead
        case .fetched: .auditFetch
        }
    }

    /// The entry's other members.
    var details: [AuditEntry.Member] {
        switch self {
        case .resumed(let since): [("since", .integer(since.milliseconds))]
        case .logRestarted(let previous):
            [
                ("origin", .text(previous.origin.text)), ("size", .integer(previous.size)),
                ("root", .text(String(decoding: Base64.encode(previous.rootHash.bytes), as: UTF8.self))),
            ]
        case .ledgerMoved(let entries): [("entries", .integer(entries))]
        case .exported(let from, let count): [("from", .integer(from)), ("count", .integer(count))]
        case .read(let read): AuditEntry.details(of: read)
        case .fetched(let fetches): AuditEntry.details(of: fetches)
        }
    }
}
