// SPDX-License-Identifier: Apache-2.0
package import Configuration
import OfferDomain
package import Storage

/// Bodies of notifications that are still to be relayed.
package struct RelayTable {
    /// Where the table is.
    package let connection: any DatabaseConnection

    package init(connection: any DatabaseConnection) { self.connection = connection }

    /// A body that is relayed.
    package struct Row {
        /// The entry about it.
        package let entryIndex: Int64
        /// As the store sent it.
        package let body: [UInt8]
    }

    func add(_ body: [UInt8], of store: Store, entry: Int64, at instant: Timestamp) throws(StorageError) {
        let row: [SQLValue] = [
            .integer(entry), .text(store.recordName), .blob(body), .integer(instant.milliseconds),
        ]
        try connection.insert(row, into: Self.insertion)
    }

    private static let insertion = Insertion(
        into: "relayed_notifications",
        columns: "entry_index, store, body, received_at"
    )

    /// Bodies of that store's notifications, in the order of their entries, beginning with that entry.
    package func rows(of store: Store, from first: Int64, limit: Int) throws(StorageError) -> [Row] {
        try connection.all(
            SQL(
                """
                SELECT entry_index, body FROM relayed_notifications WHERE store = ? AND entry_index >= ?
                ORDER BY entry_index LIMIT ?
                """,
                .text(store.recordName),
                .integer(first),
                .integer(Int64(limit))
            )
        ) { Row(entryIndex: $0.integer(0), body: $0.blob(1)) }
    }
}
