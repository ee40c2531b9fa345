// SPDX-License-Identifier: Apache-2.0
import Foundation
package import Testing

/// Threads for tests that block, so that the few of Swift's shared pool are left to what is tested.
package final class BlockingThreads: TaskExecutor {
    package static let shared = BlockingThreads()

    /// Jobs that wait for a thread, under their condition.
    private final class Queue: @unchecked Sendable {
        let condition = NSCondition()
        /// Only touched while the condition is locked, as is the number below.
        private var jobs: [UnownedJob] = []
        private var (threads, idleThreads) = (0, 0)

        /// Whether it needs one more thread.
        func add(_ job: UnownedJob) -> Bool {
            condition.withLock {
                jobs.append(job)
                condition.signal()
                guard jobs.count > idleThreads, threads < BlockingThreads.most else { return false }
                threads += 1
                return true
            }
        }

        func next() -> UnownedJob {
            condition.withLock {
                idleThreads += 1
                defer { idleThreads -= 1 }
                while jobs.isEmpty { condition.wait() }
                return jobs.removeFirst()
            }
        }
    }

    private let queue = Queue()

    /// Each thread that makes random numbers takes some of OpenSSL's secure heap, for good.
    private static let most = 24

    /// There are as many threads as have been needed at once; they end with the process.
    package func enqueue(_ job: consuming ExecutorJob) {
        guard queue.add(UnownedJob(job)) else { return }
        Thread.detachNewThread { [queue, executor = unsafe asUnownedTaskExecutor()] in
            while true { unsafe queue.next().runSynchronously(on: executor) }
        }
    }
}

/// Runs tests on ``BlockingThreads``.
package struct BlockingTrait: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func scopeProvider(for test: Test, testCase: Test.Case?) -> BlockingTrait? { testCase == nil ? nil : self }

    @concurrent package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(BlockingThreads.shared) { try await function() }
    }
}

extension Trait where Self == BlockingTrait {
    /// For tests that wait for sockets and processes without suspending.
    package static var mayBlock: Self { BlockingTrait() }
}
