// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

/// Instants as people type them.
struct TimeExpressionTests {
    /// 2026-11-26T13:45:30.250Z.
    private static let now = Timestamp(milliseconds: 1_795_700_730_250)

    static let texts: [(text: String, instant: String)] = [
        ("2026-11-21T08:00:00Z", "2026-11-21T08:00:00Z"), ("2026-11-21T08:00:00+01:00", "2026-11-21T07:00:00Z"),
        ("2026-11-26", "2026-11-26T00:00:00Z"), ("2024-02-29", "2024-02-29T00:00:00Z"),
        ("now", "2026-11-26T13:45:30.250Z"), ("today", "2026-11-26T00:00:00Z"), ("yesterday", "2026-11-25T00:00:00Z"),
        ("-24h", "2026-11-25T13:45:30.250Z"), ("-90s", "2026-11-26T13:44:00.250Z"), ("-5m", "2026-11-26T13:40:30.250Z"),
        ("-7d", "2026-11-19T13:45:30.250Z"), ("-2w", "2026-11-12T13:45:30.250Z"), ("-0h", "2026-11-26T13:45:30.250Z"),
    ]

    @Test(arguments: texts)
    func `reads times, days and spans before now`(text: String, instant: String) throws {
        #expect(try #require(TimeExpression(text, at: Self.now)).instant.rfc3339 == instant)
    }

    @Test(arguments: [
        "", "-", "h", "-h", "24h", "+24h", "-24", "-24H", "-24 h", "- 4h", "--4h", "-1.5h", "-1000000h", "-٣h",
        "2026-11",
        "2026-02-30", "26-11-2026", "2026-11-26 08:00", "tomorrow", "Today", "2026-11-26T08:00:00",
    ])
    func `refuses everything else`(text: String) {
        #expect(TimeExpression(text, at: Self.now) == nil)
    }

    @Test func `one text stays one, and two that differ stay apart`() throws {
        let texts = Self.texts.map(\.text).filter { $0 != "-0h" } + ["-23h"]
        let later = Self.now.adding(days: 40)
        let first = try texts.map { try #require(TimeExpression($0, at: Self.now)).identity }
        let second = try texts.map { try #require(TimeExpression($0, at: later)).identity }
        #expect(first == second && Set(first).count == texts.count)
    }
}
