// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
package import ServiceRuntime

/// Limits what apps can have recorded: each refusal is an entry up to a rate, and beyond that counted into one entry a minute.
///
/// An app's API key is known to everyone, and an entry of a refusal stays forever. At this rate, the entries of one
/// caller take at most 5.4 MB of the disk an hour.
package final class AppRefusals: Sendable {
    /// Refusals without their own entry, until the entry of the minute.
    package let counted = MinuteCounter<CountedRefusal>()
    private let singles: RateLimiter<CallerID>
    private let reserve: DiskReserve?

    /// How many of each caller are entries of their own.
    static let rate = RateLimit("120/min:240")

    /// The reserve is room on the disk that is for grants alone.
    package init(_ clock: WallClock, reserve: DiskReserve? = nil) {
        singles = RateLimiter(clock.stopwatch())
        self.reserve = reserve
    }

    /// Whether a refusal is to be an entry of its own.
    func isRecordedSingly(_ request: DecisionRequest) -> Bool {
        guard !request.knowledge.isVouchedFor, let rate = Self.rate else { return true }
        if reserve?.isTouched == true { return false }
        return singles.take(1, for: request.callerID, rate) == nil
    }

    /// Whether an offer may be granted; an unproven customer gets none once the disk reserve is reached.
    ///
    /// An attacker can make up any number of names, and each grant adds an entry.
    func allowsGrant(_ request: DecisionRequest) -> Bool { request.isProven || reserve?.isTouched != true }

    /// Whether an earlier grant is signed again, which adds entries; for an app, only while there is room.
    func allowsReplay(_ request: DecisionRequest) -> Bool {
        request.knowledge.isVouchedFor || reserve?.isTouched != true
    }
}
