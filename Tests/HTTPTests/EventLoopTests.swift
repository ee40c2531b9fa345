// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import HTTP

/// What is handed back to an event loop is done on its thread, and never lost.
@Suite(.mayBlock) struct EventLoopTests {
    @Test func `what is handed back to a loop runs on its thread, in order`() async throws {
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

    @Test func `what is handed back after a loop has ended runs at once`() async throws {
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

    @Test func `what is handed back while a loop ends is not lost`() async throws {
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
