// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Glibc
import OfferDomain
package import ServiceRuntime
package import Storage

/// Opens the database of the service, with its schema brought up to date.
package struct LedgerAccess: Sendable {
    let location: DatabaseLocation
    package let clock: WallClock
    /// Whether several services may write to it at once.
    package private(set) var isShared: Bool

    package init(location: DatabaseLocation, clock: WallClock) {
        self.location = location
        self.clock = clock
        isShared = location.isShared
    }

    /// The same for a service that has the database to itself, whatever the engine would allow.
    package func exclusive() -> LedgerAccess {
        var access = self
        access.isShared = false
        return access
    }

    /// A connection that writes; the tables are made or migrated first.
    package func open() throws(StorageError) -> any DatabaseConnection {
        try migrated(location.connect(.readWrite))
    }

    /// The same, with a limit on how long a transaction on a shared database may be idle while others wait.
    package func open(idleTimeoutMilliseconds: Int) throws(StorageError) -> any DatabaseConnection {
        try migrated(location.connect(.readWrite, idleTimeoutMilliseconds: idleTimeoutMilliseconds))
    }

    /// The same for the committer, which every request waits for: it gives up sooner on a server that does not answer.
    package func openForCommits() throws(StorageError) -> any DatabaseConnection {
        try open(answerTimeoutMilliseconds: Int(CommitterPulse.patienceMilliseconds))
    }

    /// The same, with a limit on how long the server may take for one answer.
    private func open(answerTimeoutMilliseconds: Int) throws(StorageError) -> any DatabaseConnection {
        try migrated(location.connect(.readWrite, answerTimeoutMilliseconds: answerTimeoutMilliseconds))
    }

    private func migrated(_ connection: any DatabaseConnection) throws(StorageError) -> any DatabaseConnection {
        try Migrations.apply(LedgerSchema.migrations, to: connection, at: clock.now().milliseconds)
        return connection
    }

    /// The checkpointer of the write-ahead log; `nil` where there is no such log.
    ///
    /// It opens an existing file and never creates one. If the file was moved away, a new empty file with its own log
    /// would damage the file that is put back.
    package func logKeeper(pages: Int = 1000) -> WALCheckpointer? {
        guard !location.isShared else { return nil }
        return WALCheckpointer(pages: pages) { [location] () throws(StorageError) in try location.connectToFile() }
    }

    /// Reduces a database that this process no longer uses to one file; does nothing to one on a server.
    ///
    /// - Returns: False if another process has it open; the last process to close it then removes the log.
    package func removeLog() throws(StorageError) -> Bool {
        // Threads that are about to end close their read connections a moment later.
        for _ in 0..<20 {
            if try location.removeLog() { return true }
            usleep(25_000)
        }
        return try location.removeLog()
    }

    /// Where the database is now, to check later that it is still there; `nil` if there is no file that can be moved.
    package func place() -> DatabaseFiles? { DatabaseFiles(location) }

    /// Where it is, for people; a server's password is not shown.
    package var name: String { location.description }

    /// Whether there is a database already.
    package var exists: Bool {
        switch location {
        case .sqlite(let path): FileIdentity(path: path) != nil
        case .postgreSQL: hasSchema
        }
    }

    /// Whether a server has this service's tables; also true if it cannot be asked, so that opening it reports why.
    private var hasSchema: Bool {
        do { return try Migrations.version(of: try openForReading()) > 0 } catch { return true }
    }

    /// Keeps other services from writing to the same database; `nil` where the engine lets several do so.
    package func lockInstance() throws(StorageError) -> InstanceLock? {
        try location.lockInstance()
    }

    /// A connection that only reads.
    package func openForReading() throws(StorageError) -> any DatabaseConnection {
        try location.connect(.readOnly)
    }

    /// Changes something and records the change, both or neither.
    ///
    /// `body` makes the change and returns the audit events that describe it. The service gives up on a server if one
    /// answer takes longer than `patienceMilliseconds`.
    package func change<Failure: Error>(
        patienceMilliseconds: Int = 15_000,
        _ body: (any DatabaseConnection) throws(Failure) -> [AuditEvent]
    ) throws(LedgerChangeError<Failure>) {
        let (writer, connection) = try begun(Failure.self, patienceMilliseconds)
        let events: [AuditEvent]
        do throws(Failure) {
            events = try body(connection)
        } catch {
            writer.rollback()
            throw .refused(error)
        }
        do throws(LedgerError) {
            for event in events { try writer.append(event) }
            try writer.commit()
        } catch {
            writer.rollback()
            throw .ledger(error)
        }
    }

    private func begun<Failure: Error>(
        _: Failure.Type,
        _ patienceMilliseconds: Int
    ) throws(LedgerChangeError<Failure>) -> (LedgerWriter, any DatabaseConnection) {
        let connection: any DatabaseConnection
        do {
            connection = try open(answerTimeoutMilliseconds: patienceMilliseconds)
        } catch {
            throw .ledger(.database(error))
        }
        let writer = LedgerWriter(connection: connection)
        do { try writer.begin(at: clock.now()) } catch { throw .ledger(error) }
        return (writer, connection)
    }
}

/// Why a change was not made.
package enum LedgerChangeError<Failure: Error>: Error {
    /// The change itself was refused.
    case refused(Failure)
    /// The database could not be used.
    case ledger(LedgerError)
}

extension Catalog {
    /// Records since when the ledger's service has these offers.
    package func note(in ledger: LedgerAccess) throws(StorageError) {
        let table = CatalogNameTable(connection: try ledger.open())
        try table.note(offers.map { StoreOfferName($0.listing) }, at: ledger.clock.now())
    }
}
