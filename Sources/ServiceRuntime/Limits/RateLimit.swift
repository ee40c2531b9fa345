// SPDX-License-Identifier: Apache-2.0

/// How often a client may send requests: a steady rate, and how many at once.
package struct RateLimit: Hashable, Sendable, CustomStringConvertible {
    /// What a second, or a minute, has room for; at least 1.
    private let requests: Int
    private let period: Period
    /// How many may come at once after a pause; at least 1.
    package let burst: Int

    /// What a rate is counted by.
    package enum Period: String, CaseIterable {
        case second = "s"
        case minute = "min"

        var nanoseconds: Int64 { self == .second ? 1_000_000_000 : 60_000_000_000 }
    }

    /// Reads `N/s` or `N/min`, with `:BURST` behind it; without it, the burst is what two periods have room for.
    ///
    /// `nil` of anything else, and of numbers that are not from 1 to 1,000,000.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let rate = (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, rate.count == 2, let requests = Self.number(rate[0]),
            let period = Period(rawValue: String(rate[1]))
        else { return nil }
        guard let burst = parts.count == 2 ? Self.number(parts[1]) : 2 * requests else { return nil }
        (self.requests, self.period, self.burst) = (requests, period, burst)
    }

    /// Both numbers are at least 1.
    package init(_ requests: Int, per period: Period, burst: Int) {
        (self.requests, self.period, self.burst) = (requests, period, burst)
    }

    private static func number(_ text: Substring) -> Int? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text) else { return nil }
        return (1...1_000_000).contains(number) ? number : nil
    }

    /// The rate as settings have it, such as `120/min:240`.
    package var description: String { "\(requests)/\(period.rawValue):\(burst)" }

    /// How much time one request takes of the steady rate.
    package var nanosecondsPerRequest: Int64 { period.nanoseconds / Int64(requests) }

    /// Within how many seconds as many have room as at once; at least 1.
    package var windowSeconds: Int64 { max(1, Int64(burst) * nanosecondsPerRequest / 1_000_000_000) }

    /// What may be written, for help and messages.
    package static let expected = "N/s or N/min, with :BURST after it if more may come at once, such as 20/s:200"
}
