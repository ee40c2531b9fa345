// SPDX-License-Identifier: Apache-2.0
package import ServiceRuntime
package import Stores

/// Runs searches, which compute for some tenths of a second, while the processors have nothing else to do.
///
/// On a busy machine that may be never. A search that has not ended in time is given up and run on a thread that gets a small
/// share of the processors, whatever else runs.
package struct SearchPool: Sendable {
    private let whenIdle: VerificationPool
    private let beside: VerificationPool
    private let patience: Patience

    /// - Parameter pause: Waits until a search is given up, a second.
    package init(pause: Pause = .system) {
        whenIdle = VerificationPool(threads: 1, mostOfClass: 32, onlyWhenIdle: true)
        beside = VerificationPool(threads: 1, mostOfClass: 32)
        patience = Patience(milliseconds: 1_000, pause: pause)
    }

    /// What `search` returns, once it is the party's turn; `nil` if too much waits already.
    package func run<Value: Sendable>(
        for party: Party,
        _ search: @escaping @Sendable () -> Value
    ) async -> Value? {
        let isGivenUp = Guarded(false)
        let outcome = await patience.value(
            of: { [whenIdle] in
                // What was given up before it began takes no time from others.
                let found = await whenIdle.run(for: party) { isGivenUp.withLock(\.self) ? nil : search() }
                return found.map(Outcome.ended) ?? .refused
            },
            late: {
                isGivenUp.withLock { $0 = true }
                return .givenUp
            }
        )
        return switch outcome {
        case .ended(let value): value
        case .refused: nil
        case .givenUp: await beside.run(for: party, search)
        }
    }

    private enum Outcome<Value: Sendable>: Sendable {
        case ended(Value?)
        case refused
        case givenUp
    }
}
