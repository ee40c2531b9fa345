// SPDX-License-Identifier: Apache-2.0

/// Limits requests by the generic cell rate algorithm: it keeps one number for each key, the instant at which all
/// requests of the key would be worked off at the steady rate.
///
/// Source: ITU-T I.371, virtual scheduling.
package final class RateLimiter<Key: Hashable & Sendable>: Sendable {
    /// In nanoseconds of the stopwatch.
    private let workedOffAt = Guarded<[Key: Int64]>([:])
    private let stopwatch: Stopwatch
    /// How many keys are remembered; keys with nothing to work off are forgotten first.
    private let mostKeys: Int

    /// Remembers nothing yet.
    package init(_ stopwatch: Stopwatch, mostKeys: Int = 65_536) {
        self.stopwatch = stopwatch
        self.mostKeys = mostKeys
    }

    /// Takes room for `count` requests; one call takes at most a burst, so that it can succeed at all.
    ///
    /// - Returns: After how many nanoseconds there is room; `nil` if the room was taken.
    package func take(_ count: Int, for key: Key, _ limit: RateLimit) -> Int64? {
        let now = stopwatch.microseconds * 1000
        let cost = Int64(min(count, limit.burst)) * limit.nanosecondsPerRequest
        let tolerance = Int64(limit.burst) * limit.nanosecondsPerRequest
        return workedOffAt.withLock { workedOffAt in
            let next = max(workedOffAt[key] ?? now, now) + cost
            guard next - now <= tolerance else { return next - now - tolerance }
            if workedOffAt.count >= mostKeys { Self.forgetSome(&workedOffAt, at: now, mostKeys) }
            workedOffAt[key] = next
            return nil
        }
    }

    /// Forgets keys with nothing to work off, then, if needed, the half with the least: they would wait the shortest.
    private static func forgetSome(_ workedOffAt: inout [Key: Int64], at now: Int64, _ mostKeys: Int) {
        workedOffAt = workedOffAt.filter { $0.value > now }
        guard workedOffAt.count >= mostKeys / 2 else { return }
        let median = workedOffAt.values.sorted()[workedOffAt.count / 2]
        workedOffAt = workedOffAt.filter { $0.value > median }
    }
}
