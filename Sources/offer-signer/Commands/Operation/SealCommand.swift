// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain
import OfferService
import ServiceRuntime

/// `offer-signer seal`.
enum SealCommand: Command {
    static let name = "seal"
    static let summary = "stop all signatures at once"
    static var help: String {
        """
        offer-signer seal stops all signatures and authorizations of a running service, or of one that starts later.
        Eligibility, notifications, records and health continue. It lasts until it is lifted.

        Usage:
          offer-signer seal --reason TEXT

        TEXT is 1 to \(SealReason.maximumBytes) printable ASCII characters, and is recorded in the audit log. The command needs nothing but the
        database. No decision after its return leads to a signature; if a service runs, the command waits until
        that has recorded that its last signature is made, and says so.

        See also: offer-signer unseal; the setting --seal-file; POST /v1/seal.

        \(SettingsOptions.help([.database]))
        """
    }

    static let syntax = CommandSyntax(options: ["--reason"])

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, known: SettingsOptions.names + ["--reason"])
        _ = try parsed.words()
        let reason = try StopOptions.reason(parsed)
        let ledger = try LedgerOptions.access(parsed)
        try LedgerOptions.demand(ledger)
        do {
            try DatabaseSeal(ledger: ledger, clock: .system).seal(detail: reason.text)
        } catch {
            throw CommandError(error)
        }
        return StopOptions.conclude("the service is sealed", ledger)
    }
}

/// `offer-signer unseal`.
enum UnsealCommand: Command {
    static let name = "unseal"
    static let summary = "allow signatures again"
    static var help: String {
        """
        offer-signer unseal lifts what was sealed by an administrator or by the service itself.

        Usage:
          offer-signer unseal --reason TEXT

        It is refused while a cause still holds: the file of --seal-file is there, the clock is before the last
        record, or a key fails its self-test (for that, and only then, the keys are read).

        \(SettingsOptions.help([.database, .sealFile, .clockCheck, .clockStepSeconds, .keys, .offers]))
        """
    }

    static let syntax = CommandSyntax(options: ["--reason"])

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, known: SettingsOptions.names + ["--reason"])
        _ = try parsed.words()
        let reason = try StopOptions.reason(parsed)
        let settings = try SettingsOptions.settings(parsed)
        let ledger = LedgerAccess(location: settings.database, clock: .system)
        try LedgerOptions.demand(ledger)
        let databaseSeal = DatabaseSeal(ledger: ledger, clock: .system)
        let lifted: [SealCause]
        do throws(DatabaseSealError) {
            if try databaseSeal.causes().contains(.selfVerification) { try testKeys(settings) }
            lifted = try databaseSeal.unseal(reason, settings.sealWatch)
        } catch {
            throw CommandError(error)
        }
        Terminal.say(outcome(lifted, looksForFile: settings.sealWatch.sealFile != nil))
        return .success
    }

    private static func outcome(_ lifted: [SealCause], looksForFile: Bool) -> String {
        guard lifted.isEmpty else { return "lifted: \(lifted.map(\.rawValue).joined(separator: ", "))" }
        return "nothing was sealed in the database"
            + (looksForFile ? "" : "; a seal file, if the service has one, is looked at only if --seal-file names it")
    }

    /// Reading a key tests it.
    private static func testKeys(_ settings: Settings) throws(DatabaseSealError) {
        do {
            try KeyCustody.begin(admitsUnlockedMemory: settings.admitsUnlockedMemory)
            _ = try LoadedConfiguration(settings)
        } catch {
            throw .holds([SealObstacle(cause: .selfVerification, reason: "the keys could not be read and tested")])
        }
    }
}

/// What the commands that seal or disable have in common.
enum StopOptions {
    static func reason(_ arguments: Arguments) throws(CommandError) -> SealReason {
        guard let text = try arguments.value("--reason") else { throw CommandError(usage: "--reason is missing") }
        do throws(SealReasonError) {
            return try SealReason(Array(text.utf8))
        } catch {
            throw CommandError(usage: "--reason: \(error)")
        }
    }

    /// Waits for a running service to acknowledge, and says what is certain.
    static func conclude(_ what: String, _ ledger: LedgerAccess) -> ExitCode {
        switch AcknowledgementWait(ledger: ledger, clock: .system).outcome() {
        case .noService: Terminal.say("\(what); no service is running, and one that starts will acknowledge it")
        case .acknowledged: Terminal.say("\(what); the running service has acknowledged it")
        case .silent(let seconds):
            Terminal.complain(
                "\(what) on record, and no decision after it leads to a signature; but the running service has not "
                    + "said within \(seconds) s that its last signature is made: look at its log, or stop it"
            )
            return .unavailable
        }
        return .success
    }
}

extension CommandError {
    fileprivate init(_ error: DatabaseSealError) {
        switch error {
        case .holds: self.init(error.description)
        case .ledger: self.init(error.description, .unavailable)
        }
    }
}
