// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain
import ServiceRuntime
import Storage
import TransparencyLog

/// What the service finds before it begins: its files, read and checked, and its database, locked, open and checked.
///
/// Nothing is written but the schema.
struct OpenedDatabase {
    let ledger: LedgerAccess
    let loaded: LoadedConfiguration
    let locks: ServiceLocks
    /// What the committer will write through.
    let connection: any DatabaseConnection
    let snapshot: Snapshot
    let stops: SigningStops
    /// The time of the newest entry of the log; `nil` for an empty one.
    let lastRecordedAt: Timestamp?
    /// The number of requests to all instances to reload their files, before this instance read them.
    let reloads: Int64?
    let log: SignedLog.Checked

    init(_ settings: Settings, _ dependencies: Dependencies) throws(ServiceError) {
        ledger = dependencies.database(settings.database, dependencies.clock)
        // Before the files are read: what is asked for from here on has to be followed.
        reloads = ledger.isShared ? try? InstanceTable(connection: ledger.openForReading()).reloads() : nil
        do throws(ConfigurationError) {
            loaded = try LoadedConfiguration(settings)
        } catch {
            throw .configuration(error)
        }
        locks = try ServiceLocks(settings, ledger: ledger, log: dependencies.log)
        do throws(StorageError) {
            connection = try dependencies.openForCommits(ledger)
            snapshot = try loaded.snapshot(connection)
            stops = try SealStore(connection: connection).stops()
            lastRecordedAt = try AuditReader.newestTime(connection)
        } catch {
            throw .database(error)
        }
        let file = CheckpointFile(path: settings.checkpointPath)
        log = try SignedLog.check(ledger, connection: connection, key: loaded.keys.logKey, file: file)
    }
}

/// Keeps a second service from using the same database, or the same checkpoint file, for as long as it is held.
struct ServiceLocks: Sendable {
    /// `nil` where the engine lets several services write.
    private let database: InstanceLock?
    /// Two services that share a database must not share this file; `nil` where none shares the database.
    private let checkpointFile: InstanceLock?

    init(_ settings: Settings, ledger: LedgerAccess, log: Log) throws(ServiceError) {
        do throws(CheckpointFileError) {
            let file = CheckpointFile(path: settings.checkpointPath)
            checkpointFile = ledger.isShared ? try Self.lock(file, log) : nil
        } catch {
            throw .log(.file(error))
        }
        do { database = try ledger.lockInstance() } catch { throw .database(error) }
    }

    /// Warns only, if the file can't be locked at all; another service that has it keeps this one from starting.
    private static func lock(_ file: CheckpointFile, _ log: Log) throws(CheckpointFileError) -> InstanceLock? {
        do throws(CheckpointFileError) {
            return try file.lock()
        } catch {
            guard !error.isInUse else { throw error }
            log(
                .warning,
                "another service could use the same checkpoint file",
                with: ["reason": .text(error.description)]
            )
            return nil
        }
    }

    func release() {
        database?.release()
        checkpointFile?.release()
    }
}
