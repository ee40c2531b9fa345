// SPDX-License-Identifier: Apache-2.0

/// How long a phase of an offer lasts, in whole months and whole days, which do not convert into each other.
///
/// `P7D` and `P1W` are equal, and so are `P12M` and `P1Y`; `P30D` and `P1M` are not. Each unit has a limit of 9999, and
/// the duration is not zero.
///
/// Source: ISO 8601-1, durations, without times of day, fractions and signs, which offers do not have.
package struct OfferDuration: Hashable, Sendable, CustomStringConvertible {
    /// Twelve to the year.
    package let months: Int
    /// Seven to the week.
    package let days: Int

    /// Nil unless the text is such a duration.
    package init?(iso8601 text: String) {
        guard text.utf8.first == UInt8(ascii: "P") else { return nil }
        var (months, days) = (0, 0)
        var units: Substring.UTF8View = "YMWD".utf8[...]
        var rest = text.utf8.dropFirst()
        while !rest.isEmpty {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest[digits.endIndex...]
            // Each unit once, and the larger before the smaller.
            guard (1...4).contains(digits.count), let number = Int(String(digits) ?? ""),
                let unit = rest.popFirst(), let place = units.firstIndex(of: unit)
            else { return nil }
            units = units[units.index(after: place)...]
            switch unit {
            case UInt8(ascii: "Y"): months += number * 12
            case UInt8(ascii: "M"): months += number
            case UInt8(ascii: "W"): days += number * 7
            default: days += number
            }
        }
        guard months + days > 0 else { return nil }
        self.months = months
        self.days = days
    }

    /// The one way in which equal durations are written: `P1Y`, `P1Y6M`, `P1W`, `P10D`, `P1M7D`.
    ///
    /// Weeks do not combine with other units, as in the standard.
    package var iso8601: String {
        let (years, months) = months.quotientAndRemainder(dividingBy: 12)
        if self.months == 0, days % 7 == 0 { return "P\(days / 7)W" }
        return "P" + Self.part(years, "Y") + Self.part(months, "M") + Self.part(days, "D")
    }

    /// The ISO 8601 form, ``iso8601``.
    package var description: String { iso8601 }

    private static func part(_ number: Int, _ unit: String) -> String { number == 0 ? "" : "\(number)\(unit)" }
}
