// SPDX-License-Identifier: Apache-2.0

/// One row of an answer, valid only within a closure; columns count from 0.
///
/// Nothing is converted: a column that is not of the kind asked for makes the whole query fail with
/// ``StorageError/unexpectedValue(column:)`` once the closure has returned, so a stand-in value is never acted upon.
package struct Row: ~Copyable {
    let source: any ColumnSource

    /// The integer in a column that is never null.
    package func integer(_ column: Int) -> Int64 { optionalInteger(column) ?? rejected(column, 0) }

    /// The fraction in a column that is never null.
    package func real(_ column: Int) -> Double { optionalReal(column) ?? rejected(column, 0) }

    /// The text in a column that is never null.
    package func text(_ column: Int) -> String { optionalText(column) ?? rejected(column, "") }

    /// The bytes in a column that is never null.
    package func blob(_ column: Int) -> [UInt8] { optionalBlob(column) ?? rejected(column, []) }

    /// Nil where the column is null.
    package func optionalInteger(_ column: Int) -> Int64? {
        isOfType(.integer, column) ? source.integer(at: column) : nil
    }

    /// Nil where the column is null.
    package func optionalReal(_ column: Int) -> Double? {
        isOfType(.real, column) ? source.real(at: column) : nil
    }

    /// Nil where the column is null.
    package func optionalText(_ column: Int) -> String? {
        guard isOfType(.text, column) else { return nil }
        return source.text(at: column) ?? rejected(column, nil)
    }

    /// Nil where the column is null.
    package func optionalBlob(_ column: Int) -> [UInt8]? {
        isOfType(.blob, column) ? source.blob(at: column) : nil
    }

    /// Whatever the column holds.
    package func value(_ column: Int) -> SQLValue {
        switch source.type(at: column) {
        case .null: .null
        case .integer: .integer(source.integer(at: column))
        case .real: .real(source.real(at: column))
        case .text: .text(text(column))
        case .blob: .blob(source.blob(at: column))
        case .other, nil: rejected(column, .null)
        }
    }

    private func isOfType(_ type: ColumnType, _ column: Int) -> Bool {
        let actual = source.type(at: column)
        if actual == type { return true }
        return actual == .null ? false : rejected(column, false)
    }

    private func rejected<Value>(_ column: Int, _ substitute: Value) -> Value {
        source.reject(column)
        return substitute
    }
}

/// What a column of the current row holds.
enum ColumnType {
    case null, integer, real, text, blob
    /// Of a kind that the program never reads.
    case other
}

/// An engine's current row.
protocol ColumnSource: AnyObject {
    /// Nil for a column that the answer does not have.
    func type(at column: Int) -> ColumnType?
    func integer(at column: Int) -> Int64
    func real(at column: Int) -> Double
    /// Nil where the bytes are not UTF-8.
    func text(at column: Int) -> String?
    func blob(at column: Int) -> [UInt8]
    /// Remembers that the reader could not use a column; the query then fails.
    func reject(_ column: Int)
}
