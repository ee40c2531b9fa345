// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import Storage
import TestSupport
import Testing
import TransparencyLog

@testable import Ledger
@testable import OfferService

/// A ledger in its own folder, with a log that grows without a service.
struct LogPlace {
    let directory: TemporaryDirectory
    let location: DatabaseLocation
    let clock = SettableClock()
    let ledger: LedgerAccess

    init() throws {
        directory = try TemporaryDirectory()
        location = try #require(DatabaseLocation(directory.database("ledger.db")))
        ledger = LedgerAccess(location: location, clock: clock.wallClock)
    }

    /// A ledger with a log of that many small entries, and its tree.
    static func filled(entries count: Int) throws -> LogPlace {
        let place = try LogPlace()
        let connection = try place.ledger.openPatiently()
        guard count > 0 else { return place }
        try connection.begin()
        try connection.run(
            SQL(
                """
                INSERT INTO audit_entries (entry_index, entry)
                WITH RECURSIVE counter(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counter WHERE n + 1 < ?)
                SELECT n, CAST('{"n":' || n || ',"t":1000}' AS BLOB) FROM counter
                """,
                .integer(Int64(count))
            )
        )
        let tables = LogTables(connection: connection)
        var edge = TreeEdge()
        try tables.entries(in: 0..<Int64(count)) { edge.append(TreeHash.leaf($0)) }
        try tables.write(edge.takeChanges(), edge.head)
        try connection.commit()
        return place
    }

    func writer(after head: TreeHead? = nil) throws -> LedgerWriter {
        LedgerWriter(connection: try ledger.openPatiently(), after: head)
    }

    func reader() throws -> LogReader { LogReader(connection: try ledger.openForReading()) }

    /// Every entry, as it is stored.
    func entries() throws -> [[UInt8]] {
        try ledger.openForReading().all(SQL("SELECT entry FROM audit_entries ORDER BY entry_index")) { $0.blob(0) }
    }

    /// The head as the definition has it of what is stored.
    func expectedHead() throws -> TreeHead {
        let entries = try entries()
        return TreeHead(size: Int64(entries.count), rootHash: MerkleOracle(entries).root(entries.indices))
    }

    func run(_ statement: StaticString) throws {
        try location.connect().run(SQL(statement))
    }
}

extension LedgerWriter {
    /// Adds `count` entries in one transaction.
    func add(_ count: Int) throws {
        try begin(at: Timestamp(milliseconds: 1))
        for number in 0..<count { try append(.records(.exported(from: Int64(number), count: Int64(count)))) }
        try commit()
    }
}
