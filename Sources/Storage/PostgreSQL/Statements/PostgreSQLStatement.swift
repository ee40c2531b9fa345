// SPDX-License-Identifier: Apache-2.0

/// How a statement is sent.
enum PostgreSQLForm: Hashable {
    /// As it is written, with one list of values.
    case alone
    /// As an insertion of a row for each of many lists.
    case rows
    /// As a question for each of many lists.
    case questions
}

/// A statement that is prepared by the server once for each form and set of kinds of its values.
final class PostgreSQLStatement {
    /// What tells statements apart.
    struct Key: Hashable {
        /// The address of the statement's text, which is constant and cheap to look up.
        let address: UInt
        let form: PostgreSQLForm
        /// The kinds of the values, three bits for each.
        let kinds: UInt64
    }

    /// Its name at the server.
    let name: String
    /// Numbers of PostgreSQL's types; 0 where the value is null, so that the place decides.
    let types: [UInt32]
    private let text: PostgreSQLText
    /// Whether the server was asked to prepare it and has not refused.
    var isPrepared = false

    init(_ text: PostgreSQLText, number: Int, types: [UInt32]) {
        self.text = text
        self.types = types
        name = "s\(number)"
    }

    func withText<Value>(_ body: (UnsafePointer<CChar>?) -> Value) -> Value {
        unsafe text.bytes.withUnsafeBytes { bytes in
            unsafe body(bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
        }
    }
}

/// The values of one use of a statement, as the server wants them: binary, the greatest byte first.
struct PostgreSQLValues: ~Copyable {
    private var bytes: [UInt8] = []
    /// Where each begins; nil for null.
    private var starts: [Int?] = []
    private var lengths: [Int32] = []

    /// As many values as the protocol has room for.
    static let most = 21

    init(_ values: [SQLValue]) {
        for value in values {
            if value == .null { appendNull() } else { appendValue { $0.append(bytesOf: value) } }
        }
    }

    private mutating func appendNull() {
        starts.append(nil)
        lengths.append(0)
    }

    /// Adds one value; the closure adds its bytes.
    mutating func appendValue(_ body: (inout PostgreSQLValues) -> Void) {
        let start = bytes.count
        body(&self)
        starts.append(start)
        lengths.append(Int32(clamping: bytes.count - start))
    }

    /// Adds to the current value.
    mutating func append(bytesOf value: SQLValue) {
        switch value {
        case .null: break
        case .integer(let integer): append(UInt64(bitPattern: integer))
        case .real(let real): append(real.bitPattern)
        case .text(let text): bytes += text.utf8
        case .blob(let blob): bytes += blob
        }
    }

    /// Adds to the current value.
    mutating func append<Word: FixedWidthInteger & UnsignedInteger>(_ word: Word) {
        for shift in stride(from: Word.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: word >> shift))
        }
    }

    /// Calls `body` with the count, and with the address, length and format (binary) of each value.
    borrowing func withPointers<Value>(
        _ body: (Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Value
    ) -> Value {
        let formats = [Int32](repeating: 1, count: starts.count)
        // One byte more, so that an empty text or blob at the end has an address as well; null would be NULL.
        return unsafe (bytes + [0]).withUnsafeBytes { buffer in
            let addresses = unsafe starts.map { start in
                unsafe start.flatMap { unsafe buffer.baseAddress?.advanced(by: $0).assumingMemoryBound(to: CChar.self) }
            }
            return unsafe body(Int32(starts.count), addresses, lengths, formats)
        }
    }
}

extension SQLValue {
    /// The type that a value has at the server; nil for null, which has none.
    var postgreSQLType: PostgreSQLType? {
        switch self {
        case .null: nil
        case .integer: .int8
        case .real: .float8
        case .text: .text
        case .blob: .bytea
        }
    }

    /// A number from 0 to 4 for the kind.
    var kind: UInt64 {
        switch self {
        case .null: 0
        case .integer: 1
        case .real: 2
        case .text: 3
        case .blob: 4
        }
    }
}
