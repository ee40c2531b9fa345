// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferDomain
import OfferService
import Testing

struct KeyGateTests {
    /// More threads than there are cores, so that each core has some that use the key again and again.
    @Test(arguments: 0..<20)
    func `once a key is off and its uses have been waited for, no core uses it`(attempt: Int) async throws {
        let gate = KeyGate()
        let key = try KeyID("ACTIVE0001")
        let (uses, late, refusals, isOff, isEnough) = (Recorder(), Recorder(), Recorder(), Recorder(), Recorder())
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

    @Test func `a use is waited for wherever it has begun`() async throws {
        let gate = KeyGate()
        let key = try KeyID("ACTIVE0001")
        for _ in 0..<50 {
            let (begun, mayEnd, ended, waited) = (Recorder(), Recorder(), Recorder(), Recorder())
            Thread.detachNewThread {
                _ = gate.use(key) {
                    begun.add()
                    while mayEnd.count == 0 { sched_yield() }
                    ended.add()
                }
            }
            #expect(try await eventually { begun.count == 1 })
            let act = gate.hold(key, by: .service)
            Thread.detachNewThread {
                gate.waitUntilUnused(key)
                if ended.count == 1 { waited.add() }
                waited.add()
            }
            mayEnd.add()
            #expect(try await eventually { waited.count > 0 })
            #expect(try await eventually { waited.count == 2 }, "it was waited for until it had ended")
            gate.release(key, act)
        }
    }
}
