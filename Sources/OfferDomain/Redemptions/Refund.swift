// SPDX-License-Identifier: Apache-2.0

/// Money that a store paid back for a subscription.
package struct Refund: Hashable, Comparable, Sendable {
    package let at: Timestamp
    /// Thousandths of a percent of the price; `nil` for a partial refund if the store does not say how large it is.
    package let millipercent: Int?

    /// All of the price, in thousandths of a percent.
    package static let whole = 100_000

    /// A full refund unless `millipercent` says otherwise; for a number outside of 0 to ``whole``, the size is unknown.
    package init(at instant: Timestamp, millipercent: Int? = Refund.whole) {
        at = instant
        self.millipercent = millipercent.flatMap { (0...Self.whole).contains($0) ? $0 : nil }
    }

    /// Whether all of the price was paid back.
    package var isFull: Bool { millipercent == Self.whole }

    /// Whether at least this percentage was paid back; `nil` if that is not known.
    func isAtLeast(percent: Int) -> Bool? {
        if let millipercent { return millipercent / 1000 >= percent }
        return percent >= 100 ? false : percent <= 0 ? true : nil
    }

    package static func < (one: Refund, other: Refund) -> Bool {
        (one.at, one.millipercent ?? -1) < (other.at, other.millipercent ?? -1)
    }
}
