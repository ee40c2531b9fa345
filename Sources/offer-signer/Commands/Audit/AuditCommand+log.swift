// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain
import OfferService
import ServiceRuntime
import Storage
import TransparencyLog

/// `offer-signer audit verify` and `audit new-log`.
extension AuditCommand {
    static let logHelp = """
        verify computes the whole log again, from its entries, and compares it with its tiles, its head, its
        checkpoint in the database and in the checkpoint file, and what witnesses signed. It prints what it
        compared, and ends with 1 naming the first damage. With --checkpoint it compares a checkpoint that you
        kept, with --tiles an exported folder instead of the database. --key VKEY is the log's verifier key, as
        GET /v1/audit/log and audit-log.vkey of the example have it; without it, it is taken from the keys file.

        key prints that verifier key, from the keys file; keep it where the log is verified.

        new-log is for a log that can't be restored as it was signed (docs/runbook.md, “Restore a backup”): with
        the service stopped, and the new name in the keys file, it records what is lost and begins a log of that
        name with the entries that are left.
        """

    // MARK: - verify

    static func verify(_ arguments: Arguments) throws(CommandError) {
        let settings = try SettingsOptions.settings(arguments)
        let folder = try arguments.value("--tiles")
        if folder != nil, !arguments.values(Setting.database.flag).isEmpty {
            throw CommandError(usage: "--tiles has a folder verified instead of the database; give one of the two")
        }
        let key = try verifierKey(arguments, settings)
        var evidence = LogEvidence(key: key)
        do throws(LogDamage) {
            for path in arguments.values("--checkpoint") {
                try evidence.add(try note(path), as: "The checkpoint in \(path)")
            }
        } catch {
            throw CommandError(error.description)
        }
        Terminal.say("The log \(key.name), signed by \(key)")
        if let folder {
            try verifyFolder(folder, &evidence)
        } else {
            try verifyDatabase(settings, &evidence)
        }
    }

    private static func verifierKey(
        _ arguments: Arguments,
        _ settings: Settings
    ) throws(CommandError) -> NoteVerifierKey {
        if let text = try arguments.value("--key") {
            do throws(NoteKeyError) {
                return try NoteVerifierKey(text)
            } catch {
                throw CommandError(usage: "--key “\(text)” \(error)")
            }
        }
        do throws(CommandError) {
            return try logKey(settings).verifierKey
        } catch {
            throw CommandError(
                "\(error.message)\nOr give the log's verifier key with --key VKEY; then no keys file is read.",
                error.exitCode
            )
        }
    }

    static func logKey(_ settings: Settings) throws(CommandError) -> LogKey {
        try KeyCustody.begin(admitsUnlockedMemory: settings.admitsUnlockedMemory)
        do {
            return try LoadedConfiguration(settings).keys.logKey
        } catch {
            throw CommandError(error)
        }
    }

    private static func verifyDatabase(_ settings: Settings, _ evidence: inout LogEvidence) throws(CommandError) {
        let ledger = LedgerAccess(location: settings.database, clock: .system)
        let connection: any DatabaseConnection
        do { connection = try ledger.openForReading() } catch { throw CommandError(error.description, .unavailable) }
        do throws(LogDamage) {
            try evidence.add(CheckpointTable(connection: connection))
            let path = settings.checkpointPath
            let inFile: [UInt8]?
            do { inFile = try CheckpointFile(path: path).read() } catch { throw .unreadable(error.description) }
            if let inFile {
                try evidence.add(inFile, as: "The checkpoint in \(path)")
            } else {
                Terminal.say("There is no checkpoint file \(path); it is not compared")
            }
        } catch {
            throw CommandError(error.description)
        }
        try compare(DatabaseLog(connection: connection), evidence)
        recordVerification(in: ledger)
    }

    private static func verifyFolder(_ path: String, _ evidence: inout LogEvidence) throws(CommandError) {
        let head: TreeHead
        do throws(LogDamage) {
            head = try evidence.add(try note("\(path)/checkpoint"), as: "The checkpoint in \(path)")
        } catch {
            throw CommandError(error.description)
        }
        try compare(FolderLog(folder: path, upTo: head), evidence)
    }

    private static func compare(_ source: any LogSource, _ evidence: LogEvidence) throws(CommandError) {
        let report: LogVerifier.Report
        let progress = Progress("verified", "entries")
        defer { progress.end() }
        do throws(LogDamage) {
            report = try LogVerifier(source, promises: evidence.promises).run { done, total in
                progress.update(done, of: total)
                if !Terminal.canShow, total >= 200_000, done.isMultiple(of: 102_400) {
                    Terminal.complain("verified \(done) of \(total) entries")
                }
                return true
            }
            progress.end()
        } catch {
            if case .unreadable = error { throw CommandError(error.description, .unavailable) }
            throw CommandError("the log is damaged. \(error)")
        }
        Terminal.say("\(report.head.size) entries and \(report.tiles) tiles lead to the head")
        for promise in report.promises {
            Terminal.say(
                "\(promise.source) (\(promise.head.size) entries): the signature is good, and the log has its hash"
            )
        }
        Terminal.say("The log is whole.")
    }

    private static func note(_ path: String) throws(LogDamage) -> [UInt8] {
        do {
            return try TextFile.read(path, maximumBytes: SignedNote.maximumBytes)
        } catch {
            throw .unreadable("\(path) \(error.description)")
        }
    }

    /// A log that can be read must be verifiable also where nothing can be written.
    private static func recordVerification(in ledger: LedgerAccess) {
        do throws(LedgerChangeError<Never>) {
            try ledger.change { _ in
                [.records(.read(RecordedRead(caller: nil, call: .verifyCommand, conditions: [], count: 0)))]
            }
        } catch {
            Terminal.complain("that the log was verified could not be recorded")
        }
    }

    // MARK: - new-log

    static func newLog(_ arguments: Arguments) throws(CommandError) {
        let settings = try SettingsOptions.settings(arguments)
        let expected = "1 to 128 of A-Z, a-z, 0-9, “.”, “_”, “/” and “-”"
        let origin = try arguments.value("--origin", expecting: expected, LogOrigin.init)
        guard let origin else { throw CommandError(usage: "new-log needs --origin NAME") }
        let key = try logKey(settings)
        guard key.origin == origin else {
            throw CommandError("auditLog.origin in the keys file is \(key.origin); write \(origin) there first.")
        }
        let new = NewLog(
            key: key,
            ledger: LedgerAccess(location: settings.database, clock: .system),
            file: CheckpointFile(path: settings.checkpointPath),
            clock: .system
        )
        let outcome: NewLog.Outcome
        do throws(NewLogError) {
            outcome = try new.begin()
        } catch {
            if case .records(let error) = error { throw CommandError(error.description, .unavailable) }
            throw CommandError(error.description)
        }
        let (previous, first) = (outcome.previous, outcome.first.checkpoint)
        Terminal.say("\(previous.origin) ended with \(previous.size) entries, as far as is known; that is on record")
        Terminal.say("\(first.origin) begins with \(first.size) entries")
        if let oldFile = outcome.oldFile { Terminal.say("The old checkpoint is kept in \(oldFile)") }
        Terminal.say("Its verifier key, for auditors and witnesses: \(key.verifierKey)")
    }
}
