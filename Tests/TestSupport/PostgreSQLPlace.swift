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
        try cluster.query(statements, schema: "\(schema),sqlite")
    }

    /// Makes it empty again.
    package func removeTables() throws {
        try query("DROP SCHEMA \(schema) CASCADE; CREATE SCHEMA \(schema)")
    }

    /// Becomes what another one is.
    package func becomeCopy(of other: PostgreSQLPlace) throws {
        try query("DROP SCHEMA \(schema) CASCADE")
        try cluster.copySchema(other.schema, to: schema)
    }

    func tables() throws -> [Substring] {
        try query("SELECT tablename FROM pg_tables WHERE schemaname = '\(schema)'").split(separator: "\n")
    }

    /// Each value of each table; those of bytes as the bytes that they are.
    package func contents() throws -> [UInt8] {
        let rows = try query(tables().map { "SELECT t::text FROM \($0) t" }.joined(separator: " UNION ALL "))
        return rows.split(separator: "\\x", omittingEmptySubsequences: false).enumerated().flatMap { place, part in
            guard place > 0 else { return Array(part.utf8) }
            let digits = part.utf8.prefix { Character(Unicode.Scalar($0)).isHexDigit }
            return Self.bytes(ofHexadecimal: digits) + Array(part.utf8.dropFirst(digits.count))
        }
    }

    private static func bytes(ofHexadecimal digits: Substring.UTF8View.SubSequence) -> [UInt8] {
        let values = digits.compactMap { Character(Unicode.Scalar($0)).hexDigitValue.map { UInt8($0) } }
        return stride(from: 1, to: values.count, by: 2).map { values[$0 - 1] << 4 | values[$0] }
    }
}
