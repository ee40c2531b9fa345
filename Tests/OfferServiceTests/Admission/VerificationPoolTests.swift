// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import OfferService
import Testing

@testable import Stores

/// The threads that verify, and those that search while nothing else runs.
struct VerificationPoolTests {
    private let party: Party

    init() throws { party = .caller(try #require(CallerID("backend"))) }

    @Test(arguments: [(false, ThreadScheduling.yielding), (true, .whenIdle)])
    func `yields to threads that answer requests, or runs only when a processor is idle`(
        onlyWhenIdle: Bool,
        scheduling: ThreadScheduling
    ) async {
        let pool = VerificationPool(threads: 1, onlyWhenIdle: onlyWhenIdle)
        #expect(await pool.run(for: party) { ThreadScheduling.current } == scheduling)
    }

    @Test func `turns away what is more than may wait, and runs the rest`() async throws {
        let pool = VerificationPool(threads: 1, mostOfClass: 2)
        let gate = DispatchSemaphore(value: 0)
        let started = DispatchSemaphore(value: 0)
        async let first = pool.run(for: party) {
            started.signal()
            gate.wait()
            return 0
        }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                started.wait()
                continuation.resume()
            }
        }
        // The first one runs, so that two of these wait and one is turned away at once.
        let answers = await withTaskGroup(of: Int?.self) { group in
            for number in 1...3 { group.addTask { [pool, party] in await pool.run(for: party) { number } } }
            var answers = [await group.next() ?? 0]
            gate.signal()
            for await answer in group { answers.append(answer) }
            return answers
        }
        #expect(answers.first == .some(nil))
        #expect(answers.compactMap(\.self).count == 2)
        #expect(await first == 0)
    }
}

/// How the kernel shares the processors with the thread that asks.
enum ThreadScheduling: Sendable {
    case whenIdle
    /// After the threads that answer requests.
    case yielding
    case other

    /// By the policy in field 41 of the thread's `stat`, and its nice value in field 19.
    ///
    /// Source: proc_pid_stat(5).
    static var current: ThreadScheduling {
        let line = (try? String(contentsOfFile: "/proc/thread-self/stat", encoding: .utf8)) ?? ""
        // What follows the thread's name in parentheses begins with field 3.
        let fields = line.split(separator: ")").last?.split(separator: " ").compactMap { Int($0) ?? 0 } ?? []
        guard fields.count > 38 else { return .other }
        return switch (fields[38], fields[16]) {
        case (5, 0): .whenIdle
        case (0, 10): .yielding
        default: .other
        }
    }
}
