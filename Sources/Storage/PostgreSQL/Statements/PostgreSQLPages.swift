// SPDX-License-Identifier: Apache-2.0

/// How the rows of a long answer come, some at a time, through a cursor.
///
/// libpq holds all rows of an answer in memory, and an answer may only take so long; a page is small, and soon there.
/// See https://www.postgresql.org/docs/15/sql-declare.html.
enum PostgreSQLPages {
    static let cursor = "pages"
    /// So many rows make a page: a few hundred kilobytes where they are entries of the audit log.
    static let rowCount = 256
    static let fetch = PostgreSQLText("FETCH FORWARD \(rowCount) FROM \(cursor)" as String)
    static let close = PostgreSQLText("CLOSE \(cursor)" as String)
}

extension PostgreSQLText {
    /// Has the rows of a statement without values come through a cursor.
    init(declaring cursor: String, for statement: PostgreSQLText) {
        let text = String(decoding: statement.bytes.dropLast(), as: UTF8.self)
        self.init("DECLARE \(cursor) NO SCROLL CURSOR FOR \(text)" as String)
    }
}
