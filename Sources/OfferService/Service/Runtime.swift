// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// What most parts of the service need of the process around them: time, random numbers, counters and the log.
package struct Runtime: Sendable {
    package let clock: WallClock
    package let random: any RandomSource
    package let metrics: Metrics
    package let log: Log

    package init(clock: WallClock, random: any RandomSource, metrics: Metrics = Metrics(), log: Log) {
        self.clock = clock
        self.random = random
        self.metrics = metrics
        self.log = log
    }
}
