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

    package mutating func beginObject() { open(.openBrace) }

    package mutating func endObject() { close(.closeBrace) }

    package mutating func beginArray() { open(.openBracket) }

    package mutating func endArray() { close(.closeBracket) }

    package mutating func name(_ name: String) {
        string(name)
        bytes.append(.colon)
        needsComma = false
    }

    /// Writes a name that is known when the program is built and needs no escape.
    package mutating func name(_ name: StaticString) {
        if needsComma { bytes.append(.comma) }
        bytes.append(.doubleQuote)
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(.doubleQuote)
        bytes.append(.colon)
        needsComma = false
    }

    /// Writes a string whose text `append` adds to the bytes; it must be ASCII that needs no escape.
    package mutating func string(appending append: (inout [UInt8]) -> Void) {
        beginValue()
        bytes.append(.doubleQuote)
        append(&bytes)
        bytes.append(.doubleQuote)
    }

    package mutating func string(_ text: String) {
        beginValue()
        bytes.append(.doubleQuote)
        // Most text has nothing to escape; then it is copied whole.
        if text.utf8.span.isPlain {
            bytes.append(contentsOf: text.utf8)
        } else {
            for byte in text.utf8 { appendEscaped(byte) }
        }
        bytes.append(.doubleQuote)
    }

    /// Writes a string given as UTF-8; what is not UTF-8 in it becomes U+FFFD.
    package mutating func string(utf8 text: [UInt8]) {
        guard text.span.isPlain, text.allSatisfy({ $0 < 0x80 }) else {
            return string(String(decoding: text, as: UTF8.self))
        }
        beginValue()
        bytes.append(.doubleQuote)
        bytes.append(contentsOf: text)
        bytes.append(.doubleQuote)
    }

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

    /// Puts a value that is JSON already; it is not looked at.
    package mutating func value(json text: [UInt8]) {
        beginValue()
        bytes.append(contentsOf: text)
    }

    package mutating func boolean(_ value: Bool) { word(value ? "true" : "false") }

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

    private mutating func appendEscaped(_ byte: UInt8) {
        if byte >= .space, byte != .doubleQuote, byte != .backslash {
            bytes.append(byte)
        } else {
            appendEscape(byte)
        }
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
        let magnitude = value.magnitude
        var unit: UInt64 = 1
        while magnitude / unit >= 10 { unit *= 10 }
        while unit > 0 {
            bytes.append(.zero + UInt8(truncatingIfNeeded: magnitude / unit % 10))
            unit /= 10
        }
    }
}

extension Span<UInt8> {
    /// Whether no byte needs an escape.
    fileprivate var isPlain: Bool {
        var found = false
        // Without a way out of the loop, so that it is done for many bytes at once.
        for index in indices {
            let byte = self[index]
            found = found || byte < .space || byte == .doubleQuote || byte == .backslash
        }
        return !found
    }
}
