// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import ServiceRuntime
import Testing

@testable import Ledger
@testable import OfferService

/// When more requests would wait for a database server in vain.
struct CommitterPulseTests {
    private let clock = SettableClock()
    private let pulse: CommitterPulse

    init() {
        pulse = CommitterPulse(clock.wallClock.stopwatch())
    }

    @Test func `takes a server that answers a batch for too long for one that does not answer`() {
        #expect(!pulse.isCutOff && !pulse.isLate)
        _ = pulse.beginAsking(clock.wallClock)
        clock.advance(milliseconds: 2000)
        #expect(!pulse.isLate && !pulse.isCutOff)
        clock.advance(milliseconds: 400)
        #expect(pulse.isLate && !pulse.isCutOff)
        clock.advance(milliseconds: 2400)
        #expect(pulse.isCutOff)
        pulse.endAsking()
        #expect(!pulse.isCutOff)
    }

    @Test func `lets one batch try a server that was lost, and refuses others meanwhile`() {
        _ = pulse.beginAsking(clock.wallClock)
        clock.advance(milliseconds: 3000)
        pulse.noteLoss()
        pulse.endAsking()
        #expect(!pulse.isCutOff, "the next batch may try")
        _ = pulse.beginAsking(clock.wallClock)
        #expect(pulse.isCutOff)
        pulse.noteAnswer()
        #expect(!pulse.isCutOff)
    }

    @Test func `every batch tries a server that refuses at once`() {
        _ = pulse.beginAsking(clock.wallClock)
        clock.advance(milliseconds: 100)
        pulse.noteLoss()
        _ = pulse.beginAsking(clock.wallClock)
        #expect(!pulse.isCutOff)
    }

    @Test func `tries to connect again a quarter of a second after a server refused`() {
        clock.advance(milliseconds: 1)
        pulse.noteAttempt(hasFailed: true)
        clock.advance(milliseconds: 249)
        #expect(pulse.pausesAttempts)
        clock.advance(milliseconds: 1)
        #expect(!pulse.pausesAttempts)
        pulse.noteAttempt(hasFailed: true)
        pulse.noteAttempt(hasFailed: false)
        #expect(!pulse.pausesAttempts)
    }

    @Test func `work that asks for no batch does not cut off others`() {
        pulse.begin()
        clock.advance(milliseconds: 60_000)
        #expect(pulse.busyMilliseconds >= 59_000 && !pulse.isCutOff)
        pulse.end()
        #expect(pulse.busyMilliseconds == 0)
    }
}
