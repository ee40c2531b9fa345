// SPDX-License-Identifier: Apache-2.0

/// A connection whose commits go to a write-ahead log first, and from there to their pages in the database.
///
/// A log that was carried over to its end is begun anew by the next commit, unless somebody still reads from it.
package protocol WriteAheadLogging: DatabaseConnection {
    /// How many pages were in the log after the last commit of this connection.
    var pagesInLog: Int { get }

    /// From now on no commit carries pages over, however many there are.
    func leaveLogToOthers()

    /// Carries over what is committed, and is durable when this returns; commits go on meanwhile.
    ///
    /// Nothing is done while somebody else does the same.
    func carryOverLog() throws(StorageError)
}
