// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The engine that the tests of the service are run over: SQLite, unless `OFFER_SIGNER_TEST_DATABASE` is `postgres`.
package enum TestedEngine {
    package static let isPostgreSQL = ProcessInfo.processInfo.environment["OFFER_SIGNER_TEST_DATABASE"] == "postgres"
}
