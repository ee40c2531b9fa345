// SPDX-License-Identifier: Apache-2.0

extension Reader {
    /// Passes over what may stand between the parts of a text.
    @inline(__always)
    mutating func skipSpace() throws(Fault) {
        // What programs write mostly has nothing there, and what isn't white space is greater.
        if position < bytes.count, bytes[position] > .space, dialect == .strict { return }
        try skipSomeSpace()
    }

    private mutating func skipSomeSpace() throws(Fault) {
        skipPlainSpace()
        guard dialect == .configuration else { return }
        while position < bytes.count, try skipExtendedSpace() { skipPlainSpace() }
    }

    private mutating func skipPlainSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case .space, .lineFeed, .carriageReturn, .tabulator: position += 1
            default: return
            }
        }
    }

    /// Skips a comment or one of JSON5's further space characters; false if neither is next.
    private mutating func skipExtendedSpace() throws(Fault) -> Bool {
        switch bytes[position] {
        case .slash:
            try skipComment()
            return true
        case 0x0B, 0x0C:
            position += 1
            return true
        case 0x80...:
            guard let sequence = UTF8Sequence(bytes[...], at: position) else { throw Fault(.invalidUTF8, at: position) }
            guard isSpace(sequence.scalar) else { return false }
            position = sequence.end
            return true
        default:
            return false
        }
    }

    /// ECMAScript's white space beyond ASCII, U+FEFF among it, and its line terminators.
    private func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .spaceSeparator, .lineSeparator, .paragraphSeparator: true
        default: scalar == "\u{FEFF}"
        }
    }

    private mutating func skipComment() throws(Fault) {
        let start = position
        guard start + 1 < bytes.count else { throw Fault(.unexpectedEnd, at: bytes.count) }
        position += 2
        switch bytes[start + 1] {
        case .slash: try skipLineComment()
        case .asterisk: try skipBlockComment()
        default: throw Fault(.expectedValue, at: start)
        }
    }

    private mutating func skipLineComment() throws(Fault) {
        while position < bytes.count {
            guard let scalar = try passScalar() else { continue }
            if ["\n", "\r", "\u{2028}", "\u{2029}"].contains(scalar) { return }
        }
    }

    private mutating func skipBlockComment() throws(Fault) {
        while position + 1 < bytes.count {
            if bytes[position] == .asterisk, bytes[position + 1] == .slash {
                position += 2
                return
            }
            _ = try passScalar()
        }
        throw Fault(.unexpectedEnd, at: bytes.count)
    }

    private mutating func passScalar() throws(Fault) -> Unicode.Scalar? {
        let byte = bytes[position]
        if byte < 0x80 {
            position += 1
            return Unicode.Scalar(byte)
        }
        guard let sequence = UTF8Sequence(bytes[...], at: position) else { throw Fault(.invalidUTF8, at: position) }
        position = sequence.end
        return sequence.scalar
    }
}
