// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import ServiceRuntime
import Testing

/// What may happen any number of times, and is reported once a minute.
struct OnceAMinuteTests {
    @Test func `admits each thing once a minute, whatever becomes of the clock`() {
        let sparing = OnceAMinute<String>()
        let noon = Timestamp(milliseconds: 1_800_000_000_000)
        func admits(_ key: String, _ seconds: Int) -> Bool { sparing.admits(key, at: noon.adding(seconds: seconds)) }
        #expect(admits("a", 0))
        #expect(!admits("a", 0))
        #expect(admits("b", 1))
        #expect(!admits("a", 59))
        #expect(admits("a", 60))
        #expect(!admits("b", 60))
        #expect(admits("a", -3600), "the clock was put back")
        #expect(!admits("a", -3599))
    }
}
