// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain
import OfferService
import ServiceRuntime
import Storage

/// `offer-signer sessions`.
enum SessionsCommand: Command {
    static let name = "sessions"
    static let summary = "list and end sessions of people in the console"
    static var help: String {
        """
        offer-signer sessions lists people who signed in to the console by an identity provider, and ends sessions.

        Usage:
          offer-signer sessions list
          offer-signer sessions end PERSON

        PERSON is console:NAME:PSEUDONYM, as list, the audit log and the console show it: NAME is the provider's in the
        keys file, and PSEUDONYM represents the person's account there. The time of session.begin in the audit log leads to
        that account in the provider's log.

        end ends all sessions of the person, and is recorded in the audit log. Every instance ends them within five seconds.
        The person can sign in again, so take the account's role at the provider first. To end the sessions of all
        people, change clientId of consoleSignIn in the keys file, or remove consoleSignIn, and reload.

        \(SettingsOptions.help([.database]))
        """
    }

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, known: SettingsOptions.names)
        let ledger = try LedgerOptions.access(parsed)
        let sessions = SessionAdministration(ledger: ledger, clock: .system)
        switch parsed.words.first {
        case "list":
            _ = try parsed.words("list")
            try LedgerOptions.demand(ledger)
            return try list(sessions)
        case "end":
            let text = try parsed.words("end", "PERSON")[1]
            guard let person = CallerID(ofSession: text) else {
                throw CommandError(usage: "PERSON: expected console:NAME:PSEUDONYM, as “sessions list” shows it")
            }
            try LedgerOptions.demand(ledger)
            return try end(person, sessions)
        default: throw parsed.unknownSubcommand(of: ["list", "end"])
        }
    }

    private static func list(_ sessions: SessionAdministration) throws(CommandError) -> ExitCode {
        do {
            for entry in try sessions.live() {
                Terminal.say(
                    "\(entry.person)  \(entry.role.rawValue)  since \(entry.begunAt.rfc3339)  until \(entry.expiresAt.rfc3339)"
                )
            }
        } catch {
            throw CommandError(error.description, .unavailable)
        }
        return .success
    }

    private static func end(_ person: CallerID, _ sessions: SessionAdministration) throws(CommandError) -> ExitCode {
        let count: Int
        do { count = try sessions.end(person) } catch { throw CommandError(error.description, .unavailable) }
        guard count > 0 else {
            throw CommandError("\(person) has no session; compare the name with “offer-signer sessions list”")
        }
        Terminal.say(
            "\(count) \(count == 1 ? "session" : "sessions") of \(person) ended; a running service ends them within 5 s"
        )
        return .success
    }
}
