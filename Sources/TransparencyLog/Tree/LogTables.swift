// SPDX-License-Identifier: Apache-2.0
import Cryptography
package import Storage

/// The log as rows: entries, tiles, head.
package struct LogTables {
    let connection: any DatabaseConnection

    package init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// What the log says of itself.
    package func head() throws(AuditReadError) -> TreeHead {
        var head: TreeHead?
        try rows(SQL("SELECT size, root_hash FROM log_head")) { row in head = TreeHead(row) }
        guard let head else { throw .log(.headMissing) }
        return head
    }

    /// What the log says of itself, and how many entries there are if none is missing.
    package func headAndEntryCount() throws(AuditReadError) -> (head: TreeHead, entryCount: Int64) {
        var head: TreeHead?
        var last: Int64?
        try rows(Self.headAndEntryCount) { row in
            head = TreeHead(row)
            last = row.optionalInteger(2)
        }
        guard let head else { throw .log(.headMissing) }
        return (head, (last ?? -1) + 1)
    }

    private static let headAndEntryCount = SQL(
        "SELECT size, root_hash, (SELECT max(entry_index) FROM audit_entries) FROM log_head"
    )

    /// Asks ahead what ``headAndEntryCount()`` reads.
    package func askHead() throws(StorageError) { try connection.ask(Self.headAndEntryCount) }

    /// Asks ahead what ``newestEntries(from:upTo:atMost:_:)`` reads.
    package func askNewestEntries(from first: Int64, atMost count: Int64) throws(StorageError) {
        try connection.ask(Self.entries(in: first..<first + count))
    }

    /// Gives the last entries of the log, in order; there are at most `count`, and all of them must be there.
    package func newestEntries(
        from first: Int64,
        upTo end: Int64,
        atMost count: Int64,
        _ each: ([UInt8]) -> Void
    ) throws(AuditReadError) {
        let next = try contiguousEntries(in: first..<first + count, each)
        guard next == end else { throw .damaged(index: min(next, end)) }
    }

    /// The hashes of a stored tile, which may be wider than requested; nil if there is no such tile.
    func tile(level: Int, index: Int64) throws(AuditReadError) -> [UInt8]? {
        var hashes: [UInt8]?
        try rows(
            SQL(
                "SELECT hashes FROM log_tiles WHERE level = ? AND tile_index = ?",
                .integer(Int64(level)),
                .integer(index)
            )
        ) { row in
            hashes = row.blob(0)
        }
        return hashes
    }

    /// Gives each entry of a span, in order; all of them must be there.
    package func entries(in span: Range<Int64>, _ each: ([UInt8]) -> Void) throws(AuditReadError) {
        let next = try contiguousEntries(in: span, each)
        guard next == span.upperBound else { throw .damaged(index: next) }
    }

    /// Gives the entries of a span up to the first that is missing, and returns its index.
    private func contiguousEntries(in span: Range<Int64>, _ each: ([UInt8]) -> Void) throws(AuditReadError) -> Int64 {
        var next = span.lowerBound
        try rows(Self.entries(in: span)) { row in
            guard row.integer(0) == next else { return }
            each(row.blob(1))
            next += 1
        }
        return next
    }

    private static func entries(in span: Range<Int64>) -> SQL {
        SQL(
            """
            SELECT entry_index, entry FROM audit_entries
            WHERE entry_index >= ? AND entry_index < ? ORDER BY entry_index
            """,
            .integer(span.lowerBound),
            .integer(span.upperBound)
        )
    }

    /// The newest checkpoint that was kept; nil where none was signed.
    func storedCheckpoint() throws(AuditReadError) -> PublishedCheckpoint? {
        var checkpoint: PublishedCheckpoint?
        try rows(
            SQL("SELECT size, root_hash, note FROM checkpoints ORDER BY signed_at DESC, size DESC LIMIT 1")
        ) { row in
            checkpoint = SHA256Digest(bytes: row.blob(1)).map { rootHash in
                PublishedCheckpoint(head: TreeHead(size: row.integer(0), rootHash: rootHash), note: row.blob(2))
            }
        }
        return checkpoint
    }

    /// Writes tiles and the head; the transaction is the caller's.
    package func write(_ tiles: [TreeEdge.Tile], _ head: TreeHead) throws(StorageError) {
        for tile in tiles { try write(tile) }
        let sql = SQL("UPDATE log_head SET size = ?, root_hash = ?", .integer(head.size), .blob(head.rootHash.bytes))
        try connection.enqueue(sql, changing: 1)
    }

    private func write(_ tile: TreeEdge.Tile) throws(StorageError) {
        let row: [SQLValue] = [.integer(Int64(tile.level)), .integer(tile.index), .blob(tile.hashes)]
        try connection.insert(row, into: Self.tiles)
    }

    private static let tiles = Insertion(
        into: "log_tiles",
        columns: "level, tile_index, hashes",
        onConflict: .replaces(keyColumns: 2)
    )

    private func rows(_ sql: SQL, _ each: (borrowing Row) -> Void) throws(AuditReadError) {
        try reading(connection.rows(sql, each))
    }
}

extension TreeHead {
    /// From a row that begins with size and root hash; nil if it can't be one.
    fileprivate init?(_ row: borrowing Row) {
        guard let rootHash = SHA256Digest(bytes: row.blob(1)), row.integer(0) >= 0 else { return nil }
        self.init(size: row.integer(0), rootHash: rootHash)
    }
}
