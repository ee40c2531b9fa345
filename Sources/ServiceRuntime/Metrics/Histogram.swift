// SPDX-License-Identifier: Apache-2.0

/// Counts observations at or below each bound.
package struct Histogram: Sendable {
    /// The upper bounds, ascending; `+Inf` is not among them.
    package let bounds: [Double]
    /// How many observations are in each bucket alone; those above the last bound are in none.
    package private(set) var counts: [Int]
    /// The sum of all observations.
    package private(set) var sum = 0.0
    /// How many observations there are, those above the last bound included.
    package private(set) var total = 0

    /// `bounds` ascend.
    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count)
    }

    /// Counts a value in the first bucket with a bound of at least that value.
    package mutating func observe(_ value: Double) {
        if let slot = bounds.firstIndex(where: { value <= $0 }) { counts[slot] += 1 }
        sum += value
        total += 1
    }
}
