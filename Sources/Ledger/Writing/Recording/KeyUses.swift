// SPDX-License-Identifier: Apache-2.0
import Configuration
package import OfferDomain
package import Storage

/// When the use of each key was last recorded, kept beside the log so that the log need not be searched.
package struct KeyUses: Sendable {
    /// The newest recorded use of each key; keys that were never used are left out.
    package private(set) var last: [KeyID: Timestamp] = [:]
    private var changed: Set<KeyID> = []
    /// The newest use since the last write; most uses are of the same key at the same time.
    private var newest: (key: KeyID, time: Timestamp)?

    /// No uses, until those of the database are read.
    package init() {}

    private static let all = SQL("SELECT key_id, last_used_at FROM key_uses")

    /// Asks ahead what ``read(_:)`` reads.
    static func ask(_ connection: any DatabaseConnection) throws(StorageError) { try connection.ask(all) }

    /// Reads what the database has.
    package mutating func read(_ connection: any DatabaseConnection) throws(StorageError) {
        var found: [KeyID: Timestamp] = [:]
        try connection.rows(Self.all) { row in
            if let id = try? KeyID(row.text(0)) { found[id] = Timestamp(milliseconds: row.integer(1)) }
        }
        last = found
        (changed, newest) = ([], nil)
    }

    mutating func note(_ event: AuditEvent, at now: Timestamp) {
        guard let key = event.usedKey else { return }
        if let newest, newest.time == now, newest.key == key { return }
        last[key] = now
        changed.insert(key)
        newest = (key, now)
    }

    /// Writes what this transaction has added.
    mutating func write(_ connection: any DatabaseConnection) throws(StorageError) {
        for key in changed {
            guard let time = last[key] else { continue }
            try connection.insert([.text(key.text), .integer(time.milliseconds)], into: Self.insertion)
        }
        changed.removeAll(keepingCapacity: true)
        newest = nil
    }

    private static let insertion = Insertion(
        into: "key_uses",
        columns: "key_id, last_used_at",
        onConflict: .replaces(keyColumns: 1)
    )
}

extension AuditEvent {
    /// The key of the ring that is used right after this event is recorded.
    fileprivate var usedKey: KeyID? {
        switch self {
        case .signature(let record): record.plan.key.id
        case .key(.storeTokenSigned(let key, _, _, _)): key
        default: nil
        }
    }
}
