// SPDX-License-Identifier: Apache-2.0

extension Reader {
    /// Reads a string, from quote to quote.
    mutating func readString() throws(Fault) -> Node.Kind {
        let quote = bytes[position]
        let start = position + 1
        // Most of a string needs no closer look; a single quote would get none.
        var index = quote == .doubleQuote ? bytes.span.endOfPlainWords(from: start) : start
        var kind = Node.Kind.string
        while index < bytes.count {
            let byte = bytes[index]
            if byte == quote {
                position = index + 1
                try refuseLongString(start: start, end: index)
                return kind
            }
            if byte >= .space, byte < 0x80, byte != .backslash {
                index += 1
            } else {
                if byte == .backslash { kind = .escapedString }
                index = try endOfUnusualCharacter(at: index)
            }
        }
        try refuseLongString(start: start, end: index)
        throw Fault(.unexpectedEnd, at: index)
    }

    /// Reads a name without quotes: ECMAScript's identifiers as far as they are ASCII.
    mutating func readIdentifier() throws(Fault) -> Node.Kind {
        let start = position
        while position < bytes.count, bytes[position].startsIdentifier || bytes[position].isDigit { position += 1 }
        try refuseLongString(start: start, end: position)
        return .identifier
    }

    /// The byte after an escape sequence, a scalar beyond ASCII, or a control character that may stand bare.
    private func endOfUnusualCharacter(at index: Int) throws(Fault) -> Int {
        switch bytes[index] {
        case .backslash:
            do {
                return try Escape(bytes[...], at: index, dialect: dialect).end
            } catch {
                throw Fault(error, at: error == .unexpectedEnd ? bytes.count : index)
            }
        case 0x80...:
            guard let sequence = UTF8Sequence(bytes[...], at: index) else { throw Fault(.invalidUTF8, at: index) }
            return sequence.end
        case .tabulator where dialect == .configuration:
            return index + 1
        default:
            throw Fault(.controlCharacter, at: index)
        }
    }

    private func refuseLongString(start: Int, end: Int) throws(Fault) {
        guard end - start <= limits.maximumStringBytes else {
            throw Fault(.stringTooLong(limit: limits.maximumStringBytes), at: start + limits.maximumStringBytes)
        }
    }
}
