// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferDomain
import OfferService
import Testing

@testable import Ledger

struct KeyUseGuardTests {
    @Test func `no thread uses a disabled key once the uses that had begun have ended`() async throws {
        for _ in 0..<20 { try await disableAmidUses() }
    }

    private func disableAmidUses() async throws {
        let keyUseGuard = KeyUseGuard()
        let key = try KeyID("ACTIVE0001")
        let (uses, late, refusals, isDisabled, isEnough) = (Recorder(), Recorder(), Recorder(), Recorder(), Recorder())
        // Enough that each core has some.
        let users = 4 * ProcessInfo.processInfo.processorCount
        let ended = Recorder()
        for _ in 0..<users {
            Thread.detachNewThread {
                while isEnough.count == 0 {
                    let use = keyUseGuard.use(key) {
                        uses.add()
                        // Read last: a use that began before may last for a while.
                        if isDisabled.count > 0 { late.add() }
                    }
                    if case .failure = use { refusals.add() }
                }
                ended.add()
            }
        }
        #expect(try await eventually { uses.count > 500 })
        _ = keyUseGuard.hold(key, by: .service)
        keyUseGuard.waitUntilUnused(key)
        isDisabled.add()
        #expect(try await eventually { refusals.count > 500 })
        isEnough.add()
        #expect(try await eventually { ended.count == users })
        #expect(late.count == 0)
    }
}
