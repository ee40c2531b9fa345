// SPDX-License-Identifier: Apache-2.0
import OfferDomain
package import ServiceRuntime
package import Storage
package import TransparencyLog

/// Moves the whole history of a service into another database: ledger, callers, log, checkpoints, index.
///
/// No service may use either database meanwhile. The target gets everything in one transaction, or nothing. Then the
/// log is computed again from the target and compared with the source's head, before an entry records the move.
package struct LedgerMove {
    let source: LedgerAccess
    let target: LedgerAccess
    private let pause: Pause
    private let progress: ProgressReport

    /// Waits for the given number of milliseconds.
    package typealias Pause = (_ milliseconds: Int64) -> Void

    /// The `pause` lets every running service update its row; it is made only if there are rows.
    package init(
        from source: LedgerAccess,
        to target: LedgerAccess,
        pause: @escaping Pause,
        progress: @escaping ProgressReport = { _, _ in }
    ) {
        self.source = source
        self.target = target
        self.pause = pause
        self.progress = progress
    }

    /// What was moved.
    package struct Outcome: Hashable, Sendable {
        /// How many rows all tables have.
        package let rows: Int64
        /// How many entries the log has, without the entry that records the move.
        package let entries: Int64
    }

    /// Moves everything; the source keeps its data, and gets a last entry that makes every service refuse it.
    package func run() throws(LedgerMoveError) -> Outcome {
        guard source.exists else { throw .nothingToMove }
        let locks = try database((source.lockInstance(), target.lockInstance()))
        defer { for lock in [locks.0, locks.1] { lock?.release() } }
        let from = try database(source.open())
        let to = try database(target.open(idleTimeoutMilliseconds: Self.patienceMilliseconds))
        try demandNoInstances(from)
        try demandNoInstances(to)
        let head = try ledger(LedgerWriter(connection: from).checkedHead())
        let rows = try copy(from: from, to: to, at: head)
        try verify(to, head)
        // The source ends before the target begins, so that both are never usable at once.
        try Self.record(.ledgerLeft, in: source)
        try Self.record(.records(.ledgerMoved(entries: head.size)), in: target)
        return Outcome(rows: rows, entries: head.size)
    }

    /// Checks everything that ``run()`` requires, reads what it would move, and moves nothing.
    package func rehearse() throws(LedgerMoveError) -> Outcome {
        guard source.exists else { throw .nothingToMove }
        let lock = try database(source.lockInstance())
        defer { lock?.release() }
        let from = try database(source.open())
        try demandNoInstances(from)
        if target.exists {
            let to = try database(target.open())
            try demandNoInstances(to)
            try demandEmpty(to)
            for table in Self.tables { _ = try database(copy(of: table, from: from, to: to)) }
        }
        let head = try ledger(LedgerWriter(connection: from).checkedHead())
        let snapshot = try database(source.openForReading())
        return Outcome(rows: try copyAll(from: snapshot, to: nil, at: head), entries: head.size)
    }

    /// How long the source may take for one answer, while the target waits in its transaction.
    private static let patienceMilliseconds = 3_600_000

    /// A killed service leaves its row unchanged; a running service updates its row during the pause.
    private func demandNoInstances(_ connection: any DatabaseConnection) throws(LedgerMoveError) {
        let table = InstanceTable(connection: connection)
        let before = try database(table.all())
        guard !before.isEmpty else { return }
        pause(InstanceTable.patienceMilliseconds)
        let now = try database(table.all())
        for row in now where before.contains(row) { try database(table.remove(row)) }
        let living = now.filter { !before.contains($0) }
        guard living.isEmpty else { throw .inUse(living.map(\.instance.name)) }
    }

    private func copy(
        from: any DatabaseConnection,
        to: any DatabaseConnection,
        at head: TreeHead
    ) throws(LedgerMoveError) -> Int64 {
        var rows: Int64 = 0
        do throws(LedgerMoveError) {
            let snapshot = try database(source.openForReading())
            try database(to.begin())
            try demandEmpty(to)
            rows = try copyAll(from: snapshot, to: to, at: head)
            // A service that starts just now can write, so the head is compared.
            guard try self.head(from) == head else { throw .changedMeanwhile }
            try database(to.commit())
        } catch {
            to.rollback()
            throw error
        }
        return rows
    }

    /// Copies one snapshot of all tables: a row that moves between tables meanwhile is neither lost nor duplicated.
    ///
    /// Without a target, it only reads the tables.
    private func copyAll(
        from: any DatabaseConnection,
        to: (any DatabaseConnection)?,
        at head: TreeHead
    ) throws(LedgerMoveError) -> Int64 {
        try database(from.begin())
        defer { from.rollback() }
        guard try self.head(from) == head else { throw .changedMeanwhile }
        var rows: Int64 = 0
        for table in Self.tables {
            let total = table.description == "audit_entries" ? head.size : nil
            rows += try copy(table, from: from, to: to) { progress(rows + $0, total) }
        }
        return rows
    }

    private func head(_ connection: any DatabaseConnection) throws(LedgerMoveError) -> TreeHead {
        do throws(AuditReadError) {
            return try LogTables(connection: connection).head()
        } catch {
            throw .ledger(LedgerError(error))
        }
    }

    private func demandEmpty(_ connection: any DatabaseConnection) throws(LedgerMoveError) {
        for occupied in Self.occupied where try database(connection.first(occupied) { _ in true }) != nil {
            throw .targetNotEmpty
        }
    }

    private static let occupied = [
        SQL("SELECT 1 FROM audit_entries LIMIT 1"), SQL("SELECT 1 FROM callers LIMIT 1"),
        SQL("SELECT 1 FROM grants LIMIT 1"), SQL("SELECT 1 FROM grants_by_time LIMIT 1"),
        SQL("SELECT 1 FROM grant_offsets LIMIT 1"), SQL("SELECT 1 FROM key_states LIMIT 1"),
        SQL("SELECT 1 FROM checkpoints LIMIT 1"), SQL("SELECT 1 FROM secret_versions LIMIT 1"),
    ]

    /// Copies one table, and reports progress every 1024 rows.
    private func copy(
        _ table: StaticString,
        from: any DatabaseConnection,
        to: (any DatabaseConnection)?,
        report: (Int64) -> Void
    ) throws(LedgerMoveError) -> Int64 {
        guard let copy = try database(copy(of: table, from: from, to: to)) else { return 0 }
        if let to, let beginning = Self.beginnings[table.description] { _ = try database(to.run(beginning)) }
        var count: Int64 = 0
        try database(
            copy.run(from: from, to: to) {
                count += 1
                if count.isMultiple(of: 1024) { report(count) }
            }
        )
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
            guard edge.head == head, try tables.headAndEntryCount() == (head, head.size) else {
                throw .log(.rootDiffers(size: head.size))
            }
        } catch {
            throw .unverified(error)
        }
        let writer = LedgerWriter(connection: connection, after: head)
        guard try ledger(writer.checkedHead()) == head else {
            throw .unverified(.log(.rootDiffers(size: head.size)))
        }
    }

    private static func record(_ event: AuditEvent, in ledger: LedgerAccess) throws(LedgerMoveError) {
        do throws(LedgerChangeError<LedgerMoveError>) {
            try ledger.change { _ throws(LedgerMoveError) in [event] }
        } catch {
            switch error {
            case .refused(let error): throw error
            case .ledger(let error): throw .ledger(error)
            }
        }
    }

    private func database<Value>(
        _ body: @autoclosure () throws(StorageError) -> Value
    ) throws(LedgerMoveError) -> Value {
        do { return try body() } catch { throw .database(error) }
    }

    private func ledger<Value>(_ body: @autoclosure () throws(LedgerError) -> Value) throws(LedgerMoveError) -> Value {
        do { return try body() } catch { throw .ledger(error) }
    }
}

/// Why a history was not moved; the source is unchanged and usable, and so is the target unless a case says otherwise.
package enum LedgerMoveError: Error, Sendable, CustomStringConvertible {
    case nothingToMove
    /// The target already has its own history.
    case targetNotEmpty
    /// Services use one of the databases.
    case inUse([String])
    /// The source changed while it was copied; nothing was moved.
    case changedMeanwhile
    case database(StorageError)
    case ledger(LedgerError)
    /// The copied data differs from the source; it is in the target, which must not be used.
    case unverified(AuditReadError)

    /// The reason, and what to do, as a part of a sentence for the person who ran the command.
    package var description: String {
        switch self {
        case .nothingToMove: "there is no database to move from"
        case .targetNotEmpty:
            "the database to move to has records already; make a new one, so that no two histories are mixed"
        case .changedMeanwhile:
            "something was recorded while it was copied: stop the services that use the database first"
        case .inUse(let names): "stop the services that use the database first: \(names.joined(separator: ", "))"
        case .database(let error): error.description
        case .ledger(let error): error.description
        case .unverified(let error):
            "what arrived is not the log that was sent; drop the new database and continue with the old one. \(error)"
        }
    }
}
