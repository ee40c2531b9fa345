// SPDX-License-Identifier: Apache-2.0
package import Cryptography
import ServiceRuntime
package import Storage

/// The log in the database, through a connection of its own that only reads.
package final class StoredLogHeads: LogHeads {
    private let newestHead: (@Sendable () -> TreeHead)?
    private let open: ConnectionOpener
    private let connection = Guarded<(any DatabaseConnection)?>(nil)

    /// Reads through connections from `open`; `newest` gives the newest durable head, and is `nil` if other instances
    /// add to the log too, so that only the database knows it.
    package init(newest: (@Sendable () -> TreeHead)?, open: @escaping ConnectionOpener) {
        newestHead = newest
        self.open = open
    }

    /// Closes the connection; a later query opens another.
    package func close() { connection.withLock { $0 = nil } }

    /// Without `newest`, the head in the database; `nil` also if it can't be read.
    package var newest: TreeHead? {
        if let newestHead { return newestHead() }
        return try? read { reader throws(AuditReadError) in try reader.head() }
    }

    /// Reads the database; it blocks the thread.
    package func rootHash(ofSize size: Int64) throws(AuditReadError) -> SHA256Digest {
        try read { reader throws(AuditReadError) in try reader.rootHash(ofSize: size) }
    }

    /// Reads the database; it blocks the thread.
    package func consistencyProof(from: Int64, to: Int64) throws(AuditReadError) -> [SHA256Digest] {
        try read { reader throws(AuditReadError) in try reader.consistencyProof(from: from, to: to) }
    }

    private func read<Value>(
        _ body: (LogReader) throws(AuditReadError) -> Value
    ) throws(AuditReadError) -> Value {
        try connection.withLock { connection throws(AuditReadError) in
            let current: any DatabaseConnection = if let connection { connection } else { try reading(open()) }
            connection = current
            do throws(AuditReadError) {
                return try body(LogReader(connection: current))
            } catch {
                // A connection that failed once may fail for ever.
                if case .database = error { connection = nil }
                throw error
            }
        }
    }
}
