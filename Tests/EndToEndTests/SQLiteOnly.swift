// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

extension Trait where Self == ConditionTrait {
    /// For tests that are about SQLite's files.
    static var aboutSQLite: Self { .enabled(if: !TestedEngine.isPostgreSQL, "is about SQLite's files") }
}
