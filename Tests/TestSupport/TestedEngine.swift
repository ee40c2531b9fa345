// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The engine that the tests of the service are run over: SQLite, unless `OFFER_SIGNER_TEST_DATABASE` is `postgres`.
package enum TestedEngine {
    package static let isPostgreSQL = ProcessInfo.processInfo.environment["OFFER_SIGNER_TEST_DATABASE"] == "postgres"

    /// For ``TemporaryDirectory/alter(_:_:)``: a column of bytes in whose text one part stands for another.
    package static func replacing(_ old: String, with new: String, in column: String) -> String {
        isPostgreSQL
            ? "replace(\(column), '\(old)', '\(new)')"
            : "CAST(replace(CAST(\(column) AS TEXT), '\(old)', '\(new)') AS BLOB)"
    }
}
