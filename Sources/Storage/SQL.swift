// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A value that goes into a statement or comes out of a row.
package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    /// Unicode text; it may be empty and may hold U+0000.
    case text(String)
    case blob([UInt8])

    /// How many bytes an engine is given for it.
    var byteCount: Int {
        switch self {
        case .null: 0
        case .integer, .real: 8
        case .text(let text): text.utf8.count
        case .blob(let blob): blob.count
        }
    }
}

/// A statement and the values for its placeholders.
///
/// The text is written in the program, so no data can become SQL; only ``Insertion``, ``KeyTables`` and ``TableCopy`` put texts together.
/// Values are `?` in it, in their order, on every engine.
package struct SQL: Sendable {
    let text: SQLText
    let values: [SQLValue]

    /// One statement, with as many values as it has placeholders.
    package init(_ text: StaticString, _ values: [SQLValue]) {
        self.init(SQLText(text), values)
    }

    /// One statement, with as many values as it has placeholders.
    package init(_ text: StaticString, _ values: SQLValue...) {
        self.init(text, values)
    }

    init(_ text: SQLText, _ values: [SQLValue] = []) {
        self.text = text
        self.values = values
    }
}

extension SQL {
    /// Where its text is; that is constant, and cheap to look up.
    var address: UInt { text.address }
}

/// The text of a statement, which stays where it is until the program ends: connections know it by its address.
@safe
struct SQLText: @unchecked Sendable, CustomStringConvertible {
    let bytes: UnsafeBufferPointer<UInt8>
    private static let kept = Mutex<[String: SQLText]>([:])

    /// Empty for a single character, which has no place.
    init(_ text: StaticString) {
        unsafe bytes =
            text.hasPointerRepresentation
            ? UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount) : .init(start: nil, count: 0)
    }

    private init(copying text: String) {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.utf8.count)
        _ = unsafe copy.initialize(from: text.utf8)
        unsafe bytes = UnsafeBufferPointer(copy)
    }

    /// The same place for the same text, which is kept until the program ends.
    static func keeping(_ text: String) -> SQLText {
        kept.withLock { kept in
            if let known = kept[text] { return known }
            let new = SQLText(copying: text)
            kept[text] = new
            return new
        }
    }

    var address: UInt { UInt(bitPattern: unsafe bytes.baseAddress) }

    var description: String { unsafe String(decoding: bytes, as: UTF8.self) }
}
