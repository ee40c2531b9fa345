// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Storage

/// Builds the tree over entries that were written before there was one.
///
/// It goes on where it was interrupted; the head counts how many entries are in the tree so far. Two processes may do it
/// at once.
struct LogUpgrade {
    private let connection: any DatabaseConnection
    private let tables: LogTables
    /// How many entries one transaction takes in: it keeps others from writing for well below a second.
    private let batch: Int64

    init(connection: any DatabaseConnection, batch: Int64 = 65_536) {
        self.connection = connection
        tables = LogTables(connection: connection)
        self.batch = batch
    }

    /// Whether every earlier entry is in the tree.
    func isFinished() throws(LedgerError) -> Bool { try end() == nil }

    /// Returns when every earlier entry is in the tree; no transaction may be open.
    func finish() throws(LedgerError) {
        while try end() != nil {
            do { try connection.begin() } catch { throw .database(error) }
            do throws(LedgerError) {
                try takeBatch()
            } catch {
                connection.rollback()
                throw error
            }
            do { try connection.commit() } catch { throw .database(error) }
        }
    }

    /// How many entries there were; nil where all of them are in the tree.
    private func end() throws(LedgerError) -> Int64? {
        do { return try connection.first(SQL("SELECT entries FROM log_upgrade")) { $0.integer(0) } } catch {
            throw .database(error)
        }
    }

    private func takeBatch() throws(LedgerError) {
        // Another process may have come first.
        guard let end = try end() else { return }
        var edge: TreeEdge
        do { edge = try grownEdge(until: end) } catch { throw LedgerError(error) }
        try tables.write(edge.takeChanges(), edge.head)
        guard edge.size == end else { return }
        do { try connection.run(SQL("DELETE FROM log_upgrade")) } catch { throw .database(error) }
    }

    private func grownEdge(until end: Int64) throws(AuditReadError) -> TreeEdge {
        var edge = try tables.edge()
        let until = min(end, edge.size + batch)
        while edge.size < until {
            // A page at a time, so that memory does not grow with the log.
            let page = edge.size..<min(until, edge.size + Int64(TileCoordinate.fullWidth))
            try tables.entries(in: page) { edge.append(TreeHash.leaf($0)) }
        }
        return edge
    }
}
