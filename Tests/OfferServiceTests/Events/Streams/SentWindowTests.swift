// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferService

/// What is sent again when a connection without acknowledgements ends.
struct SentWindowTests {
    /// A batch of ten entries each second, the first at second 0.
    private static func window(seconds: Int64, bytes: Int = 1000, acknowledgedAt: Int64? = nil) -> SentWindow {
        var window = SentWindow()
        for second in 0..<seconds {
            window.add(second * 10, upTo: second * 10 + 10, bytes: bytes, at: second * 1000)
            window.settle(isAcknowledged: acknowledgedAt.map { second <= $0 } ?? true, at: second * 1000 + 1)
        }
        return window
    }

    @Test func `what is old and acknowledged counts as read`() {
        let window = Self.window(seconds: 30)
        #expect(window.proven(next: 300, at: 29_000) == 200)
        #expect(window.proven(next: 300, at: 100_000) == 300)
    }

    @Test func `what is not acknowledged does not, however old it is`() {
        var window = Self.window(seconds: 30, acknowledgedAt: 4)
        #expect(window.proven(next: 300, at: 100_000) == 50)
        #expect(window.restart(next: 300, wasReset: false, at: 1_000_000) == 50)
    }

    @Test(arguments: [(true, 7000), (false, 9400)])
    func `what may have lain unread is sent again`(wasReset: Bool, first: Int64) {
        var window = Self.window(seconds: 1000)
        #expect(window.restart(next: 10_000, wasReset: wasReset, at: 999_000) == first)
        #expect(window.restart(next: first, wasReset: wasReset, at: 999_000) == first, "and then nothing is sent")
    }

    @Test func `what was acknowledged four times is not sent a fifth time`() {
        var window = SentWindow()
        for time in Int64(1)...4 {
            window.add(7, upTo: 8, bytes: 100, at: time * 1000)
            window.settle(isAcknowledged: true, at: time * 1000 + 1)
            #expect(
                window.restart(next: 8, wasReset: time.isMultiple(of: 2), at: time * 1000 + 2) == (time < 4 ? 7 : 8)
            )
        }
    }

    @Test func `what is not acknowledged is sent again without end`() {
        var window = SentWindow()
        for time in Int64(1)...100 {
            window.add(7, upTo: 8, bytes: 100, at: time * 1_000_000)
            #expect(window.restart(next: 8, wasReset: false, at: time * 1_000_000 + 500_000) == 7)
        }
    }

    @Test func `what is new after an outage may have lain unread, though it follows what was sent before`() {
        var window = SentWindow()
        window.add(0, upTo: 1, bytes: 100, at: 0)
        window.settle(isAcknowledged: true, at: 1)
        #expect(window.restart(next: 1, wasReset: true, at: 30_000) == 0)
        // Five minutes later, in one batch and in two.
        window.add(0, upTo: 51, bytes: 5000, at: 330_000)
        window.settle(isAcknowledged: true, at: 330_200)
        #expect(window.proven(next: 51, at: 330_200) == 0)
        #expect(window.restart(next: 51, wasReset: false, at: 335_000) == 0)
        window.add(0, upTo: 51, bytes: 5000, at: 340_000)
        window.add(51, upTo: 60, bytes: 900, at: 340_000)
        window.settle(isAcknowledged: true, at: 340_001)
        #expect(window.restart(next: 60, wasReset: false, at: 340_002) == 0)
    }

    @Test func `what was sent in the moment of an acknowledgment is not acknowledged by it`() {
        var window = SentWindow()
        window.settle(isAcknowledged: true, at: 1000)
        window.add(7, upTo: 8, bytes: 100, at: 1000)
        #expect(window.proven(next: 8, at: 100_000) == 7)
    }

    @Test func `what was sent before a replay, or before an enabling, may still lie unread`() {
        var window = Self.window(seconds: 30)
        window.rewind(to: 200)
        #expect(window.proven(next: 200, at: 29_000) == 200)
        window.add(200, upTo: 300, bytes: 1000, at: 29_500)
        window.settle(isAcknowledged: true, at: 29_600)
        #expect(window.restart(next: 300, wasReset: false, at: 40_000) == 0)
    }

    @Test func `a batch that is requested again counts as sent for the first time`() {
        var window = SentWindow()
        for time in Int64(1)...7 {
            window.add(7, upTo: 8, bytes: 100, at: time * 1000)
            window.settle(isAcknowledged: true, at: time * 1000 + 1)
            #expect(window.restart(next: 8, wasReset: true, at: time * 1000 + 2) == (time < 7 ? 7 : 8))
            if time == 3 { window.rewind(to: 7) }
        }
    }

    @Test func `what is sent again counts once in the bytes that are kept`() {
        var window = Self.window(seconds: 10, bytes: SentWindow.keptBytes / 12)
        for _ in 0..<5 { window.rewind(to: 50) }
        for second in Int64(5)..<10 {
            window.add(
                second * 10,
                upTo: second * 10 + 10,
                bytes: SentWindow.keptBytes / 12,
                at: second * 1000 + 10_000
            )
        }
        window.settle(isAcknowledged: true, at: 29_000)
        #expect(window.restart(next: 100, wasReset: true, at: 30_000) == 0)
    }

    @Test func `an empty one has nothing to send again`() {
        var window = SentWindow()
        #expect(window.restart(next: 7, wasReset: true, at: 0) == 7)
    }
}
