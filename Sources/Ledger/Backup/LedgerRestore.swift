// SPDX-License-Identifier: Apache-2.0
import OfferDomain
package import ServiceRuntime
package import Storage

/// Replaces an SQLite database that no process uses with a backup, and keeps the former database.
package struct LedgerRestore {
    /// What was done.
    package struct Outcome: Hashable, Sendable {
        /// What was found in the backup; it is in use from now on.
        package let restored: DatabaseSummary
        /// The present name of the replaced database; `nil` if there was none.
        package let former: String?
        /// How many entries it has; `nil` also if it can't be read.
        package let formerEntries: Int64?
    }

    private let location: DatabaseLocation
    private let clock: WallClock

    package init(into location: DatabaseLocation, clock: WallClock) {
        self.location = location
        self.clock = clock
    }

    /// Verifies the backup, then exchanges the files; the backup itself stays as it is.
    ///
    /// An interruption leaves the former database or the restored one under the name, each of them whole.
    package func run(from path: String) throws(BackupError) -> Outcome {
        guard case .sqlite(let target) = location else { throw .onServer }
        guard let backup = FileIdentity(path: path) else { throw .missing(path) }
        guard backup != FileIdentity(path: target) else {
            throw .unusable(path, reason: "it is the database that is to be replaced")
        }
        let lock: InstanceLock?
        do { lock = try location.lockInstance() } catch { throw .storage(error) }
        defer { lock?.release() }
        let draft = target + ".restoring"
        guard !FileNames.exists(draft) else { throw .remains(draft) }
        do throws(StorageError) {
            let source = try SQLiteConnection(path: path, options: SQLiteOptions(access: .readOnly))
            try SQLiteCopy.make(of: source, at: draft)
        } catch {
            throw .unusable(path, reason: error.description)
        }
        defer { FileNames.remove(draft) }
        let restored = try DatabaseSummary(verifying: draft, called: path)
        let entries = formerEntries
        let former = try exchange(target, for: draft, under: lock)
        return Outcome(restored: restored, former: former, formerEntries: entries)
    }

    /// Renames the database, and gives its name to the draft.
    private func exchange(
        _ target: String,
        for draft: String,
        under lock: InstanceLock?
    ) throws(BackupError) -> String? {
        do throws(StorageError) {
            // SQLite would use a write-ahead log without its database for the restored one.
            guard FileNames.exists(target) || FileNames.exists(target + "-wal") else {
                try FileNames.rename(draft, as: target)
                try FileNames.syncFolder(of: target)
                return nil
            }
            let former = unusedName("\(target).replaced-\(stamp)")
            try FileNames.giveAway(draft, like: target)
            // Root may have created it just now; then the service could not open it.
            if let lock { try FileNames.giveAway(lock.path, like: target) }
            try setLogAside(of: target, to: former)
            if FileNames.exists(target) { try FileNames.link(target, as: former) }
            try FileNames.rename(draft, as: target)
            try FileNames.syncFolder(of: target)
            return former
        } catch {
            if case .busy = error { throw .open(target) }
            throw .storage(error)
        }
    }

    /// A name that no file has: within one second, several databases may be replaced.
    private func unusedName(_ name: String) -> String {
        var (unused, number) = (name, 2)
        while FileNames.exists(unused) {
            unused = "\(name)-\(number)"
            number += 1
        }
        return unused
    }

    /// Writes the write-ahead log into the former database, or keeps it beside that if this is not possible.
    private func setLogAside(of target: String, to former: String) throws(StorageError) {
        let isGone: Bool
        do { isGone = try location.removeLog() } catch {
            // A damaged database keeps its log as it is.
            for suffix in ["-wal", "-shm"] where FileNames.exists(target + suffix) {
                try FileNames.rename(target + suffix, as: former + suffix)
            }
            return
        }
        guard isGone else { throw .isOpen(target) }
    }

    /// `nil` if the database can't be read, which may be why another one is restored.
    private var formerEntries: Int64? {
        guard let connection = try? location.connectToFile() else { return nil }
        return try? AuditReader(connection: connection).size()
    }

    /// The time in the form that names of files have, as 20261126T140312Z.
    private var stamp: String {
        String(clock.now().rfc3339.prefix(19).filter { $0 != "-" && $0 != ":" }) + "Z"
    }
}
