// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import OfferDomain

struct TimestampTests {
    static let first: Int64 = -62_167_219_200_000
    static let last: Int64 = 253_402_300_799_999

    @Test(arguments: [
        (0, "1970-01-01T00:00:00Z"), (1_698_148_900_000, "2023-10-24T12:01:40Z"), (1, "1970-01-01T00:00:00.001Z"),
        (-1, "1969-12-31T23:59:59.999Z"), (951_782_400_000, "2000-02-29T00:00:00Z"),
        (first, "0000-01-01T00:00:00Z"), (last, "9999-12-31T23:59:59.999Z"), (1120, "1970-01-01T00:00:01.120Z"),
    ])
    func `writes and reads back`(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).rfc3339 == text)
        #expect(Timestamp(rfc3339: text)?.milliseconds == milliseconds)
    }

    @Test
    func `agrees with Foundation on random instants`() throws {
        // Foundation's calendar is Julian before 1582 in places, so the oracle is asked from 1600 on.
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        var random = SplitMix(seed: 3)
        for _ in 0..<3000 {
            let milliseconds = Int64.random(in: -11_676_096_000_000...TimestampTests.last, using: &random)
            let timestamp = Timestamp(milliseconds: milliseconds)
            let oracle = try Date(timestamp.rfc3339, strategy: milliseconds % 1000 == 0 ? .iso8601 : style)
            #expect(Int64((oracle.timeIntervalSince1970 * 1000).rounded()) == milliseconds, "\(timestamp)")
            #expect(Timestamp(rfc3339: timestamp.rfc3339) == timestamp)
        }
    }

    @Test
    func `counts every day of the calendar once, and knows no other`() throws {
        let first = try #require(CivilDate(year: 0, month: 1, day: 1)).daysSince1970
        var expected = first
        var wrong: [String] = []
        for year in 0...9999 {
            let isLeap = year.isMultiple(of: 4) && !year.isMultiple(of: 100) || year.isMultiple(of: 400)
            for (month, length) in zip(1...12, [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]) {
                for day in 0...32 {
                    let date = CivilDate(year: year, month: month, day: day)
                    guard (1...length).contains(day) else {
                        if date != nil { wrong.append("\(year)-\(month)-\(day) exists") }
                        continue
                    }
                    let isRight = date?.daysSince1970 == expected && date == CivilDate(daysSince1970: expected)
                    if !isRight { wrong.append("\(year)-\(month)-\(day)") }
                    expected += 1
                }
            }
        }
        #expect(wrong.isEmpty)
        #expect(expected - first == 25 * 146_097)
    }

    @Test(arguments: [
        ("2026-11-01T02:30:00+02:30", "2026-11-01T00:00:00Z"), ("2026-10-31T20:00:00-04:00", "2026-11-01T00:00:00Z"),
        ("2026-11-01T00:00:00-00:00", "2026-11-01T00:00:00Z"), ("2026-11-01T00:00:00.5Z", "2026-11-01T00:00:00.500Z"),
        ("2026-11-01T00:00:00.25Z", "2026-11-01T00:00:00.250Z"), ("2026-11-01T00:00:00.000Z", "2026-11-01T00:00:00Z"),
        ("2026-01-01T00:00:00+23:59", "2025-12-31T00:01:00Z"),
        ("2026-11-01t00:00:00z", "2026-11-01T00:00:00Z"), ("2026-11-01T00:00:00.1239Z", "2026-11-01T00:00:00.123Z"),
        ("2026-11-01T00:00:00.123456789012345678901234567890+00:00", "2026-11-01T00:00:00.123Z"),
        ("2026-11-01T00:00:00.0009z", "2026-11-01T00:00:00Z"), ("2026-12-31T23:59:60Z", "2027-01-01T00:00:00Z"),
    ])
    func `reads offsets and fractions`(text: String, utc: String) {
        #expect(Timestamp(rfc3339: text)?.rfc3339 == utc)
    }

    @Test(arguments: [
        "", "2026-11-01", "2026-11-01T00:00:00", "2026-11-01 00:00:00Z", "2026-11-01U00:00:00Z", "2026-11-01T00:00:00y",
        "2026-11-01T00:00Z", "2026-11-01T24:00:00Z", "2026-11-01T00:60:00Z", "2026-12-31T23:59:61Z",
        "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-13-01T00:00:00Z", "2026-01-00T00:00:00Z", "26-01-01T00:00:00Z", "+2026-01-01T00:00:00Z",
        "2026-11-01T00:00:00.Z", "2026-11-01T00:00:00.12x4Z", "2026-11-01T00:00:00,5Z", "2026-11-01T00:00:00+0200",
        "2026-11-01T00:00:00+24:00", "2026-11-01T00:00:00+02:60", "2026-11-01T00:00:00Z ", " 2026-11-01T00:00:00Z",
        "2026-11-01T00:00:00ZZ", "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "２026-11-01T00:00:00Z",
        "2026-11-01T+1:00:00Z", "2026-11-01T00:00:00\u{0}Z",
    ])
    func `reads nothing else`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test(arguments: [Int.max, Int.min])
    func `stops at the ends of its years`(amount: Int) {
        let now = Timestamp(milliseconds: 1_698_148_900_000)
        let end = Timestamp(milliseconds: amount > 0 ? TimestampTests.last : TimestampTests.first)
        #expect(now.adding(days: amount) == end)
        #expect(now.adding(hours: amount) == end)
        #expect(now.adding(minutes: amount) == end)
        #expect(now.adding(seconds: amount) == end)
        #expect(now.adding(milliseconds: Int64(amount)) == end)
        #expect(Timestamp(milliseconds: Int64(amount)) == end)
        #expect(Timestamp(exactlyMilliseconds: Int64(amount)) == nil)
    }

    @Test
    func `adds in its units`() {
        let zero = Timestamp(milliseconds: 0)
        #expect(zero.adding(days: 2).rfc3339 == "1970-01-03T00:00:00Z")
        #expect(zero.adding(hours: -1).rfc3339 == "1969-12-31T23:00:00Z")
        #expect(zero.adding(minutes: 3).seconds == 180)
        #expect(zero.adding(seconds: 4).milliseconds == 4000)
    }

    @Test(arguments: [(0, 0), (86_399_999, 0), (86_400_000, 1), (-1, -1), (-86_400_000, -1), (-86_400_001, -2)])
    func `counts whole days, rounding down`(milliseconds: Int64, days: Int) {
        let origin = Timestamp(milliseconds: 0)
        #expect(Timestamp(milliseconds: milliseconds).wholeDays(since: origin) == days)
        #expect(Timestamp(milliseconds: milliseconds).utcDay == days)
        #expect(Timestamp(startOfUTCDay: days).utcDay == days)
    }

    @Test
    func `rounds seconds down on both sides of 1970`() {
        #expect(Timestamp(milliseconds: 1999).seconds == 1)
        #expect(Timestamp(milliseconds: -1).seconds == -1)
    }
}
