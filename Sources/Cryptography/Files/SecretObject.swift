// SPDX-License-Identifier: Apache-2.0

/// A JSON object out of a secret file, read in place: only what is asked for is taken out, a secret into secure memory.
///
/// Narrower than RFC 8259: the members' values are strings, numbers, `true`, `false` or `null`, no arrays and no
/// objects; names are ASCII without escapes and differ; strings that are asked for are ASCII once unescaped. Google's key
/// file of a service account is such an object.
package struct SecretObject: Sendable {
    private struct Member {
        let name: Range<Int>
        /// Between the quotes.
        let value: Range<Int>
        let isString: Bool
    }

    private let text: SecureBytes
    private let members: [Member]

    /// Finds the members; nothing is copied.
    package init(_ text: SecureBytes) throws(SecretObjectError) {
        self.text = text
        members = try text.withSpan { text throws(SecretObjectError) in
            var scanner = Scanner(count: text.count)
            return try scanner.members(of: text)
        }
    }

    /// The string of that name, which must be no secret: it is copied to ordinary memory.
    ///
    /// - Returns: `nil` if there is no such member.
    package func text(_ name: StaticString) throws(SecretObjectError) -> String? {
        guard let member = try string(name) else { return nil }
        return try text.withSpan { text throws(SecretObjectError) in
            var bytes: [UInt8] = []
            try Self.unescape(text, in: member.value) { bytes.append($0) }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// The string of that name, which is a secret: its bytes are in secure memory only.
    ///
    /// - Returns: `nil` if there is no such member.
    package func secret(_ name: StaticString) throws(SecretObjectError) -> SecureBytes? {
        guard let member = try string(name) else { return nil }
        return try text.withSpan { text throws(SecretObjectError) in
            var count = 0
            try Self.unescape(text, in: member.value) { _ in count += 1 }
            let secret: SecureBytes
            do throws(SecureMemoryError) { secret = try SecureBytes(count: count) } catch { throw .secureMemory(error) }
            unsafe try secret.withMutableBytes { target throws(SecretObjectError) in
                var written = 0
                try Self.unescape(text, in: member.value) { byte in
                    unsafe target[written] = byte
                    written += 1
                }
            }
            return secret
        }
    }

    private func string(_ name: StaticString) throws(SecretObjectError) -> Member? {
        let found = text.withSpan { text in
            members.first { text.says(name, in: $0.name) }
        }
        guard let found else { return nil }
        guard found.isString else { throw .notString(name: "\(name)") }
        return found
    }

    /// Gives each byte of a string to `take`; in between, a byte is held in a register at most.
    private static func unescape(
        _ text: borrowing Span<UInt8>,
        in value: Range<Int>,
        _ take: (UInt8) -> Void
    ) throws(SecretObjectError) {
        var index = value.lowerBound
        while index < value.upperBound {
            var byte = text[index]
            index += 1
            if byte == UInt8(ascii: "\\") {
                byte = try escaped(text, &index)
            }
            guard byte < 0x80 else { throw .notASCII }
            take(byte)
        }
    }

    /// The byte that an escape means; the scanner has checked that the escape is complete.
    private static func escaped(
        _ text: borrowing Span<UInt8>,
        _ index: inout Int
    ) throws(SecretObjectError) -> UInt8 {
        let letter = text[index]
        index += 1
        switch letter {
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "u"): break
        default: return letter
        }
        var value = 0
        for _ in 0..<4 {
            value = value << 4 | Int(Scanner.hexadecimalValue(text[index]) ?? 0)
            index += 1
        }
        guard value < 0x80 else { throw .notASCII }
        return UInt8(value)
    }

    /// Walks over the text once.
    private struct Scanner {
        let count: Int
        var index = 0

        init(count: Int) { self.count = count }

        mutating func members(of text: borrowing Span<UInt8>) throws(SecretObjectError) -> [Member] {
            var members: [Member] = []
            try skip(UInt8(ascii: "{"), text)
            guard peek(text) != UInt8(ascii: "}") else { throw .empty }
            repeat {
                let member = try member(text)
                guard !members.contains(where: { text.areEqual($0.name, member.name) }) else { throw .repeatedName }
                members.append(member)
                guard members.count <= 64 else { throw .malformed(offset: index) }
            } while advance(over: UInt8(ascii: ","), text)
            try skip(UInt8(ascii: "}"), text)
            guard peek(text) == nil else { throw .malformed(offset: index) }
            return members
        }

        private mutating func member(_ text: borrowing Span<UInt8>) throws(SecretObjectError) -> Member {
            let name = try string(text)
            for index in name where text[index] == UInt8(ascii: "\\") || text[index] >= 0x80 {
                throw .malformed(offset: index)
            }
            try skip(UInt8(ascii: ":"), text)
            guard peek(text) == UInt8(ascii: "\"") else {
                return Member(name: name, value: try scalar(text), isString: false)
            }
            return Member(name: name, value: try string(text), isString: true)
        }

        /// A string's contents, as written; the index is after it.
        private mutating func string(_ text: borrowing Span<UInt8>) throws(SecretObjectError) -> Range<Int> {
            try skip(UInt8(ascii: "\""), text)
            let start = index
            while index < count, text[index] != UInt8(ascii: "\"") {
                guard text[index] >= 0x20 else { throw .malformed(offset: index) }
                if text[index] == UInt8(ascii: "\\") { try escape(text) } else { index += 1 }
            }
            guard index < count else { throw .malformed(offset: index) }
            defer { index += 1 }
            return start..<index
        }

        private mutating func escape(_ text: borrowing Span<UInt8>) throws(SecretObjectError) {
            let start = index
            guard start + 1 < count else { throw .malformed(offset: start) }
            switch text[start + 1] {
            case UInt8(ascii: "u"):
                guard start + 5 < count else { throw .malformed(offset: start) }
                for offset in 2...5 where Self.hexadecimalValue(text[start + offset]) == nil {
                    throw .malformed(offset: start)
                }
                index += 6
            case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"), UInt8(ascii: "b"), UInt8(ascii: "f"),
                UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
                index += 2
            default: throw .malformed(offset: start)
            }
        }

        /// A number or a word; its value does not matter, because no caller asks for it.
        private mutating func scalar(_ text: borrowing Span<UInt8>) throws(SecretObjectError) -> Range<Int> {
            let start = index
            while index < count {
                switch text[index] {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "E"),
                    UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    index += 1
                    continue
                default: break
                }
                break
            }
            guard index > start else { throw .malformed(offset: index) }
            return start..<index
        }

        /// The next byte that is not white space; `nil` at the end.
        private mutating func peek(_ text: borrowing Span<UInt8>) -> UInt8? {
            while index < count {
                switch text[index] {
                case 0x20, 0x09, 0x0A, 0x0D: index += 1
                default: return text[index]
                }
            }
            return nil
        }

        private mutating func advance(over byte: UInt8, _ text: borrowing Span<UInt8>) -> Bool {
            guard peek(text) == byte else { return false }
            index += 1
            return true
        }

        private mutating func skip(_ byte: UInt8, _ text: borrowing Span<UInt8>) throws(SecretObjectError) {
            guard advance(over: byte, text) else { throw .malformed(offset: index) }
        }

        static func hexadecimalValue(_ digit: UInt8) -> UInt8? {
            Hexadecimal.value((0x41...0x46).contains(digit) ? digit | 0x20 : digit)
        }
    }
}

/// Why a secret file is not taken as a JSON object; nothing of its contents is repeated.
package enum SecretObjectError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Not JSON, or not flat; the fault is `offset` bytes into the file.
    case malformed(offset: Int)
    case empty
    case repeatedName
    case notString(name: String)
    case notASCII
    case secureMemory(SecureMemoryError)

    /// Where the fault is; it shows nothing of the contents but members' names.
    package var description: String {
        switch self {
        case .malformed(let offset): "The file is not one JSON object of plain members; the fault is at byte \(offset)."
        case .empty: "The file holds an empty JSON object."
        case .repeatedName: "The file's JSON object has two members of one name."
        case .notString(let name): "The member \(name) is not a string."
        case .notASCII: "A required string holds something other than ASCII."
        case .secureMemory(let error): error.description
        }
    }
}

extension Span<UInt8> {
    /// Whether the words stand there.
    fileprivate func says(_ words: StaticString, in range: Range<Int>) -> Bool {
        guard range.count == words.utf8CodeUnitCount else { return false }
        for index in 0..<range.count {
            guard unsafe self[range.lowerBound + index] == words.utf8Start[index] else { return false }
        }
        return true
    }

    fileprivate func areEqual(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
        guard one.count == other.count else { return false }
        for index in 0..<one.count where self[one.lowerBound + index] != self[other.lowerBound + index] { return false }
        return true
    }
}
