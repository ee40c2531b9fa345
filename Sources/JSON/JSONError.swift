// SPDX-License-Identifier: Apache-2.0

/// Why a text was refused, and where.
package struct JSONError: Error, Hashable, Sendable {
    /// The ways in which a text can be refused; these are all.
    package enum Kind: Hashable, Sendable {
        /// Nothing but white space.
        case empty
        /// The text stops in the middle of its value.
        case unexpectedEnd
        /// Something follows the value.
        case trailingText
        case expectedValue
        case expectedName
        case expectedColon
        case expectedCommaOrEnd
        /// U+FEFF at the start, which RFC 8259 section 8.1 lets a reader refuse.
        case byteOrderMark
        /// Overlong forms, surrogates, scalars beyond U+10FFFF, and cut sequences.
        case invalidUTF8
        /// A string contains a control character that must be escaped.
        case controlCharacter
        case invalidEscape
        /// Half of a surrogate pair, as `\ud83d` alone.
        case loneSurrogate
        case invalidNumber
        /// `NaN` or `Infinity`, which JSON5 allows and we do not.
        case notFinite
        /// A name that the same object already has, compared after unescaping.
        case repeatedName
        case tooManyBytes(limit: Int)
        case tooDeep(limit: Int)
        case tooManyNodes(limit: Int)
        case stringTooLong(limit: Int)
        case numberTooLong(limit: Int)
    }

    /// What is wrong.
    package let kind: Kind
    /// Bytes before the place of the fault, from 0 to the text's length.
    package let offset: Int
    /// The RFC 6901 pointer of the innermost value that was being read; empty for the whole text.
    ///
    /// It is made of names from the text, so it may hold any character; ``description`` shows it defused.
    package let pointer: String

    /// The place of the fault in the text that was refused, as a text editor counts.
    ///
    /// Both numbers start from 1; columns count Unicode scalars.
    package func position(in text: [UInt8]) -> (line: Int, column: Int) {
        textPosition(of: offset, in: text)
    }
}

extension JSONError: CustomStringConvertible {
    /// One sentence for a person, free of control and direction characters, and short.
    package var description: String {
        let place = pointer.isEmpty ? "at byte \(offset)" : "at \(printable(pointer, atMost: 120)), byte \(offset)"
        return "\(kind.sentence) (\(place))."
    }
}

extension JSONError.Kind {
    /// What is wrong, without its place and without the full stop.
    package var sentence: String {
        switch self {
        case .empty: "There is no JSON value"
        case .unexpectedEnd: "The text ends in the middle of a value"
        case .trailingText: "Nothing may follow the value"
        case .expectedValue: "A value is expected"
        case .expectedName: "A member's name is expected"
        case .expectedColon: "A colon is expected after the member's name"
        case .expectedCommaOrEnd: "A comma or the closing bracket is expected"
        case .byteOrderMark: "The text must not start with a byte order mark"
        case .invalidUTF8: "The bytes are not UTF-8"
        case .controlCharacter: "A control character in a string must be escaped"
        case .invalidEscape: "There is no such escape sequence"
        case .loneSurrogate: "The escape sequence is half of a surrogate pair"
        case .invalidNumber: "The number is not well formed"
        case .notFinite: "Numbers must be finite"
        case .repeatedName: "The object has this name already"
        case .tooManyBytes(let limit): "The text is longer than \(limit) bytes"
        case .tooDeep(let limit): "Arrays and objects are nested more than \(limit) deep"
        case .tooManyNodes(let limit): "The text has more than \(limit) values and names"
        case .stringTooLong(let limit): "The string is longer than \(limit) bytes"
        case .numberTooLong(let limit): "The number is longer than \(limit) bytes"
        }
    }
}

/// A failure on its way out of the reader, which does not yet know its pointer.
struct Fault: Error {
    let kind: JSONError.Kind
    let offset: Int

    init(_ kind: JSONError.Kind, at offset: Int) {
        self.kind = kind
        self.offset = offset
    }
}
