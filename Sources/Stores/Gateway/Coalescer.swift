// SPDX-License-Identifier: Apache-2.0
import Ledger
import ServiceRuntime

/// Sends a question once for all callers that ask it at the same time.
///
/// The work runs in its own task. A canceled caller stops only its own wait; the task is canceled when no caller waits.
/// The answer is not cached: a later caller starts a new request.
final class Coalescer<Question: Hashable & Sendable, Answer: Sendable>: Sendable {
    typealias Outcome = Result<Answer, StoreError>

    private enum Step {
        case isCancelled, joins, begins
    }

    private struct Asked {
        let number: Int
        var work: Task<Void, Never>?
        var waiting: [Int: CheckedContinuation<Outcome, Never>] = [:]
    }

    private struct State {
        var asked: [Question: Asked] = [:]
        var lastNumber = 0
        /// Waiters that were canceled before they began to wait.
        var cancelledEarly: Set<Int> = []
        var arriving: Set<Int> = []
    }

    private let state = Guarded(State())
    /// Called for each question that is already in flight.
    private let joined: @Sendable (Question) -> Void

    init(joined: @escaping @Sendable (Question) -> Void = { _ in }) {
        self.joined = joined
    }

    /// Returns the result of `find`, or of the `find` that is already running for the same question.
    func answer(
        to question: Question,
        _ find: @escaping @Sendable () async -> Outcome
    ) async throws(StoreError) -> Answer {
        let waiter = state.withLock { state in
            state.lastNumber += 1
            state.arriving.insert(state.lastNumber)
            return state.lastNumber
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { wait(for: question, as: waiter, $0, find) }
        } onCancel: {
            leave(question, waiter)
        }
        return try outcome.get()
    }

    private func wait(
        for question: Question,
        as waiter: Int,
        _ continuation: CheckedContinuation<Outcome, Never>,
        _ find: @escaping @Sendable () async -> Outcome
    ) {
        let step = state.withLock { state -> Step in
            state.arriving.remove(waiter)
            guard state.cancelledEarly.remove(waiter) == nil else { return .isCancelled }
            let isFirst = state.asked[question] == nil
            state.asked[question, default: Asked(number: waiter)].waiting[waiter] = continuation
            return isFirst ? .begins : .joins
        }
        switch step {
        case .isCancelled: continuation.resume(returning: .failure(.cancelled))
        case .joins: joined(question)
        case .begins: begin(question, number: waiter, find)
        }
    }

    private func begin(_ question: Question, number: Int, _ find: @escaping @Sendable () async -> Outcome) {
        let work = Task { [self] in finish(question, number: number, with: await find()) }
        let isUnwanted = state.withLock { state in
            guard state.asked[question]?.number == number else { return true }
            state.asked[question]?.work = work
            return false
        }
        if isUnwanted { work.cancel() }
    }

    private func finish(_ question: Question, number: Int, with outcome: Outcome) {
        let waiting = state.withLock { state -> [CheckedContinuation<Outcome, Never>] in
            guard let asked = state.asked[question], asked.number == number else { return [] }
            state.asked[question] = nil
            return Array(asked.waiting.values)
        }
        for continuation in waiting { continuation.resume(returning: outcome) }
    }

    private func leave(_ question: Question, _ waiter: Int) {
        let (continuation, work) = state.withLock {
            state -> (CheckedContinuation<Outcome, Never>?, Task<Void, Never>?) in
            guard !state.arriving.contains(waiter) else {
                state.cancelledEarly.insert(waiter)
                return (nil, nil)
            }
            guard let continuation = state.asked[question]?.waiting.removeValue(forKey: waiter) else {
                return (nil, nil)
            }
            guard state.asked[question]?.waiting.isEmpty == true else { return (continuation, nil) }
            defer { state.asked[question] = nil }
            return (continuation, state.asked[question]?.work)
        }
        work?.cancel()
        continuation?.resume(returning: .failure(.cancelled))
    }
}
