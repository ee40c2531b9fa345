// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService

/// A time on the command line: RFC 3339, a day of UTC, or how long ago.
enum TimeArgument {
    static let expected =
        "a time as 2026-11-21T08:00:00Z, a day as 2026-11-21 (from 00:00 UTC), or how long ago as -24h"

    /// Reads `2026-11-21T08:00:00Z`, `2026-11-21`, `-90m`, `-24h`, `-7d` or `-2w`; `nil` for anything else.
    static func parse(_ text: String, at now: Timestamp) -> Timestamp? {
        if let instant = Timestamp(rfc3339: text) { return instant }
        if text.utf8.count == 10, let day = Timestamp(rfc3339: text + "T00:00:00Z") { return day }
        guard text.hasPrefix("-"), let unit = text.last, let minutes = minutes[unit],
            let count = Int64(text.dropFirst().dropLast()), (0...5_000_000).contains(count)
        else { return nil }
        return Timestamp(milliseconds: now.milliseconds - count * minutes * 60_000)
    }

    /// The same with the present time.
    static func parse(_ text: String) -> Timestamp? { parse(text, at: WallClock.system.now()) }

    private static let minutes: [Character: Int64] = ["m": 1, "h": 60, "d": 1440, "w": 10_080]
}
