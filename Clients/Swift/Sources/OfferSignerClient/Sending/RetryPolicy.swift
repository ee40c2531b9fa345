// SPDX-License-Identifier: Apache-2.0
import Foundation

/// How often a request is tried, and how long the client waits in between.
///
/// Tries share the idempotency key, so a grant is made once. A request is tried again after a failure of the network,
/// after 408, 502 and 504, and after 429 and 503 if they say when (`Retry-After`).
public struct RetryPolicy: Sendable {
    /// The number of tries, the first included.
    public var tries: Int
    /// Seconds before the second try; each further wait is twice as long, and up to half of it is taken away at random.
    public var firstWait: Double
    /// If the service asks for a longer wait, in seconds, its answer is returned as an error.
    public var longestWait: Double

    public init(tries: Int = 3, firstWait: Double = 0.5, longestWait: Double = 10) {
        self.tries = tries
        self.firstWait = firstWait
        self.longestWait = longestWait
    }

    /// Tries once.
    public static let none = RetryPolicy(tries: 1)

    /// The seconds to wait after that many tries; `nil` to give up.
    func wait(after tries: Int, status: Int?, retryAfter: Int?) -> Double? {
        guard tries < self.tries else { return nil }
        switch status {
        case 429, 503:
            guard let retryAfter, Double(retryAfter) <= longestWait else { return nil }
            return Double(retryAfter)
        case nil, 408, 502, 504:
            let most = firstWait * Double(1 << min(tries - 1, 16))
            return min(longestWait, Double.random(in: most / 2...max(most, .leastNonzeroMagnitude)))
        default: return nil
        }
    }
}
