// SPDX-License-Identifier: Apache-2.0

/// Reads the rows of a long result page by page, through a cursor.
///
/// libpq holds all rows of a result in memory, and the time for a result is limited; a page is small and arrives soon.
/// See https://www.postgresql.org/docs/15/sql-declare.html.
enum PostgreSQLPages {
    static let cursor = "pages"
    /// The rows of a page: a few hundred kilobytes for entries of the audit log.
    static let rowCount = 256
    static let fetch = PostgreSQLText("FETCH FORWARD \(rowCount) FROM \(cursor)" as String)
    static let close = PostgreSQLText("CLOSE \(cursor)" as String)
}

extension PostgreSQLText {
    /// Declares a cursor for the rows of a statement without values.
    init(declaring cursor: String, for statement: PostgreSQLText) {
        let text = String(decoding: statement.bytes.dropLast(), as: UTF8.self)
        self.init("DECLARE \(cursor) NO SCROLL CURSOR FOR \(text)" as String)
    }
}
