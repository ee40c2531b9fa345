// SPDX-License-Identifier: Apache-2.0

/// Writes one JSON text, without white space, into bytes of its own.
///
/// The writer puts commas and colons; the caller gives names and values in a sensible order. Strings and numbers are
/// written as RFC 8785 (JCS) requires, so an object whose names are given in order is canonical.
/// The output is always UTF-8.
package struct JSONWriter: Sendable {
    /// What has been written so far.
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// Starts an empty text, and reserves `capacity` bytes for it.
    package init(reserving capacity: Int = 512) {
        bytes.reserveCapacity(capacity)
    }

    /// Starts an object, which ``endObject()`` must end.
    package mutating func beginObject() { open(.openBrace) }

    /// Ends the innermost object.
    package mutating func endObject() { close(.closeBrace) }

    /// Ends the line of a text that is one of many.
    package mutating func endLine() { bytes.append(0x0A) }

    /// Starts an array, which ``endArray()`` must end.
    package mutating func beginArray() { open(.openBracket) }

    /// Ends the innermost array.
    package mutating func endArray() { close(.closeBracket) }

    /// Writes a member's name; its value must follow.
    ///
    /// Named apart from ``name(_:)``, or every literal would be taken for a `String`.
    package mutating func name(text name: String) {
        string(name)
        bytes.append(.colon)
        needsComma = false
    }

    /// Writes a name that is known when the program is built and needs no escape.
    package mutating func name(_ name: StaticString) {
        // One look at the capacity for all of it.
        bytes.append(addingCapacity: name.utf8CodeUnitCount + 4) { target in
            if needsComma { target.append(.comma) }
            target.append(name: name)
        }
        needsComma = false
    }

    /// Writes a member as ``name(_:)`` and ``string(plain:)-(String)`` do.
    package mutating func member(_ name: StaticString, plain text: String) {
        member(name, plain: text.utf8.span)
    }

    /// The same of a string given as its bytes, which are ASCII that needs no escape.
    package mutating func member(_ name: StaticString, plain text: Span<UInt8>) {
        add(name, upTo: text.count + 2) { $0.append(quoted: text) }
    }

    /// Writes a member whose string `append` adds: at most `count` bytes, all ASCII that needs no escape.
    package mutating func member(
        _ name: StaticString,
        upTo count: Int,
        _ append: (inout OutputSpan<UInt8>) -> Void
    ) {
        add(name, upTo: count + 2) { target in
            target.append(.doubleQuote)
            append(&target)
            target.append(.doubleQuote)
        }
    }

    /// Writes a member as ``name(_:)`` and ``integer(_:)`` do.
    package mutating func member(_ name: StaticString, integer value: Int64) {
        add(name, upTo: Self.mostDigits + 1) { $0.append(decimal: value) }
    }

    /// Adds a member of a value that has at most `count` bytes, with one look at the capacity for all of it.
    @inline(__always)
    private mutating func add(
        _ name: StaticString,
        upTo count: Int,
        _ value: (inout OutputSpan<UInt8>) -> Void
    ) {
        bytes.append(addingCapacity: name.utf8CodeUnitCount + count + 4) { target in
            if needsComma { target.append(.comma) }
            target.append(name: name)
            value(&target)
        }
        needsComma = true
    }

    /// Writes a string that is known to need no escape: a name out of a list, or an identifier.
    package mutating func string(plain text: String) {
        string(plain: text.utf8.span)
    }

    /// The same of a string given as its bytes, which are ASCII that needs no escape.
    package mutating func string(plain text: Span<UInt8>) {
        bytes.append(addingCapacity: text.count + 3) { target in
            if needsComma { target.append(.comma) }
            target.append(quoted: text)
        }
        needsComma = true
    }

    /// Writes a string of at most `count` bytes, which `append` adds; they must be ASCII that needs no escape.
    package mutating func string(upTo count: Int, _ append: (inout OutputSpan<UInt8>) -> Void) {
        value(upTo: count + 2) { target in
            target.append(.doubleQuote)
            append(&target)
            target.append(.doubleQuote)
        }
    }

    /// Writes a string.
    package mutating func string(_ text: String) {
        // Most text has nothing to escape; then it is copied whole.
        guard !text.utf8.span.isPlain else { return string(plain: text) }
        beginValue()
        bytes.append(.doubleQuote)
        for byte in text.utf8 { appendEscaped(byte) }
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

    /// Writes an integer in full, which beyond 2⁵³ not every reader keeps.
    package mutating func integer(_ value: Int64) {
        bytes.append(addingCapacity: Self.mostDigits + 2) { target in
            if needsComma { target.append(.comma) }
            target.append(decimal: value)
        }
        needsComma = true
    }

    /// Of a number of 64 bits.
    private static let mostDigits = 20

    /// Writes a number in the shortest form that reads back the same; a number that is not finite becomes `null`, as in
    /// ECMAScript.
    package mutating func number(_ value: Double) {
        guard value.isFinite else { return null() }
        beginValue()
        appendShortest(value, to: &bytes)
    }

    /// Puts a value of at most `count` bytes, which `append` adds; they are not looked at.
    private mutating func value(upTo count: Int, _ append: (inout OutputSpan<UInt8>) -> Void) {
        bytes.append(addingCapacity: count + 1) { target in
            if needsComma { target.append(.comma) }
            append(&target)
        }
        needsComma = true
    }

    /// Puts a value that is JSON already; it is not looked at.
    package mutating func value(json text: [UInt8]) {
        // As a span, which needs no reference counting: other threads may use the text too.
        let text = text.span
        bytes.append(addingCapacity: text.count + 1) { target in
            if needsComma { target.append(.comma) }
            target.append(plain: text)
        }
        needsComma = true
    }

    /// Puts a value that is JSON already, and has a number in its midst.
    package mutating func value(json beginning: [UInt8], _ number: Int64, _ end: [UInt8]) {
        let (beginning, end) = (beginning.span, end.span)
        value(upTo: beginning.count + Self.mostDigits + end.count) { target in
            target.append(plain: beginning)
            target.append(decimal: number)
            target.append(plain: end)
        }
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
}

extension OutputSpan<UInt8> {
    /// Appends a number in decimal.
    fileprivate mutating func append(decimal value: Int64) {
        if value < 0 { append(.minus) }
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var first = digits.count
        var rest = value.magnitude
        repeat {
            first -= 1
            digits[first] = .zero + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        for place in first..<digits.count { append(digits[place]) }
    }

    /// Appends a name that needs no escape, and the colon after it.
    @inline(__always)
    fileprivate mutating func append(name: StaticString) {
        append(.doubleQuote)
        unsafe append(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        append(.doubleQuote)
        append(.colon)
    }

    /// Appends a string that needs no escape.
    @inline(__always)
    fileprivate mutating func append(quoted text: Span<UInt8>) {
        append(.doubleQuote)
        append(plain: text)
        append(.doubleQuote)
    }

    /// Appends a text as it is.
    @inline(__always)
    fileprivate mutating func append(plain text: Span<UInt8>) {
        unsafe text.withUnsafeBufferPointer { unsafe append($0) }
    }

    /// Appends all of `text`, which must fit.
    @inline(__always)
    fileprivate mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
        precondition(text.count <= freeCapacity, "no room for a text")
        unsafe withUnsafeMutableBufferPointer { buffer, count in
            guard let target = buffer.baseAddress, let source = text.baseAddress else { return }
            unsafe (target + count).update(from: source, count: text.count)
            count += text.count
        }
    }
}

extension Span<UInt8> {
    /// Whether no byte needs an escape.
    fileprivate var isPlain: Bool {
        for index in endOfPlainWords(from: 0)..<count {
            let byte = self[index]
            if byte < .space || byte == .doubleQuote || byte == .backslash { return false }
        }
        return true
    }

    /// Walks the bytes from `start`, eight at a time, while all are ASCII and none needs an escape.
    ///
    /// - Returns: The first byte that is different, or else the first of the fewer than eight bytes at the end.
    @inline(__always)
    package func endOfPlainWords(from start: Int) -> Int {
        let rest = extracting(start..<count)
        let end = rest.count & ~7
        var index = 0
        while index < end {
            let loaded = unsafe rest.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            let word = UInt64(littleEndian: loaded)
            // With this bit turned over, the quote comes right after the control characters.
            let controlOrQuote = (word ^ 0x0202_0202_0202_0202) &- 0x2121_2121_2121_2121
            let backslash = (word ^ 0x5C5C_5C5C_5C5C_5C5C) &- 0x0101_0101_0101_0101
            // The high bit of a byte is set if it is unusual; after an unusual one, of others perhaps too, but not before.
            let unusual = (controlOrQuote | backslash | word) & 0x8080_8080_8080_8080
            if unusual != 0 { return start + index + unusual.trailingZeroBitCount / 8 }
            index += 8
        }
        return start + end
    }
}
