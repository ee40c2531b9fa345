// SPDX-License-Identifier: Apache-2.0
import Glibc
import Ledger
import OfferDomain
import OfferService
import ServiceRuntime
import Storage

/// `offer-signer migrate`.
enum MigrateCommand: Command {
    static let name = "migrate"
    static let summary = "move the whole history into another database"
    static var help: String {
        """
        offer-signer migrate moves everything that a service has recorded into another database: the ledger with its
        caps, the callers, the audit log with its checkpoints, and the index over it.

        Usage:
          offer-signer migrate --from sqlite:PATH --to postgres://USER@HOST/DATABASE [--dry-run]

        Stop every service that uses either database first; where one was killed, the command waits three seconds to be
        sure that it is gone. The other database must be new; it gets all of it, or nothing. Before the command says
        that it is done it computes the root of the log from the entries that arrived. The old database gets one last
        entry, by which every service refuses it from then on. A service that starts on the new one continues the same
        log; give it the old one's checkpoint file too.

        --dry-run looks at all of that, reads what would be moved, and moves nothing. Stop the services for it too.
        """
    }

    static let syntax = CommandSyntax(options: ["--from", "--to", dryRun], takesSettings: false)

    private static let dryRun = "--dry-run"

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, known: ["--from", "--to"], flags: [dryRun])
        _ = try parsed.words()
        let (source, target) = (try location("--from", parsed), try location("--to", parsed))
        guard source != target else { throw CommandError(usage: "--from and --to are the same database") }
        let isDry = parsed.flags.contains(dryRun)
        let progress = Progress(isDry ? "read" : "moved", "rows")
        let move = LedgerMove(
            from: LedgerAccess(location: source, clock: .system),
            to: LedgerAccess(location: target, clock: .system),
            pause: { usleep(UInt32(clamping: $0 * 1000)) },
            progress: { progress.update($0, of: $1) }
        )
        defer { progress.end() }
        let outcome: LedgerMove.Outcome
        do throws(LedgerMoveError) { outcome = try isDry ? move.rehearse() : move.run() } catch {
            throw CommandError(error.description, .unavailable)
        }
        progress.end()
        guard !isDry else {
            Terminal.say(
                "would move \(outcome.rows) rows with the log's \(outcome.entries) entries; nothing was moved"
            )
            return .success
        }
        Terminal.say("moved \(outcome.rows) rows; the log's \(outcome.entries) entries have the same root as before")
        return .success
    }

    private static func location(_ option: String, _ parsed: Arguments) throws(CommandError) -> DatabaseLocation {
        let location = try parsed.value(option, expecting: "sqlite:PATH or postgres://…") { DatabaseLocation($0) }
        guard let location else { throw CommandError(usage: "\(option) is missing") }
        if location.hasPassword {
            throw CommandError(usage: "\(option) has a password; give that by PGPASSFILE or PGPASSWORD")
        }
        return location
    }
}
