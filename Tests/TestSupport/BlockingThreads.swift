// SPDX-License-Identifier: Apache-2.0
import Foundation
package import Testing

/// Threads for tests that block, so that the few of Swift's shared pool are left to what is tested.
package final class BlockingThreads: TaskExecutor {
    package static let shared = BlockingThreads(count: 16)

    /// Jobs that wait for a thread, under their condition.
    private final class Queue: @unchecked Sendable {
        let condition = NSCondition()
        /// Only touched while the condition is locked.
        private var jobs: [UnownedJob] = []

        func add(_ job: UnownedJob) {
            condition.withLock {
                jobs.append(job)
                condition.signal()
            }
        }

        func next() -> UnownedJob {
            condition.withLock {
                while jobs.isEmpty { condition.wait() }
                return jobs.removeFirst()
            }
        }
    }

    private let queue = Queue()

    private init(count: Int) {
        for _ in 0..<count {
            // They end with the process.
            Thread.detachNewThread { [queue, executor = unsafe asUnownedTaskExecutor()] in
                while true { unsafe queue.next().runSynchronously(on: executor) }
            }
        }
    }

    package func enqueue(_ job: consuming ExecutorJob) { queue.add(UnownedJob(job)) }
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
