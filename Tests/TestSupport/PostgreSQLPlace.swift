// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A schema of a test's own in the shared server, removed when the test is done; as good as a database, and cheaper.
package final class PostgreSQLPlace: Sendable {
    package let cluster: PostgreSQLCluster
    /// The name of the schema.
    package let schema: String

    /// Makes an empty one.
    package init() throws {
        cluster = try PostgreSQLCluster.shared()
        schema = "t" + UUID().uuidString.lowercased().replacing("-", with: "")
        try cluster.query("CREATE SCHEMA \(schema)")
    }

    deinit {
        // Connections that are still open may hold it; it goes with the server then.
        _ = try? cluster.query("SET lock_timeout = '1s'; DROP SCHEMA \(schema) CASCADE")
    }

    /// The address by which a service has this schema for its database; `parameters` are further ones.
    package func address(parameters: String = "") -> String {
        let further = parameters.isEmpty ? "" : "&\(parameters)"
        return cluster.address(parameters: "options=-csearch_path%3D\(schema)%2Csqlite\(further)")
    }

    /// Carries out statements, and returns what `psql` prints.
    @discardableResult
    package func query(_ statements: String) throws -> String {
        try cluster.query(statements, schema: schema)
    }
}
