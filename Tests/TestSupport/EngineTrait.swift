// SPDX-License-Identifier: Apache-2.0
package import Testing

/// Runs each test that it applies to once over each of some engines.
///
/// On a test inside a suite that has one, too, the test runs over the engines that both name. If
/// `OFFER_SIGNER_TEST_DATABASE` names an engine, no other is used.
package struct EngineTrait: SuiteTrait, TestTrait, TestScoping {
    let engines: [TestedEngine]

    package var isRecursive: Bool { true }

    package func scopeProvider(for test: Test, testCase: Test.Case?) -> EngineTrait? { testCase == nil ? nil : self }

    @concurrent package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let only = TestedEngine.chosen ?? TestedEngine.ofRun
        for engine in engines where only == nil || only == engine {
            try await TestedEngine.$chosen.withValue(engine) {
                try await withTaskExecutorPreference(BlockingThreads.shared) {
                    try await naming(engine).provideScope(for: test, testCase: testCase, performing: function)
                }
            }
        }
    }

    /// Adds the engine to whatever the test reports.
    private func naming(_ engine: TestedEngine) -> IssueHandlingTrait {
        .compactMapIssues { issue in
            var issue = issue
            issue.comments.append("over \(engine.rawValue)")
            return issue
        }
    }
}

extension Trait where Self == EngineTrait {
    /// For tests that exercise SQL: they run over SQLite and over PostgreSQL.
    package static var overBothEngines: Self { EngineTrait(engines: TestedEngine.allCases) }

    /// For tests that are about SQLite's files.
    package static var aboutSQLite: Self { EngineTrait(engines: [.sqlite]) }

    /// For tests that are too large to be run over each engine; smaller tests run their statements over both.
    package static var overSQLite: Self { EngineTrait(engines: [.sqlite]) }

    /// For tests that are about a server that several services share.
    package static var aboutPostgreSQL: Self { EngineTrait(engines: [.postgres]) }
}
