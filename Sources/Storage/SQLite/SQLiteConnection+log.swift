// SPDX-License-Identifier: Apache-2.0
import CSQLite

/// Source: [SQLite, write-ahead logging](https://sqlite.org/wal.html), sections 2.1 and 3.
extension SQLiteConnection: WriteAheadLogging {
    /// Sets the hook with which SQLite would otherwise checkpoint after 1000 pages, and counts ``pagesInLog`` in it.
    package func leaveLogToOthers() {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        // Replaces the hook by which SQLite itself runs checkpoints.
        unsafe sqlite3_wal_hook(handle, logHasGrown, context)
    }

    /// A checkpoint of mode `PASSIVE`, which waits for no reader or writer; it is no error if another one runs.
    package func carryOverLog() throws(StorageError) {
        let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        guard code == SQLITE_OK || code & 0xFF == SQLITE_BUSY else { throw unsafe .sqlite(handle) }
    }

    /// Runs a checkpoint of the whole log, and empties it; waits for readers as long as for a lock.
    package func emptyLog() throws(StorageError) {
        let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard code == SQLITE_OK else { throw unsafe .sqlite(handle) }
    }
}

/// Called by SQLite within a commit.
private func logHasGrown(
    context: UnsafeMutableRawPointer?,
    connection _: OpaquePointer?,
    database _: UnsafePointer<CChar>?,
    pages: Int32
) -> Int32 {
    guard let context = unsafe context else { return SQLITE_OK }
    unsafe Unmanaged<SQLiteConnection>.fromOpaque(context).takeUnretainedValue().pagesInLog = Int(pages)
    return SQLITE_OK
}
