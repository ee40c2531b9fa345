// SPDX-License-Identifier: Apache-2.0
package import JSON
package import OfferDomain
package import Storage
package import TransparencyLog

/// Reads the audit log, through a connection that only reads.
package struct AuditReader {
    private let connection: any DatabaseConnection

    package init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// Gives each entry that matches, the earliest first, with its index; looks at every one.
    ///
    /// Entries are in the order of their time, so the first one of a span is found by halving.
    package func entries(
        matching query: AuditQuery,
        from first: Int64 = 0,
        _ each: (_ index: Int64, _ entry: [UInt8]) -> Void
    ) throws(AuditReadError) {
        try readEntries(matching: query, from: first) { index, entry, _ in each(index, entry) }
    }

    /// The same, with what was read of each entry.
    package func readEntries(
        matching query: AuditQuery,
        from first: Int64 = 0,
        _ each: (_ index: Int64, _ entry: [UInt8], JSONObject) -> Void
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
                each(index, entry, object)
                remaining -= 1
            }
        }
    }

    /// How many entries there are.
    package func size() throws(AuditReadError) -> Int64 {
        var size: Int64 = 0
        // Not counted: that would read the whole table.
        try rows(SQL("SELECT max(entry_index) FROM audit_entries")) { row in
            size = (row.optionalInteger(0) ?? -1) + 1
        }
        return size
    }

    /// The entry with that index; nil if no entry has it.
    package func entry(_ index: Int64) throws(AuditReadError) -> [UInt8]? {
        var entry: [UInt8]?
        try rows(SQL("SELECT entry FROM audit_entries WHERE entry_index = ?", .integer(index))) { row in
            entry = row.blob(0)
        }
        return entry
    }

    /// When the newest entry was written; `nil` for an empty log.
    package static func newestTime(_ connection: any DatabaseConnection) throws(StorageError) -> Timestamp? {
        let newest = SQL("SELECT entry FROM audit_entries ORDER BY entry_index DESC LIMIT 1")
        let time = try connection.first(newest) { AuditEntry.recordedMilliseconds($0.blob(0)) } ?? nil
        return time.map(Timestamp.init(milliseconds:))
    }

    /// The most entries of one ``page(from:)``, as its statement has it.
    package static let pageEntries = 512

    /// Up to 512 entries from an index on, in order.
    package func page(from index: Int64) throws(AuditReadError) -> [(index: Int64, entry: [UInt8])] {
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

    /// The first entry that is not earlier than `instant`, or what would be the next one.
    package func firstIndex(at instant: Timestamp) throws(AuditReadError) -> Int64 {
        var low: Int64 = 0
        var high = try size()
        while low < high {
            let middle = (low + high) / 2
            if try time(of: middle) < instant.milliseconds { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func time(of index: Int64) throws(AuditReadError) -> Int64 {
        guard let time = try entry(index).flatMap(AuditEntry.recordedMilliseconds) else { throw .damaged(index: index) }
        return time
    }

    private func rows(_ sql: SQL, _ each: (borrowing Row) -> Void) throws(AuditReadError) {
        try reading(connection.rows(sql, each))
    }
}
