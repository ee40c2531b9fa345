// SPDX-License-Identifier: Apache-2.0

/// Writes one JSON text, without white space, into bytes of its own.
///
/// Commas and colons are put by the writer; names and values are the caller's to give in a sensible order. Strings
/// and numbers are written as RFC 8785 (JCS) has it, so that an object whose names are given in order is canonical.
/// What is written is always UTF-8.
package struct JSONWriter: Sendable {
    /// What has been written so far.
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// Starts an empty text, with so many bytes set aside for it.
    package init(reserving capacity: Int = 512) {
        bytes.reserveCapacity(capacity)
    }

    /// Starts an object, which ``endObject()`` must end.
    package mutating func beginObject() { open(.openBrace) }

    /// Ends the innermost object.
    package mutating func endObject() { close(.closeBrace) }

    /// Starts an array, which ``endArray()`` must end.
    package mutating func beginArray() { open(.openBracket) }

    /// Ends the innermost array.
    package mutating func endArray() { close(.closeBracket) }

    /// Writes a member's name; its value must follow.
    package mutating func name(_ name: String) {
        string(name)
        bytes.append(.colon)
        needsComma = false
    }

    /// Writes a name that is known when the program is built.
    package mutating func name(_ name: StaticString) { self.name(name.description) }

    /// Writes a string.
    package mutating func string(_ text: String) {
        beginValue()
        bytes.append(.doubleQuote)
        appendEscaped(text.utf8.span)
        bytes.append(.doubleQuote)
    }

    /// Writes a string given as UTF-8; what is not UTF-8 in it becomes U+FFFD.
    package mutating func string(utf8 text: [UInt8]) {
        guard text.allSatisfy({ $0 < 0x80 }) else { return string(String(decoding: text, as: UTF8.self)) }
        beginValue()
        bytes.append(.doubleQuote)
        appendEscaped(text.span)
        bytes.append(.doubleQuote)
    }

    /// Writes a string given as ASCII; other bytes are taken as UTF-8.
    package mutating func string(ascii text: [UInt8]) { string(utf8: text) }

    /// Writes an integer in full, which beyond 2⁵³ not every reader keeps.
    package mutating func integer(_ value: Int64) {
        beginValue()
        appendDecimal(value)
    }

    /// Writes a number in the shortest form that reads back the same; one that is not finite becomes `null`, as in
    /// ECMAScript.
    package mutating func number(_ value: Double) {
        guard value.isFinite else { return null() }
        beginValue()
        appendShortest(value, to: &bytes)
    }

    /// Writes `true` or `false`.
    package mutating func boolean(_ value: Bool) { word(value ? "true" : "false") }

    /// Writes `null`.
    package mutating func null() { word("null") }
}

extension JSONWriter {
    private mutating func beginValue() {
        if needsComma { bytes.append(.comma) }
        needsComma = true
    }

    private mutating func open(_ bracket: UInt8) {
        beginValue()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func word(_ word: String) {
        beginValue()
        bytes.append(contentsOf: word.utf8)
    }

    private mutating func appendEscaped(_ text: Span<UInt8>) {
        // Most text has nothing to escape; then all of it is appended at once.
        var index = 0
        bytes.append(addingCapacity: text.count) { output in
            while index < text.count, Self.isPlain(text[index]) {
                output.append(text[index])
                index += 1
            }
        }
        while index < text.count {
            if Self.isPlain(text[index]) { bytes.append(text[index]) } else { appendEscape(text[index]) }
            index += 1
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= .space && byte != .doubleQuote && byte != .backslash
    }

    /// The escapes of RFC 8785 section 3.2.2.2.
    private mutating func appendEscape(_ byte: UInt8) {
        bytes.append(.backslash)
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case .doubleQuote, .backslash: bytes.append(byte)
        default:
            let digits = Array("0123456789abcdef".utf8)
            bytes.append(contentsOf: [UInt8(ascii: "u"), .zero, .zero, digits[Int(byte >> 4)], digits[Int(byte & 15)]])
        }
    }

    private mutating func appendDecimal(_ value: Int64) {
        if value < 0 { bytes.append(.minus) }
        var rest = value.magnitude
        let start = bytes.count
        repeat {
            bytes.append(.zero + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        bytes[start...].reverse()
    }
}
