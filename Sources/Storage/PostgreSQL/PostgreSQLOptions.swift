// SPDX-License-Identifier: Apache-2.0

/// How a PostgreSQL database is opened.
package struct PostgreSQLOptions: Hashable, Sendable {
    /// Whether the connection writes, or only reads.
    package let access: DatabaseAccess
    /// How long a statement waits for another connection's lock, before it fails as busy; shorter than an answer may take.
    package let busyTimeoutMilliseconds: Int
    /// How long an answer may take, other than to what changes the schema; then the connection counts as lost.
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
        let answerTimeout = answerTimeoutMilliseconds ?? 15_000
        // Else a lock that is held would look like a server that does not answer.
        self.busyTimeoutMilliseconds = min(busyTimeoutMilliseconds, answerTimeout * 3 / 4)
        self.answerTimeoutMilliseconds = answerTimeout
        self.idleTimeoutMilliseconds = idleTimeoutMilliseconds ?? 1000
    }
}
