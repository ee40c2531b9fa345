// SPDX-License-Identifier: Apache-2.0

/// A connection whose commits go to a write-ahead log first, and from there to their pages in the database.
///
/// Once the whole log is copied into the database, the next commit restarts the log, unless a reader still uses it.
package protocol WriteAheadLogging: DatabaseConnection {
    /// How many pages were in the log after the last commit of this connection.
    var pagesInLog: Int { get }

    /// From now on no commit copies pages into the database, however many the log has.
    func leaveLogToOthers()

    /// Copies what is committed from the log into the database, durably; commits continue meanwhile.
    ///
    /// Does nothing while another connection does the same.
    func carryOverLog() throws(StorageError)
}
