// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import ServiceRuntime
package import Stores

/// What most parts of the service need of the process around them: time, random numbers, counters and the log.
package struct Runtime: Sendable {
    /// The time of day, and time for measuring.
    package let clock: WallClock
    /// Where IDs and nonces come from.
    package let random: any RandomSource
    /// Counts what is done.
    package let metrics: Metrics
    /// Where log lines go.
    package let log: Log

    package init(clock: WallClock, random: any RandomSource, metrics: Metrics = Metrics(), log: Log) {
        self.clock = clock
        self.random = random
        self.metrics = metrics
        self.log = log
    }

    /// The same for the clients of the stores.
    package var stores: StoreRuntime { StoreRuntime(clock: clock, random: random, metrics: metrics, log: log) }
}
