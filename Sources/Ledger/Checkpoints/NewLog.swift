// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
package import OfferDomain
package import ServiceRuntime
import Storage
package import TransparencyLog

/// Begins the log anew under another name, where what was signed under its earlier name can't be put back.
///
/// The entries that are there stay, and the first one under the new name says what is lost: the last checkpoint that is
/// known. Nobody can take the two for one log, and witnesses know the new one by its own name.
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

    /// What was begun.
    package struct Outcome: Sendable {
        /// The last checkpoint that is known of the earlier name; its signature need not be good.
        package let previous: Checkpoint
        /// The first checkpoint under the new name; it covers the entry that names ``previous``.
        package let first: SignedCheckpoint
        /// Where the checkpoint file of the earlier name is now; `nil` if there was none.
        package let oldFile: String?
    }

    /// Records what is lost, signs the first checkpoint under the new name, and puts the old one aside.
    ///
    /// The service must not run. It may be repeated if it was interrupted.
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
            try ledger.change { _ in [.logRestarted(previous: previous)] }
        } catch {
            if case .ledger(let error) = error { throw .records(error) }
        }
        return try finish(after: previous, connection)
    }

    /// What a run that was interrupted has recorded as lost: the newest entry says it, and no checkpoint covers that yet.
    ///
    /// The file from which that run had it may be set aside, and the database may know of less.
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

    /// A file that says that more was signed under the name is believed, whatever the database has forgotten; one that the
    /// log fits was left by a run of this very command that was interrupted.
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

    /// The largest checkpoint of another name, in the database or in the file; whether its signature is good does not
    /// matter, since the key may be lost too.
    private func previous(_ stored: [CheckpointTable.Stored]) throws(NewLogError) -> Checkpoint {
        let inFile: [UInt8]?
        do { inFile = try file.read() } catch { throw .file(error) }
        let notes = stored.map(\.note) + (inFile.map { [$0] } ?? [])
        let others = notes.compactMap(Self.checkpoint).filter { $0.origin != key.origin }
        guard let previous = others.max(by: { $0.size < $1.size }) else { throw .nothingSigned }
        return previous
    }

    /// What a note says, whoever signed it.
    private static func checkpoint(in note: [UInt8]) -> Checkpoint? {
        try? Checkpoint(parsing: SignedNote(parsing: note).text)
    }

    /// Signs the first checkpoint, once it is on record what is lost.
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
        // The file first: what is only half done is refused at the start, and can be done again.
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
            // One of the new name was left by a run that was interrupted, and has no worth; that run has set the old one aside.
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
    /// What an entry `log.restarted` says of the log before; `nil` for every other entry.
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

/// Why no log was begun.
package enum NewLogError: Error, Sendable, CustomStringConvertible {
    case records(LedgerError)
    case file(CheckpointFileError)
    case signing(String)
    /// There is no checkpoint yet, so there is nothing to begin anew.
    case nothingSigned
    /// Checkpoints were signed under that name already.
    case nameUsed(LogOrigin)

    /// A sentence for the person who ran the command.
    package var description: String {
        switch self {
        case .records(let error): error.description
        case .file(let error): error.description
        case .signing(let reason): reason
        case .nothingSigned:
            "No checkpoint of another name is known, in the database or in the checkpoint file: there is nothing to begin "
                + "anew. A first log begins by itself."
        case .nameUsed(let origin):
            "Checkpoints of this database were signed as \(origin) already; a log begins again under a name that was "
                + "never used."
        }
    }
}
