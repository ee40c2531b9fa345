// SPDX-License-Identifier: Apache-2.0

/// A statement as PostgreSQL reads it.
///
/// The program's statements are written once, for both engines. `?` becomes `$1`, `$2` and so on, and the few words
/// that SQLite spells differently are replaced. Text in quotes and comments stays as it is.
struct PostgreSQLText {
    /// Ends with a zero, as C wants it.
    private(set) var bytes: [UInt8] = []
    private(set) var parameterCount = 0
    /// Whether it makes or changes tables, which may take long and is done but once.
    private(set) var changesSchema = false

    /// For placeholders, which are counted from 0, stand `$1`, `$2` and so on, unless one says otherwise.
    init(_ text: SQLText, placeholder: (Int) -> String = { "$\($0 + 1)" }) {
        var scanner = unsafe Scanner(text: Array(text.bytes))
        while let token = scanner.next() { append(token, &scanner, placeholder: placeholder) }
        bytes.append(0)
    }

    /// What is in PostgreSQL's words already.
    init(_ text: String) {
        bytes = Array(text.utf8) + [0]
    }

    private mutating func append(_ token: Scanner.Token, _ scanner: inout Scanner, placeholder: (Int) -> String) {
        switch token {
        case .placeholder:
            bytes += Array(placeholder(parameterCount).utf8)
            parameterCount += 1
        case .word(let word): append(word: word, &scanner)
        case .other(let text): bytes += text
        }
    }

    private mutating func append(word: ArraySlice<UInt8>, _ scanner: inout Scanner) {
        let isFirst = bytes.allSatisfy { Scanner.isSpace($0) }
        if isFirst { changesSchema = ["CREATE", "ALTER", "DROP"].contains { word.elementsEqual($0.utf8) } }
        if word.elementsEqual("x".utf8), let literal = scanner.quoted() {
            // A literal of bytes: in SQLite x'00ff'.
            bytes += Array("'\\x".utf8) + literal + Array("'::bytea".utf8)
        } else if word.elementsEqual("randomblob".utf8), scanner.skip("(16)") {
            bytes += Array("uuid_send(gen_random_uuid())".utf8)
        } else if changesSchema {
            appendSchema(word, &scanner)
        } else {
            bytes += word
        }
    }

    private mutating func appendSchema(_ word: ArraySlice<UInt8>, _ scanner: inout Scanner) {
        if word.elementsEqual("BLOB".utf8) {
            bytes += Array("BYTEA".utf8)
        } else if word.elementsEqual("INTEGER".utf8) {
            // SQLite's has 64 bits too, and as a key it is where the row is, without an index beside the table.
            bytes += Array("BIGINT".utf8)
        } else if word.elementsEqual("TEXT".utf8) {
            // By bytes, as SQLite does, whatever language the database sorts by; so no update of the system's own
            // tables of languages can put an index out of order.
            bytes += Array("TEXT COLLATE \"C\"".utf8)
        } else if word.elementsEqual("WITHOUT".utf8), scanner.skip(" ROWID") {
            return
        } else {
            bytes += word
        }
    }
}

/// Takes a statement apart, as far as is needed to leave quotes and comments alone.
private struct Scanner {
    enum Token {
        case placeholder
        case word(ArraySlice<UInt8>)
        case other(ArraySlice<UInt8>)
    }

    let text: [UInt8]
    private var position = 0

    init(text: [UInt8]) { self.text = text }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x09 }

    mutating func next() -> Token? {
        guard position < text.count else { return nil }
        let start = position
        switch text[start] {
        case UInt8(ascii: "?"):
            position += 1
            return .placeholder
        case let quote where quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\""):
            skipQuoted(quote)
            return .other(text[start..<position])
        case UInt8(ascii: "-") where text[start...].starts(with: "--".utf8):
            position = text[start...].firstIndex(of: 0x0A) ?? text.count
            return .other(text[start..<position])
        case let byte where Self.isWord(byte):
            position = text[start...].firstIndex { !Self.isWord($0) } ?? text.count
            return .word(text[start..<position])
        default:
            position += 1
            return .other(text[start..<position])
        }
    }

    /// The text between single quotes at this position; nil, without moving, if no quote begins here.
    mutating func quoted() -> ArraySlice<UInt8>? {
        guard position < text.count, text[position] == UInt8(ascii: "'") else { return nil }
        let start = position
        skipQuoted(UInt8(ascii: "'"))
        return text[start + 1..<position - 1]
    }

    /// Skips `expected` if it is at this position.
    mutating func skip(_ expected: StaticString) -> Bool {
        let isHere = expected.withUTF8Buffer { unsafe text[position...].starts(with: $0) }
        if isHere { position += expected.utf8CodeUnitCount }
        return isHere
    }

    /// A quote within is written twice, which reads as two quoted texts side by side.
    private mutating func skipQuoted(_ quote: UInt8) {
        position = text[(position + 1)...].firstIndex(of: quote).map { $0 + 1 } ?? text.count
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: byte >= 0x80
        }
    }
}
