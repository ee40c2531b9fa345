// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// How often and when a store is asked again.
package struct RetryPolicy: Hashable, Sendable {
    /// Requests for one question in all, the first included.
    package var attempts: Int
    /// The longest pause before the second attempt; each later one may be twice as long as the one before.
    package var firstPauseMilliseconds: Int64
    /// No pause between two attempts is longer than this.
    package var longestPauseMilliseconds: Int64
    /// For one request.
    package var attemptMilliseconds: Int64
    /// For a question with all its attempts, pauses and pages.
    package var overallMilliseconds: Int64

    package init(
        attempts: Int = 3,
        firstPauseMilliseconds: Int64 = 200,
        longestPauseMilliseconds: Int64 = 2000,
        attemptMilliseconds: Int64 = 4000,
        overallMilliseconds: Int64 = 10_000
    ) {
        self.attempts = attempts
        self.firstPauseMilliseconds = firstPauseMilliseconds
        self.longestPauseMilliseconds = longestPauseMilliseconds
        self.attemptMilliseconds = attemptMilliseconds
        self.overallMilliseconds = overallMilliseconds
    }

    /// Returns a random pause, uniform from zero to the longest after that many attempts (“full jitter”), so that
    /// callers that failed together do not retry together.
    func pauseMilliseconds(after attempts: Int, _ random: any RandomSource) -> Int64 {
        let doublings = min(max(0, attempts - 1), 20)
        let longest = min(longestPauseMilliseconds, firstPauseMilliseconds << Int64(doublings))
        return longest > 0 ? Int64(random.next() % UInt64(longest + 1)) : 0
    }
}
