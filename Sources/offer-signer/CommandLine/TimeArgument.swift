// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import ServiceRuntime

/// A time on the command line, as the API takes it too.
enum TimeArgument {
    static let expected = TimeExpression.expectation

    /// Reads a time as `TimeExpression` does; `nil` for anything else.
    static func parse(_ text: String, at now: Timestamp) -> Timestamp? { TimeExpression(text, at: now)?.instant }

    /// The same with the present time.
    static func parse(_ text: String) -> Timestamp? { parse(text, at: WallClock.system.now()) }
}
