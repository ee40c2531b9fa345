// SPDX-License-Identifier: Apache-2.0

/// A value that goes into a statement or comes out of a row.
package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    /// Unicode text; it may be empty and may hold U+0000.
    case text(String)
    case blob([UInt8])
}

/// A statement and the values for its placeholders.
///
/// The text is written in the program, never put together while it runs, so no data can become SQL. Values stand as
/// `?`, in their order, in every engine.
package struct SQL: Sendable {
    let text: StaticString
    let values: [SQLValue]

    /// One statement, with as many values as it has placeholders.
    package init(_ text: StaticString, _ values: [SQLValue]) {
        self.text = text
        self.values = values
    }

    /// One statement, with as many values as it has placeholders.
    package init(_ text: StaticString, _ values: SQLValue...) {
        self.init(text, values)
    }
}

extension SQL {
    /// Where its text is; that is constant, and cheap to look up.
    var address: UInt { text.address }
}

extension StaticString {
    /// Where its bytes are; 0 of a single character, which has no place.
    var address: UInt { hasPointerRepresentation ? UInt(bitPattern: unsafe utf8Start) : 0 }
}
