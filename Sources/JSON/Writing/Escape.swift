// SPDX-License-Identifier: Apache-2.0

/// One escape sequence of a string, as `\n`, `\u00e9` or a whole surrogate pair.
struct Escape {
    /// The character meant; nil for a line break that the sequence takes away.
    let scalar: Unicode.Scalar?
    /// The byte after the sequence.
    let end: Int

    /// Reads the sequence that starts with the backslash at `start`.
    ///
    /// - Throws: What is wrong with it.
    init(_ bytes: ArraySlice<UInt8>, at start: Int, dialect: JSONDialect) throws(JSONError.Kind) {
        guard start + 1 < bytes.endIndex else { throw .unexpectedEnd }
        let letter = bytes[start + 1]
        if letter == UInt8(ascii: "u") {
            (scalar, end) = try Self.codePoint(bytes, at: start)
        } else if let character = Self.character(letter) {
            (scalar, end) = (character, start + 2)
        } else if dialect == .configuration {
            (scalar, end) = try Self.extended(bytes, at: start)
        } else {
            throw .invalidEscape
        }
    }

    /// The sequences of RFC 8259 section 7 that are one letter.
    private static func character(_ letter: UInt8) -> Unicode.Scalar? {
        switch letter {
        case .doubleQuote, .backslash, .slash: Unicode.Scalar(letter)
        case UInt8(ascii: "b"): "\u{08}"
        case UInt8(ascii: "f"): "\u{0C}"
        case UInt8(ascii: "n"): "\n"
        case UInt8(ascii: "r"): "\r"
        case UInt8(ascii: "t"): "\t"
        default: nil
        }
    }

    /// `\uXXXX`, and the second half too where it is the first of a pair.
    private static func codePoint(
        _ bytes: ArraySlice<UInt8>,
        at start: Int
    ) throws(JSONError.Kind) -> (Unicode.Scalar?, Int) {
        let unit = try hexadecimal(bytes, from: start + 2, count: 4)
        if let scalar = Unicode.Scalar(unit) { return (scalar, start + 6) }
        guard unit < 0xDC00 else { throw .loneSurrogate }
        for (index, byte) in [(start + 6, UInt8.backslash), (start + 7, UInt8(ascii: "u"))] {
            guard index < bytes.endIndex else { throw .unexpectedEnd }
            guard bytes[index] == byte else { throw .loneSurrogate }
        }
        let low = try hexadecimal(bytes, from: start + 8, count: 4)
        guard 0xDC00..<0xE000 ~= low else { throw .loneSurrogate }
        return (Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)), start + 12)
    }

    /// What JSON5 adds: `\xXX`, `\v`, `\0`, line continuation, and any other character for itself.
    private static func extended(
        _ bytes: ArraySlice<UInt8>,
        at start: Int
    ) throws(JSONError.Kind) -> (Unicode.Scalar?, Int) {
        let letter = bytes[start + 1]
        switch letter {
        case UInt8(ascii: "x"):
            return (Unicode.Scalar(try hexadecimal(bytes, from: start + 2, count: 2)), start + 4)
        case UInt8(ascii: "v"):
            return ("\u{0B}", start + 2)
        case .zero:
            guard start + 2 >= bytes.endIndex || !bytes[start + 2].isDigit else { throw .invalidEscape }
            return ("\0", start + 2)
        case UInt8(ascii: "1")...UInt8(ascii: "9"):
            throw .invalidEscape
        case .carriageReturn where start + 2 < bytes.endIndex && bytes[start + 2] == .lineFeed:
            return (nil, start + 3)
        case .carriageReturn, .lineFeed:
            return (nil, start + 2)
        case 0x20..<0x7F:
            return (Unicode.Scalar(letter), start + 2)
        case 0x80...:
            guard let sequence = UTF8Sequence(bytes, at: start + 1) else { throw .invalidUTF8 }
            let isLineBreak = ["\u{2028}", "\u{2029}"].contains(sequence.scalar)
            return (isLineBreak ? nil : sequence.scalar, sequence.end)
        default:
            throw .controlCharacter
        }
    }

    private static func hexadecimal(
        _ bytes: ArraySlice<UInt8>,
        from start: Int,
        count: Int
    ) throws(JSONError.Kind) -> UInt32 {
        var value: UInt32 = 0
        for index in start..<start + count {
            guard index < bytes.endIndex else { throw .unexpectedEnd }
            guard let digit = bytes[index].hexadecimalValue else { throw .invalidEscape }
            value = value << 4 | digit
        }
        return value
    }
}

extension JSONError.Kind: Error {}

/// The content of a string that was read without a fault, with its escape sequences replaced.
func unescaped(_ written: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(written.count)
    var index = written.startIndex
    while index < written.endIndex {
        // Sequences of the strict dialect mean the same in the other; a faulty one was refused when the text was read.
        if written[index] == .backslash, let escape = try? Escape(written, at: index, dialect: .configuration) {
            if let scalar = escape.scalar { result.append(contentsOf: UTF8.encode(scalar) ?? .init()) }
            index = escape.end
        } else {
            result.append(written[index])
            index += 1
        }
    }
    return result
}
