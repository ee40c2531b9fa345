// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
package import OfferDomain
package import Storage

/// What is looked for in the audit log; every condition that is set must hold.
package struct AuditQuery: Sendable {
    /// The members of an entry that can be asked for, by the name of their option.
    package enum Field: String, CaseIterable, Hashable, Sendable {
        case event, key, caller, bundle, product, offer, rule, outcome, user, grant, nonce, digest, request

        /// The member of the entry.
        package var member: String {
            switch self {
            case .event: "ev"
            case .key: "kid"
            case .caller: "caller"
            case .bundle: "bundle"
            case .product: "product"
            case .offer: "offer"
            case .rule: "rule"
            case .outcome: "outcome"
            case .user: "users"
            case .grant: "grant"
            case .nonce: "nonce"
            case .digest: "digest"
            case .request: "rid"
            }
        }
    }

    package var from: Timestamp?
    package var until: Timestamp?
    package var fields: [Field: String]
    /// At most so many entries, the earliest first.
    package var limit: Int

    package init(from: Timestamp? = nil, until: Timestamp? = nil, fields: [Field: String] = [:], limit: Int = .max) {
        self.from = from
        self.until = until
        self.fields = fields
        self.limit = limit
    }

    func matches(_ entry: JSONObject) -> Bool {
        fields.allSatisfy { field, wanted in
            if field == .user, tellsOfTransfer(entry, wanted) { return true }
            guard let value = entry[field.member] else { return false }
            if let list = value.array { return list.contains { $0.string(equals: wanted) } }
            return value.string(equals: wanted)
        }
    }
}

/// Whether an entry tells of a transfer from or to the user, by the pseudonym or by its key, the first 16 bytes.
private func tellsOfTransfer(_ entry: JSONObject, _ user: String) -> Bool {
    let ends = [entry["from"], entry["to"]].compactMap { $0?.string }
    if ends.isEmpty { return false }
    let code = user.utf8.split(separator: UInt8(ascii: ":")).last.flatMap { Base64.decodeURL(Array($0)) }
    let key = code.map { String(decoding: Base64.encodeURL(Array($0.prefix(16))), as: UTF8.self) }
    return ends.contains { $0 == user || $0 == key }
}

/// Reads the audit log, through a connection that only reads.
package struct AuditReader {
    private let connection: any DatabaseConnection

    package init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// Gives each entry that matches, in order, with its index.
    ///
    /// Entries are in the order of their time, so the first one of a span is found by halving.
    package func entries(
        matching query: AuditQuery,
        from first: Int64 = 0,
        _ each: (_ index: Int64, _ entry: [UInt8]) -> Void
    ) throws(AuditReadError) {
        var next = first
        if let from = query.from { next = max(first, try firstIndex(at: from)) }
        var remaining = query.limit
        while remaining > 0 {
            let page = try page(from: next)
            guard !page.isEmpty else { return }
            for (index, entry) in page where remaining > 0 {
                guard index == next, let document = try? JSONDocument(entry), let object = document.root.object else {
                    throw .damaged(index: next)
                }
                next += 1
                if let until = query.until, let time = object["t"]?.integer, time >= until.milliseconds { return }
                guard query.matches(object) else { continue }
                each(index, entry)
                remaining -= 1
            }
        }
    }

    private func page(from index: Int64) throws(AuditReadError) -> [(index: Int64, entry: [UInt8])] {
        var page: [(Int64, [UInt8])] = []
        try rows(
            SQL(
                "SELECT entry_index, entry FROM audit_entries WHERE entry_index >= ? ORDER BY entry_index LIMIT 512",
                .integer(index)
            )
        ) { row in
            page.append((row.integer(0), row.blob(1)))
        }
        return page
    }

    private func firstIndex(at instant: Timestamp) throws(AuditReadError) -> Int64 {
        var low: Int64 = 0
        var high: Int64 = 0
        try rows(SQL("SELECT count(*) FROM audit_entries")) { row in high = row.integer(0) }
        while low < high {
            let middle = (low + high) / 2
            if try time(of: middle) < instant.milliseconds { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func time(of index: Int64) throws(AuditReadError) -> Int64 {
        var time: Int64?
        try rows(SQL("SELECT entry FROM audit_entries WHERE entry_index = ?", .integer(index))) { row in
            time = AuditEntry.recordedMilliseconds(row.blob(0))
        }
        guard let time else { throw .damaged(index: index) }
        return time
    }

    private func rows(_ sql: SQL, _ each: (borrowing Row) -> Void) throws(AuditReadError) {
        do { try connection.rows(sql, each) } catch { throw .database(error) }
    }
}

/// Why the log could not be read to its end.
package enum AuditReadError: Error, Hashable, Sendable, CustomStringConvertible {
    case database(StorageError)
    /// There is no entry of this index, or it is not one that the service wrote.
    case damaged(index: Int64)
    /// Entries, tiles and head do not fit together.
    case log(LogFault)
    /// The log never had that many entries, or has lost them.
    case noSuchTree(size: Int64)

    package var description: String {
        switch self {
        case .database(let error): error.description
        case .damaged(let index): "The log is damaged: entry \(index) is missing or can't be read."
        case .log(let fault): fault.description
        case .noSuchTree(let size): "The log has no tree of \(size) entries with what was asked for."
        }
    }
}
