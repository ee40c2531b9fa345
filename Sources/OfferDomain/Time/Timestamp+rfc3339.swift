// SPDX-License-Identifier: Apache-2.0

// Source: RFC 3339, section 5.6, https://www.rfc-editor.org/rfc/rfc3339

extension Timestamp {
    /// The instant in UTC, as 2026-11-01T00:00:00Z; with three decimals if it isn't a whole second.
    package var rfc3339: String {
        var text: [UInt8] = []
        text.reserveCapacity(24)
        appendRFC3339(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The most bytes that ``rfc3339`` has.
    package static let mostRFC3339Bytes = 24

    /// Appends ``rfc3339``.
    func appendRFC3339(to text: inout [UInt8]) {
        text.append(addingCapacity: Self.mostRFC3339Bytes) { appendRFC3339(to: &$0) }
    }

    /// Appends ``rfc3339``; `text` must have room for it.
    package func appendRFC3339(to text: inout OutputSpan<UInt8>) {
        let date = CivilDate(daysSince1970: utcDay)
        let millisecondOfDay = Int(milliseconds - Int64(utcDay) * Timestamp.millisecondsPerDay)
        let (second, fraction) = millisecondOfDay.quotientAndRemainder(dividingBy: 1000)
        text.append(decimal: date.year, digits: 4)
        text.append(0x2D)
        text.append(decimal: date.month, digits: 2)
        text.append(0x2D)
        text.append(decimal: date.day, digits: 2)
        text.append(0x54)
        text.append(decimal: second / 3600, digits: 2)
        text.append(0x3A)
        text.append(decimal: second / 60 % 60, digits: 2)
        text.append(0x3A)
        text.append(decimal: second % 60, digits: 2)
        if fraction > 0 {
            text.append(0x2E)
            text.append(decimal: fraction, digits: 3)
        }
        text.append(0x5A)
    }

    /// Reads a date and time with `T` and with `Z` or a numeric offset, all of it or nothing.
    ///
    /// Letters may be lowercase. The fraction of a second may have any length and is cut to milliseconds. A leap second
    /// counts as the instant after it. Nil for anything else, such as a day that the month doesn't have, or an instant
    /// outside the years 0000 to 9999.
    package init?(rfc3339 text: String) {
        self.init(rfc3339: Array(text.utf8)[...])
    }

    /// Like ``init(rfc3339:)-(String)``.
    package init?(rfc3339 text: ArraySlice<UInt8>) {
        var reader = DigitReader(text)
        guard
            let year = reader.number(digits: 4), reader.take(0x2D),
            let month = reader.number(digits: 2), reader.take(0x2D),
            let day = reader.number(digits: 2), reader.takeLetter(0x54),
            let date = CivilDate(year: year, month: month, day: day),
            let hour = reader.number(digits: 2, below: 24), reader.take(0x3A),
            let minute = reader.number(digits: 2, below: 60), reader.take(0x3A),
            let second = reader.number(digits: 2, below: 61),
            let fraction = reader.fraction(),
            let offsetInMinutes = reader.offset(),
            reader.isAtEnd
        else { return nil }
        let minutes = (date.daysSince1970 * 24 + hour) * 60 + minute - offsetInMinutes
        self.init(exactlyMilliseconds: Int64((minutes * 60 + second) * 1000 + fraction))
    }
}

/// Takes the parts of a date off the front of a text.
private struct DigitReader {
    private let text: ArraySlice<UInt8>
    private var position: Int

    init(_ text: ArraySlice<UInt8>) {
        self.text = text
        position = text.startIndex
    }

    var isAtEnd: Bool { position == text.endIndex }

    private var next: UInt8? { isAtEnd ? nil : text[position] }

    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    /// Takes a letter, given as a capital, in either case.
    mutating func takeLetter(_ capital: UInt8) -> Bool { take(capital) || take(capital | 0x20) }

    mutating func number(digits: Int, below limit: Int = .max) -> Int? {
        var number = 0
        for _ in 0..<digits {
            guard let byte = next, (0x30...0x39).contains(byte) else { return nil }
            number = number * 10 + Int(byte - 0x30)
            position += 1
        }
        return number < limit ? number : nil
    }

    /// Milliseconds: none, or a point and at least one digit; those after the third don't count.
    mutating func fraction() -> Int? {
        guard take(0x2E) else { return 0 }
        guard var milliseconds = number(digits: 1) else { return nil }
        for _ in 0..<2 { milliseconds = milliseconds * 10 + (number(digits: 1) ?? 0) }
        while number(digits: 1) != nil {}
        return milliseconds
    }

    /// Minutes east of UTC.
    mutating func offset() -> Int? {
        if takeLetter(0x5A) { return 0 }
        let isWest = next == 0x2D
        guard
            take(isWest ? 0x2D : 0x2B),
            let hours = number(digits: 2, below: 24), take(0x3A),
            let minutes = number(digits: 2, below: 60)
        else { return nil }
        return (hours * 60 + minutes) * (isWest ? -1 : 1)
    }
}

extension OutputSpan<UInt8> {
    /// Appends a non-negative number with exactly this number of decimal digits; it must fit.
    @inline(__always)
    fileprivate mutating func append(decimal number: Int, digits: Int) {
        var unit = 1
        for _ in 1..<digits { unit *= 10 }
        while unit > 0 {
            append(0x30 &+ UInt8(truncatingIfNeeded: number / unit % 10))
            unit /= 10
        }
    }
}

extension [UInt8] {
    /// Appends a number in decimal.
    mutating func append(decimal number: Int64) {
        if number < 0 { append(0x2D) }
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var first = digits.count
        var rest = number.magnitude
        repeat {
            first -= 1
            digits[first] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        append(addingCapacity: digits.count - first) { text in
            for place in first..<digits.count { text.append(digits[place]) }
        }
    }
}
