// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import HTTP

/// An event loop runs each closure of `handBack` on its thread, and loses none.
@Suite(.mayBlock) struct EventLoopTests {
    @Test func `runs closures on its thread, in order`() async throws {
        let (loop, other) = (try EventLoop(), try EventLoop())
        #expect(EventLoop.current == nil)
        let places = Mutex<[(number: Int, isOwn: Bool)]>([])
        await withCheckedContinuation { hasEnded in
            for loop in [loop, other] {
                Thread.detachNewThread {
                    loop.run()
                    if loop === other { hasEnded.resume() }
                }
            }
            for number in 0..<100 {
                loop.handBack { places.withLock { $0.append((number, EventLoop.current === loop)) } }
            }
            // From one loop to another, and to itself.
            loop.handBack {
                loop.handBack {
                    other.handBack {
                        #expect(EventLoop.current === other)
                        other.finish()
                    }
                    loop.finish()
                }
            }
        }
        let run = places.withLock { $0 }
        #expect(run.map(\.number) == Array(0..<100))
        #expect(run.filter(\.isOwn).count == 100)
    }

    @Test func `runs a closure at once after it has ended`() async throws {
        let loop = try EventLoop()
        await withCheckedContinuation { hasEnded in
            Thread.detachNewThread {
                loop.run()
                #expect(EventLoop.current == nil)
                hasEnded.resume()
            }
            loop.perform { loop.finish() }
        }
        #expect(loop.hasEnded)
        let hasRun = Mutex(false)
        loop.handBack { hasRun.withLock { $0 = true } }
        #expect(hasRun.withLock { $0 })
    }

    @Test func `loses no closure while it ends`() async throws {
        for _ in 0..<20 {
            let loop = try EventLoop()
            let count = Mutex(0)
            let handedBack = 200
            await withCheckedContinuation { hasEnded in
                Thread.detachNewThread {
                    loop.run()
                    hasEnded.resume()
                }
                loop.perform { loop.finish() }
                for _ in 0..<handedBack { loop.handBack { count.withLock { $0 += 1 } } }
            }
            #expect(count.withLock { $0 } == handedBack)
        }
    }
}
