// SPDX-License-Identifier: Apache-2.0

extension Reader {
    /// Reads a number; RFC 8259 section 6, or in configuration JSON5's section 6.
    mutating func readNumber() throws(Fault) -> Node.Kind {
        let start = position
        if bytes[position] == .minus || bytes[position] == .plus { position += 1 }
        guard position < bytes.count else { throw Fault(.unexpectedEnd, at: position) }
        if isNotFinite { throw Fault(.notFinite, at: position) }
        let kind = isHexadecimal ? try readHexadecimal(start) : try readDecimal(start)
        if position < bytes.count, isPartOfNumber(bytes[position]) { throw Fault(.invalidNumber, at: start) }
        guard position - start <= limits.maximumNumberBytes else {
            throw Fault(.numberTooLong(limit: limits.maximumNumberBytes), at: start)
        }
        return kind
    }

    /// Whether `NaN` or `Infinity` starts here.
    var isNotFinite: Bool {
        bytes[position...].starts(with: "NaN".utf8) || bytes[position...].starts(with: "Infinity".utf8)
    }

    private var isHexadecimal: Bool {
        dialect == .configuration && bytes[position] == .zero && position + 1 < bytes.count
            && bytes[position + 1] | 0x20 == UInt8(ascii: "x")
    }

    private mutating func readHexadecimal(_ start: Int) throws(Fault) -> Node.Kind {
        position += 2
        let digits = position
        while position < bytes.count, bytes[position].hexadecimalValue != nil { position += 1 }
        try requireProgress(from: digits, numberAt: start)
        return .integer
    }

    private mutating func readDecimal(_ start: Int) throws(Fault) -> Node.Kind {
        var kind = Node.Kind.integer
        let whole = position
        readDigits()
        let hasWhole = position > whole
        guard position - whole == 1 || !hasWhole || bytes[whole] != .zero else {
            throw Fault(.invalidNumber, at: start)
        }
        if !hasWhole {
            guard dialect == .configuration, bytes[position] == .point else { throw Fault(.invalidNumber, at: start) }
        }
        if position < bytes.count, bytes[position] == .point {
            position += 1
            kind = .fraction
            let fraction = position
            readDigits()
            if dialect == .strict || !hasWhole { try requireProgress(from: fraction, numberAt: start) }
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            kind = .fraction
            if position < bytes.count, bytes[position] == .minus || bytes[position] == .plus { position += 1 }
            let exponent = position
            readDigits()
            try requireProgress(from: exponent, numberAt: start)
        }
        return kind
    }

    private mutating func readDigits() {
        while position < bytes.count, bytes[position].isDigit { position += 1 }
    }

    private func requireProgress(from digits: Int, numberAt start: Int) throws(Fault) {
        guard position == digits else { return }
        throw position == bytes.count ? Fault(.unexpectedEnd, at: position) : Fault(.invalidNumber, at: start)
    }

    private func isPartOfNumber(_ byte: UInt8) -> Bool {
        byte.isDigit || byte.startsIdentifier || byte == .point || byte == .minus || byte == .plus
    }
}
