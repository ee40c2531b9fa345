// SPDX-License-Identifier: Apache-2.0
package import Storage

/// Makes a backup of an SQLite database, which the service may use meanwhile.
package struct LedgerBackup {
    private let location: DatabaseLocation

    package init(of location: DatabaseLocation) {
        self.location = location
    }

    /// Copies the database into one file that only its owner can read, and verifies the copy before it gets its name.
    ///
    /// The name appears only when the whole backup is on disk.
    package func run(to path: String) throws(BackupError) -> DatabaseSummary {
        guard case .sqlite = location else { throw .onServer }
        guard !FileNames.exists(path) else { throw .exists(path) }
        let draft = path + ".partial"
        guard !FileNames.exists(draft) else { throw .remains(draft) }
        do throws(StorageError) {
            try SQLiteCopy.make(of: try source(), at: draft)
        } catch {
            throw .storage(error)
        }
        defer { FileNames.remove(draft) }
        let summary = try DatabaseSummary(verifying: draft, called: path)
        do throws(StorageError) {
            try FileNames.link(draft, as: path)
            try FileNames.syncFolder(of: path)
        } catch {
            throw .storage(error)
        }
        return summary
    }

    /// A connection that can write, because it leaves no files beside an unused database; otherwise a read-only one.
    private func source() throws(StorageError) -> SQLiteConnection {
        do throws(StorageError) {
            if let connection = try location.connectToFile() { return connection }
        } catch {
            switch error {
            case .readOnly, .cannotOpen: break
            default: throw error
            }
        }
        guard let connection = try location.connect(.readOnly) as? SQLiteConnection else {
            throw .cannotRead("the database is not a file")
        }
        return connection
    }
}
