// SPDX-License-Identifier: Apache-2.0
package import Testing

/// Marks a test that needs the machine for itself, among the tests of its suite's ``ConcurrencyTrait``.
package struct AloneTrait: SuiteTrait, TestTrait {
    /// What would go wrong beside other tests.
    package let comments: [Comment]

    package var isRecursive: Bool { true }
}

/// Lets a number of the suite's tests run at once, on ``BlockingThreads``, and one that is marked ``AloneTrait`` by itself.
package struct ConcurrencyTrait: SuiteTrait, TestTrait, TestScoping {
    let turnstile: Turnstile

    package var isRecursive: Bool { true }

    package func scopeProvider(for test: Test, testCase: Test.Case?) -> ConcurrencyTrait? {
        testCase == nil ? nil : self
    }

    @concurrent package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let places = test.traits.contains { $0 is AloneTrait } ? turnstile.places : 1
        await turnstile.enter(places: places)
        defer { turnstile.leave(places: places) }
        try await withTaskExecutorPreference(BlockingThreads.shared) { try await function() }
    }
}

extension Trait where Self == AloneTrait {
    /// Runs while no other test of the suite does; the comment says why.
    package static func alone(_ why: Comment) -> Self { AloneTrait(comments: [why]) }
}

extension Trait where Self == ConcurrencyTrait {
    /// At most `count` tests of the suite, and of those in it, run at once.
    package static func atMost(_ count: Int) -> Self { ConcurrencyTrait(turnstile: Turnstile(places: count)) }
}
