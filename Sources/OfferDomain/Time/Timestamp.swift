// SPDX-License-Identifier: Apache-2.0

/// An instant, in whole milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// It lies in the years 0000 to 9999, all that RFC 3339 can write. Sums that would leave them stop at the end, so no
/// arithmetic here overflows.
package struct Timestamp: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Since 1970, negative before it.
    package let milliseconds: Int64

    /// The instant, or the end of the years 0000 to 9999 that is nearest to it.
    package init(milliseconds: Int64) {
        self.milliseconds = min(max(milliseconds, Timestamp.limits.lowerBound), Timestamp.limits.upperBound)
    }

    /// The instant; nil outside the years 0000 to 9999.
    package init?(exactlyMilliseconds milliseconds: Int64) {
        guard Timestamp.limits.contains(milliseconds) else { return nil }
        self.milliseconds = milliseconds
    }

    /// Whole seconds since 1970, rounded down.
    package var seconds: Int64 { milliseconds.flooredQuotient(1000) }

    /// The UTC calendar day, as days since 1970-01-01.
    package var utcDay: Int { Int(milliseconds.flooredQuotient(Timestamp.millisecondsPerDay)) }

    /// The instant at which a UTC calendar day begins.
    package init(startOfUTCDay day: Int) {
        self = Timestamp(milliseconds: 0).adding(days: day)
    }

    /// The instant this number of milliseconds later.
    package func adding(milliseconds amount: Int64) -> Timestamp {
        let (sum, overflow) = milliseconds.addingReportingOverflow(amount)
        return Timestamp(milliseconds: overflow ? (amount < 0 ? .min : .max) : sum)
    }

    /// The instant this number of seconds later.
    package func adding(seconds amount: Int) -> Timestamp { adding(amount, unit: 1000) }
    /// The instant this number of minutes later.
    package func adding(minutes amount: Int) -> Timestamp { adding(amount, unit: 60_000) }
    /// The instant this number of hours later.
    package func adding(hours amount: Int) -> Timestamp { adding(amount, unit: 3_600_000) }
    /// The instant this number of 24-hour days later.
    package func adding(days amount: Int) -> Timestamp { adding(amount, unit: Timestamp.millisecondsPerDay) }

    /// How many days of 24 hours have passed since `earlier`, rounded down; negative if `earlier` is later.
    package func wholeDays(since earlier: Timestamp) -> Int {
        Int((milliseconds - earlier.milliseconds).flooredQuotient(Timestamp.millisecondsPerDay))
    }

    /// Whether `one` is earlier.
    package static func < (one: Timestamp, other: Timestamp) -> Bool { one.milliseconds < other.milliseconds }

    /// As RFC 3339 writes it, in UTC.
    package var description: String { rfc3339 }

    static let millisecondsPerDay: Int64 = 86_400_000

    /// From 0000-01-01T00:00:00.000Z to 9999-12-31T23:59:59.999Z.
    private static let limits: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

    private func adding(_ amount: Int, unit: Int64) -> Timestamp {
        let (product, overflow) = Int64(amount).multipliedReportingOverflow(by: unit)
        return adding(milliseconds: overflow ? (amount < 0 ? .min : .max) : product)
    }
}

extension Int64 {
    /// The quotient rounded towards negative infinity; `divisor` is positive.
    func flooredQuotient(_ divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
