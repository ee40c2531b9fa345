// SPDX-License-Identifier: Apache-2.0
import Cryptography
package import Storage

/// Where a log to be verified is stored.
package protocol LogSource {
    /// What the log says of itself; entries up to there are looked at.
    func head() throws(LogDamage) -> TreeHead
    /// The entries of a span of at most 256, which begins at a multiple of 256; fewer if some are missing.
    func entries(in span: Range<Int64>) throws(LogDamage) -> [[UInt8]]
    /// At least `width` hashes of a tile; nil if the tile is not there.
    func tile(level: Int, index: Int64, width: Int) throws(LogDamage) -> [UInt8]?
    /// Whether the last tile of level 0 is stored though it is not full.
    var storesPartialLeaves: Bool { get }
}

/// The log in a database, through a connection that only reads.
///
/// Nothing is held open between two reads: a service that runs beside it can tidy up behind itself.
package struct DatabaseLog: LogSource {
    private let connection: any DatabaseConnection
    private let tables: LogTables

    package init(connection: any DatabaseConnection) {
        self.connection = connection
        tables = LogTables(connection: connection)
    }

    /// The database derives the leaves of its last tile from the entries.
    package var storesPartialLeaves: Bool { false }

    /// Reads head and number of entries in one transaction, and refuses a log where they differ.
    package func head() throws(LogDamage) -> TreeHead {
        do throws(AuditReadError) {
            try reading(connection.begin())
            defer { connection.rollback() }
            let (head, entries) = try tables.headAndEntryCount()
            guard head.size == entries else { throw .log(.sizeDiffers(head: head.size, entries: entries)) }
            return head
        } catch {
            throw .unreadable(error.description)
        }
    }

    /// Reads entries; the error names the first entry that is not as it was written.
    package func entries(in span: Range<Int64>) throws(LogDamage) -> [[UInt8]] {
        var entries: [[UInt8]] = []
        do throws(AuditReadError) {
            try tables.entries(in: span) { entries.append($0) }
        } catch {
            guard case .damaged(let index) = error else { throw .unreadable(error.description) }
            throw .entryMissing(index)
        }
        return entries
    }

    /// Reads one tile; it may have more hashes than are asked for.
    package func tile(level: Int, index: Int64, width: Int) throws(LogDamage) -> [UInt8]? {
        do throws(AuditReadError) {
            return try tables.tile(level: level, index: index)
        } catch {
            throw .unreadable(error.description)
        }
    }
}
