// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import OfferDomain

/// When a message that was not delivered is sent again: for some days, with longer and longer pauses.
///
/// Source: the example of Standard Webhooks 1.0.0, “Deliverability and reliability”.
package enum RetrySchedule {
    /// How long events are tried, counted from the first attempt.
    package static let hoursOfEvents = 72
    /// The same for relayed notifications: bodies are kept for seven days, and a store sends each only once.
    package static let hoursOfRelays = 164
    private static let pauses: [Int64] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]

    /// The time of the next attempt after `attempts` failed ones; `nil` if the message is given up.
    ///
    /// A tenth more or less keeps messages that failed together from being sent together again.
    package static func next(
        after attempts: Int,
        firstAt first: Timestamp,
        now: Timestamp,
        lastingHours: Int,
        _ random: any RandomSource
    ) -> Timestamp? {
        let pause = pauses[min(max(0, attempts - 1), pauses.count - 1)] * 1000
        let jitter = Int64(random.next() % UInt64(pause / 5 + 1)) - pause / 10
        let next = now.adding(milliseconds: pause + jitter)
        guard next > first.adding(hours: lastingHours) else { return next }
        // One more at the very end, unless that is past.
        let end = first.adding(hours: lastingHours)
        return now < end.adding(milliseconds: -pauses[0] * 1000) ? end : nil
    }
}
