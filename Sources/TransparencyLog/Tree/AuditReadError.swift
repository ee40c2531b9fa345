// SPDX-License-Identifier: Apache-2.0
package import Storage

/// The value of an expression about the database, whose errors become those of the log's readers: `try reading(table.all())`.
package func reading<Value>(_ body: @autoclosure () throws(StorageError) -> Value) throws(AuditReadError) -> Value {
    do { return try body() } catch { throw .database(error) }
}

/// Why the log could not be read to its end.
package enum AuditReadError: Error, Hashable, Sendable, CustomStringConvertible {
    case database(StorageError)
    /// The entry with this index is missing, or the service did not write it.
    case damaged(index: Int64)
    /// Entries, tiles and head do not fit together.
    case log(LogFault)
    /// The log never had that many entries, or has lost them.
    case noSuchTree(size: Int64)

    /// A sentence for people.
    package var description: String {
        switch self {
        case .database(let error): error.description
        case .log(let fault): fault.description
        case .noSuchTree(let size): "The log has no tree of \(size) entries with what was asked for."
        case .damaged(let index): "The log is damaged: entry \(index) is missing or can't be read."
        }
    }
}
