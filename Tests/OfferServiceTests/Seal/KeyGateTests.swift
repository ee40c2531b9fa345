// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferDomain
import OfferService
import Testing

@testable import Ledger

struct KeyGateTests {
    @Test func `once a key is off and its uses have been waited for, no thread uses it`() async throws {
        for _ in 0..<20 { try await switchOffAmidUses() }
    }

    private func switchOffAmidUses() async throws {
        let gate = KeyGate()
        let key = try KeyID("ACTIVE0001")
        let (uses, late, refusals, isOff, isEnough) = (Recorder(), Recorder(), Recorder(), Recorder(), Recorder())
        // Enough that each core has some.
        let users = 4 * ProcessInfo.processInfo.processorCount
        let ended = Recorder()
        for _ in 0..<users {
            Thread.detachNewThread {
                while isEnough.count == 0 {
                    let use = gate.use(key) {
                        uses.add()
                        // Asked last: what has begun before may go on for a while.
                        if isOff.count > 0 { late.add() }
                    }
                    if case .failure = use { refusals.add() }
                }
                ended.add()
            }
        }
        #expect(try await eventually { uses.count > 500 })
        _ = gate.hold(key, by: .service)
        gate.waitUntilUnused(key)
        isOff.add()
        #expect(try await eventually { refusals.count > 500 })
        isEnough.add()
        #expect(try await eventually { ended.count == users })
        #expect(late.count == 0)
    }
}
