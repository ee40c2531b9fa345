// SPDX-License-Identifier: Apache-2.0

/// An instant as people type it: RFC 3339, a day like `2026-11-26`, a span before now like `-24h`, or `today`.
///
/// A day is its first instant, in UTC.
package struct TimeExpression: Hashable, Sendable {
    /// What it means now.
    package let instant: Timestamp
    /// The same for the same text at any time, to compare what was asked with what was asked before.
    package let identity: Timestamp

    /// What ``init(_:at:)`` reads, for messages.
    package static let expectation =
        "a time as RFC 3339 writes it, like 2026-11-21T08:00:00Z, a day like 2026-11-21, a span before now like -24h or "
        + "-7d, now, today or yesterday"

    /// Reads all of a text; nil for anything else.
    package init?(_ text: String, at now: Timestamp) {
        if let instant = Timestamp(rfc3339: text) ?? Timestamp(rfc3339: "\(text)T00:00:00Z") {
            self.init(instant: instant, identity: instant)
        } else if let milliseconds = Self.span(text) {
            self.init(
                instant: now.adding(milliseconds: -milliseconds),
                identity: Timestamp(milliseconds: -milliseconds)
            )
        } else if let days = ["today": 0, "yesterday": 1][text] {
            // No span is of so few milliseconds.
            self.init(
                instant: Timestamp(startOfUTCDay: now.utcDay - days),
                identity: Timestamp(milliseconds: Int64(days + 1))
            )
        } else {
            return nil
        }
    }

    private init(instant: Timestamp, identity: Timestamp) {
        self.instant = instant
        self.identity = identity
    }

    /// The milliseconds of `now`, or of a minus, a whole number up to 99,999, and a unit.
    private static func span(_ text: String) -> Int64? {
        if text == "now" { return 0 }
        let units: [UInt8: Int64] = [
            UInt8(ascii: "s"): 1000, UInt8(ascii: "m"): 60_000, UInt8(ascii: "h"): 3_600_000,
            UInt8(ascii: "d"): 86_400_000, UInt8(ascii: "w"): 7 * 86_400_000,
        ]
        let bytes = Array(text.utf8)
        guard (3...7).contains(bytes.count), bytes[0] == UInt8(ascii: "-"), let unit = units[bytes[bytes.count - 1]],
            bytes[1..<(bytes.count - 1)].allSatisfy({ (0x30...0x39).contains($0) }),
            let count = Int64(String(decoding: bytes[1..<(bytes.count - 1)], as: UTF8.self))
        else { return nil }
        return count * unit
    }
}
