// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The database engine that a test runs over.
package enum TestedEngine: String, CaseIterable, Sendable {
    case sqlite, postgres

    /// The only engine of this test run, if `OFFER_SIGNER_TEST_DATABASE` names one; `nil` lets traits choose.
    package static let ofRun = ProcessInfo.processInfo.environment["OFFER_SIGNER_TEST_DATABASE"].map { name in
        guard let engine = TestedEngine(rawValue: name) else {
            preconditionFailure("OFFER_SIGNER_TEST_DATABASE is \(name); expected sqlite or postgres")
        }
        return engine
    }

    /// The engine that a trait chose for the current test; `nil` outside of such traits.
    @TaskLocal package static var chosen: TestedEngine?

    /// The engine of the current test: what a trait chose, or the run's, or SQLite.
    package static var current: TestedEngine { chosen ?? ofRun ?? .sqlite }

    package static var isPostgreSQL: Bool { current == .postgres }

    /// For ``TemporaryDirectory/alter(_:_:)``: a column of bytes with one part of its text replaced.
    package static func replacing(_ old: String, with new: String, in column: String) -> String {
        isPostgreSQL
            ? "replace(\(column), '\(old)', '\(new)')"
            : "CAST(replace(CAST(\(column) AS TEXT), '\(old)', '\(new)') AS BLOB)"
    }
}
