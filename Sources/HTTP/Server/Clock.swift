// SPDX-License-Identifier: Apache-2.0
// Which header provides `timespec` depends on the order in which modules are read; in a release build it is curl's.
import CCurl
import Glibc

/// Nanoseconds on a clock that only goes forward, exact to a few milliseconds and cheap to read; deadlines need no more.
func coarseNow() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

extension Duration {
    /// 0 for what is negative; at most some centuries.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        return UInt64(min(seconds, 10_000_000_000)) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
}
