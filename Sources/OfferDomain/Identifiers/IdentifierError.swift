// SPDX-License-Identifier: Apache-2.0

/// Why a text is no identifier; these are all the ways.
///
/// The sentences are for people and for logs, so they show a character only if it is visible ASCII and otherwise
/// name it by number: what was sent can't reach a terminal or a log line through them.
package enum IdentifierError: Error, Hashable, Sendable, CustomStringConvertible {
    case empty
    /// Longer than `limit` bytes.
    case tooLong(limit: Int)
    /// A character outside the allow-list; `offset` counts UTF-8 bytes from zero.
    case notAllowed(OffendingCharacter, offset: Int)
    /// A space that leads, trails or follows another one.
    case misplacedSpace(offset: Int)
    /// Not of the fixed form; `expected` says which.
    case wrongShape(expected: String)

    /// A sentence without its subject, which is the name of the field.
    package var description: String {
        switch self {
        case .empty: "must not be empty"
        case .tooLong(let limit): "is longer than \(limit) bytes"
        case .notAllowed(let character, let offset): "holds \(character) at byte \(offset), which is not allowed"
        case .misplacedSpace(let offset):
            "holds a space at byte \(offset); a space is allowed only alone and between two other characters"
        case .wrongShape(let expected): "must be \(expected)"
        }
    }
}

/// The character, or the byte that is part of none, that made a text unfit.
package enum OffendingCharacter: Hashable, Sendable, CustomStringConvertible {
    case scalar(Unicode.Scalar)
    /// A byte that is not part of any well-formed UTF-8 sequence.
    case malformed(UInt8)

    /// The character at `offset` of `bytes`.
    init(in bytes: Span<UInt8>, at offset: Int) {
        var sequence: [UInt8] = []
        for index in offset..<min(offset + 4, bytes.count) { sequence.append(bytes[index]) }
        var iterator = sequence.makeIterator()
        var decoder = UTF8()
        if case .scalarValue(let scalar) = decoder.decode(&iterator) {
            self = .scalar(scalar)
        } else {
            self = .malformed(bytes[offset])
        }
    }

    /// A phrase that shows a character only if it is visible ASCII.
    package var description: String {
        switch self {
        case .scalar(let scalar) where (0x21...0x7E).contains(scalar.value): "the character \(scalar)"
        case .scalar(let scalar): "the character U+\(hexadecimal(scalar.value, digits: 4))"
        case .malformed(let byte): "the byte 0x\(hexadecimal(UInt32(byte), digits: 2)), which is not UTF-8,"
        }
    }
}

/// `value` in uppercase hexadecimal with at least this number of digits.
private func hexadecimal(_ value: UInt32, digits: Int) -> String {
    let text = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
}
