// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
package import OfferDomain
package import ServiceRuntime
import Storage
package import TransparencyLog

/// Starts the log again under another name, if what was signed under its earlier name can't be restored.
///
/// The existing entries stay. The first entry under the new name says what is lost: the last known checkpoint. The two
/// logs cannot be confused: witnesses know the new one by its own name.
package struct NewLog {
    private let key: LogKey
    private let ledger: LedgerAccess
    private let file: CheckpointFile
    private let clock: WallClock

    /// `key` has the new name.
    package init(key: LogKey, ledger: LedgerAccess, file: CheckpointFile, clock: WallClock) {
        self.key = key
        self.ledger = ledger
        self.file = file
        self.clock = clock
    }

    /// The result of starting the log again.
    package struct Outcome: Sendable {
        /// The last known checkpoint of the earlier name; its signature may be invalid.
        package let previous: Checkpoint
        /// The first checkpoint under the new name; it covers the entry that names ``previous``.
        package let first: SignedCheckpoint
        /// Where the checkpoint file of the earlier name is now; `nil` if there was none.
        package let oldFile: String?
    }

    /// Records what is lost, signs the first checkpoint under the new name, and puts the old one aside.
    ///
    /// The service must not run. This may be repeated if it was interrupted.
    package func begin() throws(NewLogError) -> Outcome {
        guard ledger.exists else { throw .records(.databaseGone) }
        let lock: InstanceLock?
        let connection: any DatabaseConnection
        let stored: [CheckpointTable.Stored]
        do throws(StorageError) {
            lock = try ledger.lockInstance()
            connection = try ledger.open()
            stored = try CheckpointTable(connection: connection).all()
        } catch {
            throw .records(.database(error))
        }
        defer { lock?.release() }
        guard !stored.contains(where: { $0.origin == key.origin.text }) else { throw .nameUsed(key.origin) }
        try refuseNameInFile(connection)
        if let recorded = try recordedLoss(stored, connection) {
            guard recorded.origin != key.origin else { throw .nameUsed(key.origin) }
            return try finish(after: recorded, connection)
        }
        let previous = try previous(stored)
        do throws(LedgerChangeError<Never>) {
            try ledger.change { _ in [.records(.logRestarted(previous: previous))] }
        } catch {
            if case .ledger(let error) = error { throw .records(error) }
        }
        return try finish(after: previous, connection)
    }

    /// What an interrupted run has recorded as lost: the newest entry says it, and no checkpoint covers that entry yet.
    ///
    /// The file that this run read may be set aside already, and the database may know a smaller checkpoint.
    private func recordedLoss(
        _ stored: [CheckpointTable.Stored],
        _ connection: any DatabaseConnection
    ) throws(NewLogError) -> Checkpoint? {
        let reader = LogReader(connection: connection)
        do throws(AuditReadError) {
            let size = try reader.head().size
            guard stored.allSatisfy({ $0.size < size }) else { return nil }
            return try reader.entry(size - 1).flatMap(Checkpoint.init(lostBy:))
        } catch {
            throw .records(LedgerError(error))
        }
    }

    /// Refuses if the checkpoint in the file has the new name and does not fit the log; an interrupted run of this
    /// command leaves one that fits, and a misfit proves earlier use, even if the database has no record of it.
    private func refuseNameInFile(_ connection: any DatabaseConnection) throws(NewLogError) {
        let inFile: [UInt8]?
        do { inFile = try file.read() } catch { throw .file(error) }
        guard let checkpoint = inFile.flatMap(Self.checkpoint), checkpoint.origin == key.origin else { return }
        let reader = LogReader(connection: connection)
        do throws(AuditReadError) {
            if checkpoint.size <= (try reader.head().size) {
                let root = try reader.rootHash(ofSize: checkpoint.size)
                if root == checkpoint.rootHash { return }
            }
        } catch {
            throw .records(LedgerError(error))
        }
        throw .nameUsed(key.origin)
    }

    /// The largest checkpoint of another name, in the database or in the file; its signature is not checked, because
    /// the key may be lost too.
    private func previous(_ stored: [CheckpointTable.Stored]) throws(NewLogError) -> Checkpoint {
        let inFile: [UInt8]?
        do { inFile = try file.read() } catch { throw .file(error) }
        let notes = stored.map(\.note) + (inFile.map { [$0] } ?? [])
        let others = notes.compactMap(Self.checkpoint).filter { $0.origin != key.origin }
        guard let previous = others.max(by: { $0.size < $1.size }) else { throw .nothingSigned }
        return previous
    }

    /// The checkpoint in a note; the signature is not checked.
    private static func checkpoint(in note: [UInt8]) -> Checkpoint? {
        try? Checkpoint(parsing: SignedNote(parsing: note).text)
    }

    /// Signs the first checkpoint, after the loss is on record.
    private func finish(
        after previous: Checkpoint,
        _ connection: any DatabaseConnection
    ) throws(NewLogError) -> Outcome {
        let first: SignedCheckpoint
        do {
            let head = try LedgerWriter(connection: connection).checkedHead()
            first = try SignedCheckpoint(head, signedBy: key, at: clock.now())
        } catch let error as LedgerError {
            throw .records(error)
        } catch {
            throw .signing("\(error)")
        }
        // The file first: a half-finished run is refused when the service starts, and can be repeated.
        let oldFile = try replaceFile(previous, first)
        let outcome: CheckpointTable.Keeping
        do { outcome = try CheckpointTable(connection: connection).keep(first) } catch {
            throw .records(.database(error))
        }
        guard outcome == .kept else { throw .nameUsed(key.origin) }
        return Outcome(previous: previous, first: first, oldFile: oldFile)
    }

    private func replaceFile(_ previous: Checkpoint, _ first: SignedCheckpoint) throws(NewLogError) -> String? {
        let aside = "\(file.path).\(previous.size)"
        do throws(CheckpointFileError) {
            // An interrupted run left a file of the new name, which is worthless; that run has set the old file aside.
            let present = try file.read()
            if let present, Self.checkpoint(in: present)?.origin != key.origin { try file.setAside(as: aside) }
            try file.write(first.ownNote.bytes)
            return FileIdentity(path: aside) == nil ? nil : aside
        } catch {
            throw .file(error)
        }
    }
}

extension Checkpoint {
    /// The earlier log's checkpoint in a `log.restarted` entry; `nil` for every other entry.
    fileprivate init?(lostBy entry: [UInt8]) {
        guard AuditEntry.beginning(of: entry).event == .logRestarted,
            let members = (try? JSONDocument(entry))?.root.object,
            let origin = members["origin"]?.string.flatMap({ LogOrigin($0) }),
            let size = members["size"]?.integer,
            let root = members["root"]?.string.flatMap({ Base64.decode(Array($0.utf8)) })
                .flatMap(SHA256Digest.init(bytes:))
        else { return nil }
        self.init(origin: origin, head: TreeHead(size: size, rootHash: root))
    }
}

/// Why no log was started.
package enum NewLogError: Error, Sendable, CustomStringConvertible {
    case records(LedgerError)
    case file(CheckpointFileError)
    case signing(String)
    /// No checkpoint exists yet, so there is nothing to start again.
    case nothingSigned
    /// Checkpoints were already signed under that name.
    case nameUsed(LogOrigin)

    /// A sentence for the person who ran the command.
    package var description: String {
        switch self {
        case .records(let error): error.description
        case .file(let error): error.description
        case .signing(let reason): reason
        case .nothingSigned:
            "No checkpoint of another name is known, in the database or in the checkpoint file, so no log can begin again. "
                + "A first log begins by itself."
        case .nameUsed(let origin):
            "Checkpoints of this database were signed as \(origin) already; a log begins again under a name that was "
                + "never used."
        }
    }
}
