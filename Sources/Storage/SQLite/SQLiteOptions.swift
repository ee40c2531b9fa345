// SPDX-License-Identifier: Apache-2.0

/// How a SQLite database is opened.
package struct SQLiteOptions: Hashable, Sendable {
    /// Whether the connection writes, or only reads.
    package let access: DatabaseAccess
    /// Whether a database that does not exist is made, empty, by who writes.
    package let makesDatabase: Bool
    /// How long a statement waits for another connection's lock, before it fails as busy.
    package let busyTimeoutMilliseconds: Int32
    /// Bytes, a power of two from 512 to 65536; for databases that do not exist yet.
    package let pageSize: Int32
    /// At this many pages in the write-ahead log, a commit copies them into the database.
    package let autocheckpointPages: Int32

    /// Sets the options; the defaults suit the service.
    package init(
        access: DatabaseAccess = .readWrite,
        makesDatabase: Bool = true,
        busyTimeoutMilliseconds: Int32 = 5000,
        pageSize: Int32 = 4096,
        autocheckpointPages: Int32 = 1000
    ) {
        self.access = access
        self.makesDatabase = makesDatabase
        self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
        self.pageSize = pageSize
        self.autocheckpointPages = autocheckpointPages
    }
}
