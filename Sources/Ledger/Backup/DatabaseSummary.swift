// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
import Storage
import TransparencyLog

/// What a database file holds that was found to be whole.
package struct DatabaseSummary: Hashable, Sendable {
    /// How many entries the audit log has.
    package let entries: Int64
    /// When the newest was written; `nil` for an empty log.
    package let newestAt: Timestamp?
    /// The size of the file.
    package let bytes: Int

    /// Verifies every page of a file and the whole audit log in it; `name` is what people call it.
    ///
    /// - Throws: ``BackupError/unusable(_:reason:)`` for what this program could not go on with.
    init(verifying path: String, called name: String) throws(BackupError) {
        do throws(StorageError) {
            let connection = try SQLiteConnection(path: path, options: SQLiteOptions(access: .readOnly))
            let version = try Migrations.version(of: connection)
            guard version > 0 else { throw .cannotRead("it is not a database of offer-signer") }
            guard version <= LedgerSchema.migrations.count else {
                throw .schemaTooNew(found: version, supported: LedgerSchema.migrations.count)
            }
            let verdict = try connection.first(SQL("PRAGMA integrity_check(1)")) { $0.text(0) }
            guard verdict == "ok" else { throw .cannotRead("SQLite finds it damaged: \(verdict ?? "no answer")") }
            entries = try Self.verifiedEntries(connection)
            newestAt = try AuditReader.newestTime(connection)
        } catch {
            throw .unusable(name, reason: error.description)
        }
        bytes = FileNames.size(of: path)
    }

    private static func verifiedEntries(_ connection: SQLiteConnection) throws(StorageError) -> Int64 {
        do throws(LogDamage) {
            return try LogVerifier(DatabaseLog(connection: connection), promises: []).run().head.size
        } catch {
            throw .cannotRead("its audit log is damaged. \(error)")
        }
    }
}
