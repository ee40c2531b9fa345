// SPDX-License-Identifier: Apache-2.0

/// How a PostgreSQL database is opened.
package struct PostgreSQLOptions: Hashable, Sendable {
    /// Whether the connection writes, or only reads.
    package let access: DatabaseAccess
    /// How long a statement waits for another connection's lock, before it fails as busy.
    package let busyTimeoutMilliseconds: Int
    /// How long an answer may take, other than to what changes the schema; then the connection counts as lost.
    ///
    /// Longer than ``busyTimeoutMilliseconds``.
    package let answerTimeoutMilliseconds: Int
    /// A writer that does nothing for so long within a transaction loses its connection, and others go on.
    package let idleTimeoutMilliseconds: Int

    /// Sets the options; as they stand they suit the service.
    package init(
        access: DatabaseAccess = .readWrite,
        busyTimeoutMilliseconds: Int = 5000,
        answerTimeoutMilliseconds: Int? = nil,
        idleTimeoutMilliseconds: Int? = nil
    ) {
        self.access = access
        self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
        self.answerTimeoutMilliseconds = answerTimeoutMilliseconds ?? 15_000
        self.idleTimeoutMilliseconds = idleTimeoutMilliseconds ?? 1000
    }
}
