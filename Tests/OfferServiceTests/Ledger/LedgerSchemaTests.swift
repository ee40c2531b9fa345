// SPDX-License-Identifier: Apache-2.0
import Storage
import Testing

@testable import OfferService

/// What is added with each signature costs no more than its row.
struct LedgerSchemaTests {
    @Test(.aboutSQLite, arguments: ["audit_entries", "new_grants"])
    func `rows that are added behind all others have no second tree beside their table`(table: String) throws {
        let place = try LogPlace()
        let connection = try place.ledger.open()
        let indexes = try connection.all(SQL("SELECT name FROM pragma_index_list(?)", .text(table))) { $0.text(0) }
        #expect(indexes.isEmpty)
        let keys = SQL("SELECT type FROM pragma_table_info(?) WHERE pk = 1", .text(table))
        #expect(try connection.all(keys) { $0.text(0) } == ["INTEGER"])
    }

    @Test(.aboutSQLite) func `a log of before, whose entries have an index beside them, is gone on with`() throws {
        let place = try LogPlace()
        let connection = try place.ledger.open()
        try connection.run(SQL("DROP TABLE audit_entries"))
        try connection.run(
            SQL("CREATE TABLE audit_entries (entry_index BIGINT PRIMARY KEY, entry BLOB NOT NULL)")
        )
        try place.writer().add(3)
        try place.writer().add(2)
        #expect(try place.entries().count == 5)
        #expect(try place.reader().head() == place.expectedHead())
    }
}
