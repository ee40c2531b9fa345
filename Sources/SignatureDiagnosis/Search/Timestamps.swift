// SPDX-License-Identifier: Apache-2.0

/// One instant in the units in which it is signed or attached by mistake.
enum Timestamps {
    /// An integer as it is; a number with a fraction or an exponent as the integer that it is nearest to.
    static func plain(_ text: String) -> String {
        guard Int64(text) == nil, let number = Double(text), number.magnitude < 9e18 else { return text }
        return String(Int64(number.rounded()))
    }

    /// Whether it is written as the store takes it: digits alone.
    static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { (0x30...0x39).contains($0) } }

    /// Milliseconds, of a number in any unit; `nil` of what is no time.
    static func milliseconds(_ text: String) -> Int64? {
        guard var value = Int64(plain(text)), value > 0 else { return nil }
        if value < leastMilliseconds { return value * 1000 }
        while value >= mostMilliseconds { value /= 1000 }
        return value
    }

    /// Whether both are one time, in two units.
    static func areOneInstant(_ one: String, _ other: String) -> Bool {
        guard plain(one).utf8.count != plain(other).utf8.count, let one = milliseconds(one),
            let other = milliseconds(other)
        else { return false }
        return (one - other).magnitude <= 1000
    }

    /// What may have been signed where this was attached.
    static func units(of text: String) -> [(SignatureFault, String)] {
        guard let value = Int64(plain(text)), value > 0 else { return [] }
        switch value {
        case ..<leastMilliseconds:
            var found: [(SignatureFault, String)] = [
                (.timestampAttached, "\(value)000"), (.timestampUnit, "\(value).0"), (.timestampUnit, String(value)),
            ]
            // Seconds with a fraction, as a device's clock gives them.
            if Int64(text) == nil, let seconds = Double(text), seconds < Double(leastMilliseconds) {
                found.insert((.timestampAttached, String(Int64((seconds * 1000).rounded()))), at: 0)
            }
            return found
        case ..<mostMilliseconds: return unitsOfMilliseconds(value)
        default:
            return [
                (.timestampAttached, String(value / 1000)), (.timestampAttached, String(value / 1_000_000)),
            ]
        }
    }

    private static let leastMilliseconds: Int64 = 100_000_000_000
    private static let mostMilliseconds: Int64 = 100_000_000_000_000

    private static func unitsOfMilliseconds(_ value: Int64) -> [(SignatureFault, String)] {
        let (seconds, rest) = (value / 1000, value % 1000)
        let digits = String(String(1000 + rest).dropFirst())
        let texts =
            [
                "\(seconds)", "\(seconds).\(digits)", "\(value).0", "\(value)000", "\(value)000000", "\(seconds + 1)",
                "\(seconds)000", "\(Double(value))", "\(seconds).0", "\(seconds + 1).0", "\(Double(value) / 1000)",
            ] + scientific(value) + scientific(seconds)
        return texts.map { (.timestampUnit, $0) }
    }

    /// With an exponent: all digits, and the six that `%g` prints.
    private static func scientific(_ value: Int64) -> [String] {
        let digits = String(value)
        let exponent = digits.utf8.count - 1
        var scale: Int64 = 1
        for _ in 0..<max(0, exponent - 5) { scale *= 10 }
        let rounded = String((value + scale / 2) / scale)
        return [digits, rounded].flatMap { digits in
            let first = String(digits.prefix(1))
            var rest = String(digits.dropFirst())
            while rest.hasSuffix("0") { rest.removeLast() }
            let mantissa = rest.isEmpty ? first : "\(first).\(rest)"
            let padded = exponent < 10 ? "0\(exponent)" : "\(exponent)"
            return ["e+\(padded)", "E+\(padded)", "e\(exponent)", "E\(exponent)"].map { mantissa + $0 }
        }
    }

    /// Every millisecond of a second that was attached.
    static func milliseconds(within text: String) -> [String] {
        guard let value = Int64(plain(text)), (1_000_000_000..<100_000_000_000).contains(value) else { return [] }
        return (0..<1000).map { String(value * 1000 + $0) }
    }
}
