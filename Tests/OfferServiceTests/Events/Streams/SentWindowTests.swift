// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferService

/// What is sent again when a connection without acknowledgements ends.
struct SentWindowTests {
    /// A batch of ten entries each second, the first at second 0.
    private static func window(seconds: Int64, bytes: Int = 1000, acknowledgedAt: Int64? = nil) -> SentWindow {
        var window = SentWindow()
        for second in 0..<seconds {
            window.add(second * 10, bytes: bytes, at: second * 1000)
            window.settle(isAcknowledged: acknowledgedAt.map { second <= $0 } ?? true, at: second * 1000)
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

    @Test func `what is sent again and again counts as read five minutes after the first time`() {
        var window = SentWindow()
        window.add(7, bytes: 100, at: 0)
        for minute in Int64(1)...5 {
            window.settle(isAcknowledged: true, at: minute * 60_000 - 1)
            let first = window.restart(next: 8, wasReset: true, at: minute * 60_000)
            #expect(first == (minute < 5 ? 7 : 8))
            if first == 7 { window.add(7, bytes: 100, at: minute * 60_000) }
        }
    }

    @Test func `an empty one has nothing to send again`() {
        var window = SentWindow()
        #expect(window.restart(next: 7, wasReset: true, at: 0) == 7 && window.oldestAt(0) == nil)
    }
}
