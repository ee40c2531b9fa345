// SPDX-License-Identifier: Apache-2.0
import OfferDomain
package import Storage

/// Moves the whole history of a service into another database: ledger, callers, log, checkpoints, index.
///
/// No service may use either meanwhile. The other database gets all of it in one transaction, or nothing; the log is then
/// computed again from what arrived and held to the head that it had, before an entry says that it moved.
package struct LedgerMove {
    private let source: LedgerAccess
    private let target: LedgerAccess

    package init(from source: LedgerAccess, to target: LedgerAccess) {
        self.source = source
        self.target = target
    }

    /// What was moved.
    package struct Outcome: Hashable, Sendable {
        /// How many rows there are in all tables.
        package let rows: Int64
        /// How many entries the log has, without the one that says that it moved.
        package let entries: Int64
    }

    /// Moves everything; the source stays as it is.
    package func run() throws(LedgerMoveError) -> Outcome {
        guard source.exists else { throw .nothingToMove }
        let locks = try Self.database { () throws(StorageError) in
            (try source.lockInstance(), try target.lockInstance())
        }
        defer { for lock in [locks.0, locks.1] { lock?.release() } }
        let (from, to) = try Self.database { () throws(StorageError) in (try source.open(), try target.open()) }
        try demandNoInstances(from)
        try demandNoInstances(to)
        let head = try Self.ledger { () throws(LedgerError) in try LedgerWriter(connection: from).checkedHead() }
        let rows = try copy(from, to)
        try verify(to, head)
        try Self.record(target, head.size)
        return Outcome(rows: rows, entries: head.size)
    }

    private func demandNoInstances(_ connection: any DatabaseConnection) throws(LedgerMoveError) {
        let names = try Self.database { () throws(StorageError) in
            try InstanceTable(connection: connection).all().map(\.instance.name)
        }
        guard names.isEmpty else { throw .inUse(names) }
    }

    private func copy(
        _ from: any DatabaseConnection,
        _ to: any DatabaseConnection
    ) throws(LedgerMoveError) -> Int64 {
        var rows: Int64 = 0
        do throws(LedgerMoveError) {
            try Self.database { () throws(StorageError) in try to.begin() }
            try demandEmpty(to)
            for table in Self.tables { rows += try copy(table, from, to) }
            try Self.database { () throws(StorageError) in try to.commit() }
        } catch {
            to.rollback()
            throw error
        }
        return rows
    }

    /// Takes away what a new database begins with; throws where there is more.
    private func demandEmpty(_ connection: any DatabaseConnection) throws(LedgerMoveError) {
        let isEmpty = try Self.database { () throws(StorageError) in
            for occupied in Self.occupied where try connection.first(occupied, { _ in true }) != nil {
                return false
            }
            for statement in Self.beginnings { try connection.run(statement) }
            return true
        }
        guard isEmpty else { throw .targetNotEmpty }
    }

    private static let occupied = [
        SQL("SELECT 1 FROM audit_entries LIMIT 1"), SQL("SELECT 1 FROM callers LIMIT 1"),
        SQL("SELECT 1 FROM grants LIMIT 1"), SQL("SELECT 1 FROM key_states LIMIT 1"),
        SQL("SELECT 1 FROM checkpoints LIMIT 1"), SQL("SELECT 1 FROM customer_epochs LIMIT 1"),
    ]

    private static let beginnings = [SQL("DELETE FROM log_head"), SQL("DELETE FROM audit_index_state")]

    private func copy(
        _ table: Table,
        _ from: any DatabaseConnection,
        _ to: any DatabaseConnection
    ) throws(LedgerMoveError) -> Int64 {
        var (count, failure) = (Int64(0), StorageError?.none)
        try Self.database { () throws(StorageError) in
            try from.rows(SQL(table.select)) { row in
                guard failure == nil else { return }
                var values: [SQLValue] = []
                for column in 0..<table.columns { values.append(row.value(column)) }
                do throws(StorageError) { try to.enqueue(SQL(table.insert, values)) } catch { failure = error }
                count += 1
            }
        }
        if let failure { throw .database(failure) }
        return count
    }

    /// Computes the log's root from the entries that arrived.
    private func verify(_ connection: any DatabaseConnection, _ head: TreeHead) throws(LedgerMoveError) {
        let tables = LogTables(connection: connection)
        var edge = TreeEdge()
        do throws(AuditReadError) {
            while edge.size < head.size {
                let page = edge.size..<min(head.size, edge.size + Int64(TileCoordinate.fullWidth))
                try tables.entries(in: page) { edge.append(TreeHash.leaf($0)) }
                _ = edge.takeChanges()
            }
            guard edge.head == head, try tables.head() == head, try tables.entryCount() == head.size else {
                throw .log(.rootDiffers(size: head.size))
            }
        } catch {
            throw .unverified(error)
        }
        let writer = LedgerWriter(connection: connection, after: head)
        guard try Self.ledger({ () throws(LedgerError) in try writer.checkedHead() }) == head else {
            throw .unverified(.log(.rootDiffers(size: head.size)))
        }
    }

    private static func record(_ target: LedgerAccess, _ entries: Int64) throws(LedgerMoveError) {
        do throws(LedgerChangeError<LedgerMoveError>) {
            try target.change { _ throws(LedgerMoveError) in [.ledgerMoved(entries: entries)] }
        } catch {
            switch error {
            case .refused(let error): throw error
            case .ledger(let error): throw .ledger(error)
            }
        }
    }

    private static func database<Value>(
        _ body: () throws(StorageError) -> Value
    ) throws(LedgerMoveError) -> Value {
        do { return try body() } catch { throw .database(error) }
    }

    private static func ledger<Value>(_ body: () throws(LedgerError) -> Value) throws(LedgerMoveError) -> Value {
        do { return try body() } catch { throw .ledger(error) }
    }
}

/// Why a history was not moved; the source is as it was, and the other database too unless it says otherwise.
package enum LedgerMoveError: Error, Sendable, CustomStringConvertible {
    case nothingToMove
    /// The other database holds a history of its own.
    case targetNotEmpty
    /// Services use it.
    case inUse([String])
    case database(StorageError)
    case ledger(LedgerError)
    /// What arrived is not what was sent; it is in the other database, which is not to be used.
    case unverified(AuditReadError)

    package var description: String {
        switch self {
        case .nothingToMove: "there is no database to move from"
        case .targetNotEmpty:
            "the database to move to has records already; make a new one, so that no two histories are mixed"
        case .inUse(let names): "stop the services that use the database first: \(names.joined(separator: ", "))"
        case .database(let error): error.description
        case .ledger(let error): error.description
        case .unverified(let error):
            "what arrived is not the log that was sent; drop the new database and go on with the old one. \(error)"
        }
    }
}
