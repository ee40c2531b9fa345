// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain
import OfferService
import ServiceRuntime
import TransparencyLog

/// `offer-signer backup`.
enum BackupCommand: Command {
    static let name = "backup"
    static let summary = "copy the database into one file, while the service runs"
    static var help: String {
        """
        offer-signer backup copies the whole database as it is at one moment: the ledger with its caps, the callers, the
        audit log with its checkpoints. The service may run meanwhile, and waits for nothing.

        Usage: offer-signer backup FILE [--database LOCATION]

        FILE must not exist. It appears when the backup is complete, verified page by page and with its whole audit log,
        and on the disk; its mode is 0600. Copy it to another machine. Keep elsewhere what it does not hold: the files
        of keys, offers and secrets, and the checkpoint file, which is never restored.

        A database on a PostgreSQL server has the server's own backups.

        Example:
          offer-signer backup /var/backups/offer-signer-2026-11-26.db

        \(SettingsOptions.help([.database]))
        """
    }

    static let syntax = CommandSyntax(takesFiles: true)

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, known: SettingsOptions.names)
        let file = try BackupFile.name(parsed)
        let location = try SettingsOptions.settings(parsed).database
        try LedgerOptions.demand(LedgerAccess(location: location, clock: .system))
        do {
            let summary = try LedgerBackup(of: location).run(to: file)
            Terminal.say("\(file): \(BackupFile.text(summary)). It is verified: the log is whole.")
            return .success
        } catch {
            throw CommandError(error)
        }
    }
}

/// `offer-signer restore`.
enum RestoreCommand: Command {
    static let name = "restore"
    static let summary = "replace the database by a backup"
    static var help: String {
        """
        offer-signer restore replaces the database by a backup, and keeps the database that was there.

        Usage: offer-signer restore FILE [--database LOCATION]

        Stop the service first: the command refuses while anything uses the database. It verifies FILE, which it leaves as
        it is, and exchanges the files so that an interruption leaves one of the two in place. The database that was there
        gets the name DATABASE.replaced-TIME; to undo the command, restore that.

        A restored backup has forgotten every grant since it was made. Caps and budgets are open again by that much,
        retries get new grants, and callers and keys that were disabled since are live. So the service refuses to start
        while its checkpoint file covers more entries than the backup has. “Restore a backup” in docs/runbook.md has what
        to do before the next start.

        \(SettingsOptions.help([.database, .checkpointFile]))
        """
    }

    static let syntax = CommandSyntax(takesFiles: true)

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, known: SettingsOptions.names)
        let file = try BackupFile.name(parsed)
        let settings = try SettingsOptions.settings(parsed)
        let outcome: LedgerRestore.Outcome
        do {
            outcome = try LedgerRestore(into: settings.database, clock: .system).run(from: file)
        } catch {
            throw CommandError(error)
        }
        Terminal.say("\(settings.database) is \(file) now: \(BackupFile.text(outcome.restored)). Its log is whole.")
        if let former = outcome.former {
            let entries = outcome.formerEntries.map { "It has \($0) entries" } ?? "It could not be read"
            Terminal.say("The database that was there is \(former). \(entries).")
        }
        for line in advice(outcome, checkpoint: settings.checkpointPath) { Terminal.say(line) }
        return .success
    }

    /// What is forgotten, and what the next start will say.
    private static func advice(_ outcome: LedgerRestore.Outcome, checkpoint path: String) -> [String] {
        var lines: [String] = []
        let entries = outcome.restored.entries
        if let former = outcome.formerEntries, former > entries {
            lines.append(
                "\(former - entries) of its entries are not in the backup and forgotten: caps and budgets are open again by what was "
                    + "granted in them, and callers and keys that were disabled in them are live."
            )
        }
        let signed = (try? CheckpointFile(path: path).signedEntries) ?? nil
        if let signed, signed > entries {
            lines.append(
                "The service will not start: \(path) was signed over \(signed) entries. If the newer database is available, "
                    + "restore that; if not, begin a new log with: offer-signer audit new-log --origin NEW-NAME"
            )
        }
        guard !lines.isEmpty else { return [] }
        return lines + ["“Restore a backup” in docs/runbook.md has the steps before the next start."]
    }
}

/// The file that both commands name.
private enum BackupFile {
    static func name(_ arguments: Arguments) throws(CommandError) -> String {
        guard arguments.words.count == 1, let name = arguments.words.first, !name.isEmpty else {
            throw CommandError(usage: "expected FILE, found “\(arguments.words.joined(separator: " "))”")
        }
        return name
    }

    static func text(_ summary: DatabaseSummary) -> String {
        let newest = summary.newestAt.map { ", the newest of \($0.rfc3339)" } ?? ""
        return "\(summary.entries) entries\(newest), \(summary.bytes) bytes"
    }
}

extension CommandError {
    /// Why nothing was backed up or restored.
    fileprivate init(_ error: BackupError) {
        switch error {
        case .onServer, .exists, .remains, .missing, .unusable: self.init(error.description, .failure)
        case .storage, .open: self.init(error.description, .unavailable)
        }
    }
}
