// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import OfferService

/// Reloads that are asked for by a signal and by other services at once.
@Suite(.overBothEngines) struct ReloadingTests {
    /// Were two under way at once, what the first of them read could come into force after what the second read.
    @Test func `one begins when the one before it is done`() async throws {
        let reloading = Reloading()
        let state = Mutex((underWay: 0, most: 0, done: 0))
        reloading.set {
            state.withLock {
                $0.underWay += 1
                $0.most = max($0.most, $0.underWay)
            }
            // Long enough for all the others to come in, if they could.
            usleep(20_000)
            state.withLock {
                $0.underWay -= 1
                $0.done += 1
            }
            return true
        }
        for _ in 0..<9 { reloading.start() }
        #expect(await mayBlock { reloading.run() })
        #expect(try await eventually { state.withLock { $0.done } == 10 })
        #expect(state.withLock { $0.most } == 1)
    }

    @Test(arguments: [true, false])
    func `tells whether the files came into force`(didSucceed: Bool) {
        let reloading = Reloading()
        #expect(!reloading.run(), "there is no service yet")
        reloading.set { didSucceed }
        #expect(reloading.run() == didSucceed)
    }
}
