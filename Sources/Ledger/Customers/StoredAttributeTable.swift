// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
package import Storage

/// What backends store of their customers; used by one thread, inside an open transaction.
package struct StoredAttributeTable {
    private let connection: any DatabaseConnection

    /// How many rows one transaction deletes: requests wait for it.
    private static let mostAtOnce: Int64 = 256

    package init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// What is stored of the customer, unless it has expired.
    func attributes(of subject: [UInt8], at now: Timestamp) throws(StorageError) -> StoredAttributes? {
        let found = try connection.first(
            SQL(
                """
                SELECT attributes, facts, stored_at, expires_at FROM customer_attributes
                WHERE subject = ? AND expires_at > ?
                """,
                .blob(subject),
                .integer(now.milliseconds)
            )
        ) { row in
            (
                attributes: row.optionalText(0), facts: row.optionalText(1), storedAt: row.integer(2),
                expiresAt: row.integer(3)
            )
        }
        guard let found else { return nil }
        let attributes = found.attributes.flatMap { Attributes(json: Array($0.utf8)) }
        guard (attributes == nil) == (found.attributes == nil) else { throw .unexpectedValue(column: 0) }
        let facts = found.facts.flatMap { StoredFacts(json: Array($0.utf8)) }
        guard (facts == nil) == (found.facts == nil) else { throw .unexpectedValue(column: 1) }
        return StoredAttributes(
            attributes: attributes,
            facts: facts,
            storedAt: Timestamp(milliseconds: found.storedAt),
            expiresAt: Timestamp(milliseconds: found.expiresAt)
        )
    }

    /// Stores them in place of all that was stored of the customer; `entry` is the index of the entry that says so.
    func store(_ stored: StoredAttributes, of subject: [UInt8], entry: Int64) throws(StorageError) {
        let row: [SQLValue] = [
            .blob(subject),
            stored.attributes.map { .text(String(decoding: $0.json, as: UTF8.self)) } ?? .null,
            .integer(stored.storedAt.milliseconds),
            .integer(stored.expiresAt.milliseconds),
            .integer(entry),
            stored.facts.map { .text(String(decoding: $0.json, as: UTF8.self)) } ?? .null,
        ]
        try connection.insert(row, into: Self.insertion)
    }

    private static let insertion = Insertion(
        into: "customer_attributes",
        columns: "subject, attributes, stored_at, expires_at, entry_index, facts",
        onConflict: .replaces(keyColumns: 1)
    )

    func delete(of subject: [UInt8]) throws(StorageError) {
        try connection.enqueue(SQL("DELETE FROM customer_attributes WHERE subject = ?", .blob(subject)))
    }

    /// Whether there are some that have expired.
    package func hasExpired(at now: Timestamp) throws(StorageError) -> Bool {
        let sql = SQL("SELECT 1 FROM customer_attributes WHERE expires_at <= ? LIMIT 1", .integer(now.milliseconds))
        return try connection.first(sql) { _ in true } ?? false
    }

    /// Deletes some of those that have expired.
    func deleteExpired(at now: Timestamp) throws(StorageError) {
        try connection.run(
            SQL(
                """
                DELETE FROM customer_attributes WHERE subject IN (
                    SELECT subject FROM customer_attributes WHERE expires_at <= ? ORDER BY expires_at LIMIT ?
                )
                """,
                .integer(now.milliseconds),
                .integer(Self.mostAtOnce)
            )
        )
    }
}
