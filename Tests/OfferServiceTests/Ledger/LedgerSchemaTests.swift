// SPDX-License-Identifier: Apache-2.0
import Storage
import TestSupport
import Testing
import TransparencyLog

@testable import Ledger
@testable import OfferService

/// The tables of a new database, and how a later version changes them.
@Suite(.overBothEngines) struct LedgerSchemaTests {
    @Test(.aboutSQLite, arguments: ["audit_entries", "grants_by_time"])
    func `rows that are added behind all others have no second tree beside their table`(table: String) throws {
        let place = try LogPlace()
        let connection = try place.ledger.openPatiently()
        let indexes = try connection.all(SQL("SELECT name FROM pragma_index_list(?)", .text(table))) { $0.text(0) }
        #expect(indexes.isEmpty)
        let keys = SQL("SELECT type FROM pragma_table_info(?) WHERE pk = 1", .text(table))
        #expect(try connection.all(keys) { $0.text(0) } == ["INTEGER"])
    }

    @Test(.aboutSQLite) func `no table has a trigger, and only the callers' keys refer to another table`() throws {
        let place = try LogPlace()
        let connection = try place.ledger.openPatiently()
        let triggers = SQL("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
        #expect(try connection.all(triggers) { $0.text(0) } == [])
        // Rows that wait in an `InsertBuffer` change places with those of other tables.
        let referring = SQL(
            "SELECT DISTINCT tables.name FROM sqlite_schema AS tables, pragma_foreign_key_list(tables.name)"
        )
        #expect(try connection.all(referring) { $0.text(0) } == ["caller_keys"])
    }

    /// A made-up second version of the schema.
    private static let second = Migration(
        version: 2,
        name: "notes on callers",
        statements: ["ALTER TABLE callers ADD COLUMN note TEXT", "UPDATE callers SET note = caller_id"]
    )

    @Test func `a later version changes a ledger with records, which this version refuses from then on`() throws {
        let place = try LogPlace()
        try place.writer().add(3)
        let connection = try place.ledger.openPatiently()
        try connection.run(SQL("INSERT INTO callers VALUES ('shop', 'backend', '', 1, NULL, NULL)"))
        try Migrations.apply(LedgerSchema.migrations + [Self.second], to: connection, at: 5)
        #expect(try connection.all(SQL("SELECT note FROM callers")) { $0.text(0) } == ["shop"])
        #expect(try place.reader().head() == place.expectedHead())
        let error = #expect(throws: StorageError.self) { try place.ledger.openPatiently() }
        #expect(error == .schemaTooNew(found: 2, supported: LedgerSchema.migrations.count))
    }
}
