// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Ledger
import OfferDomain
import OfferService
import ServiceRuntime
import Storage

/// `offer-signer customers`.
enum CustomersCommand: Command {
    static let name = "customers"
    static let summary = "find a known customer in the records, destroy an old secret of customer IDs"
    static var help: String {
        """
        offer-signer customers works with the pseudonyms that ledger and records have instead of customers' ids.

        Usage:
          offer-signer customers pseudonym --app BUNDLE_OR_PACKAGE NAME…
          offer-signer customers destroy-epoch EPOCH

        pseudonym prints how records write a known customer, one line for each name and secret, the newest first; give
        each to: offer-signer audit query --user. Before that it records that it was asked: the app and the pseudonyms,
        never the name. NAME is one or more of:

        \(names.map { "  \($0.option) \($0.value)" }.joined(separator: "\n"))

        The app is what the ledger calls it: its bundle id, or its package name if it is at Google Play alone.

        destroy-epoch destroys a version of the secret of customer IDs, but not the one in force. EPOCH is its name in
        the keys file. The command records that, deletes from the ledger what was granted, linked and redeemed while the
        version was in force, then overwrites its file and removes it. From then on its pseudonyms can't be linked to
        customers, and what was granted under it counts toward no cap. That can't be undone. Remove it from the keys
        file afterwards; until then the service warns of it. The command cannot reach backups, snapshots and the spare
        blocks of an SSD: destroy those copies too. The running service stops using it within a second.

        Exit code 0 if it is done; 1 if it can't be; 3 if the database could not be used.

        \(SettingsOptions.help([.keys, .offers, .database, .groupReadableSecrets, .unlockedMemory]))
        """
    }

    /// A name under which a customer may be known.
    private struct Name {
        let option: String
        let value: String
        let expected: String
        let read: @Sendable (String) -> CustomerIdentity?
    }

    private static let names = [
        Name(option: "--customer-id", value: "ID", expected: visible(64)) { text in
            (try? CustomerID(text)).map(CustomerIdentity.customer)
        },
        Name(option: "--anonymous-id", value: "ID", expected: visible(64)) { text in
            (try? AnonymousID(text)).map(CustomerIdentity.anonymous)
        },
        Name(option: "--app-account-token", value: "UUID", expected: "a UUID with its hyphens") { text in
            UniqueID(text).map(CustomerIdentity.appAccountToken)
        },
        Name(option: "--application-username", value: "TEXT", expected: visible(255)) { text in
            (try? ApplicationUsername(text)).map(CustomerIdentity.applicationUsername)
        },
        Name(option: "--original-transaction-id", value: "NUMBER", expected: digits) { text in
            (try? TransactionID(text)).map(CustomerIdentity.originalTransaction)
        },
        Name(option: "--app-transaction-id", value: "NUMBER", expected: digits) { text in
            (try? TransactionID(text)).map(CustomerIdentity.appTransaction)
        },
    ]

    static let subcommands = ["pseudonym": ["--app"] + names.map(\.option), "destroy-epoch": []]

    private static let digits = "1 to 20 digits"

    private static func visible(_ most: Int) -> String { "1 to \(most) visible ASCII characters, no spaces" }

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, subcommands: subcommands)
        let settings = try SettingsOptions.settings(parsed)
        switch parsed.words.first {
        case "pseudonym":
            _ = try parsed.words("pseudonym")
            return try pseudonym(parsed, settings)
        case "destroy-epoch": return try destroy(try parsed.words("destroy-epoch", "EPOCH")[1], settings)
        default: throw parsed.unknownSubcommand(of: ["pseudonym", "destroy-epoch"])
        }
    }

    private static func pseudonym(_ arguments: Arguments, _ settings: Settings) throws(CommandError) -> ExitCode {
        guard let text = try arguments.value("--app") else { throw CommandError(usage: "--app is missing") }
        let app: AppName
        do { app = try AppName(text) } catch { throw CommandError(usage: "--app: \(error)") }
        let identities = try identities(arguments)
        try KeyCustody.begin(admitsUnlockedMemory: settings.admitsUnlockedMemory)
        let loaded: LoadedConfiguration
        do { loaded = try LoadedConfiguration(settings) } catch { throw CommandError(error) }
        guard AppInStores(app, in: loaded.catalog) != nil else {
            throw CommandError("the offers file has no app that the ledger calls \(app)")
        }
        let ledger = LedgerAccess(location: settings.database, clock: .system)
        let issues: [ConfigurationIssue]
        do { issues = try loaded.secretIssues(in: ledger) } catch {
            throw CommandError(error.description, .unavailable)
        }
        if !issues.isEmpty { throw CommandError(ConfigurationError(issues)) }
        do {
            let lookup = CustomerLookup(ledger: ledger, pseudonyms: loaded.keys.pseudonyms)
            for user in try lookup.users(identities, in: app) { Terminal.say(user.text) }
        } catch {
            throw CommandError(error.description, .unavailable)
        }
        return .success
    }

    private static func identities(_ arguments: Arguments) throws(CommandError) -> [CustomerIdentity] {
        var identities: [CustomerIdentity] = []
        for name in names {
            for text in arguments.values(name.option) {
                // The value is not repeated: it identifies a customer, and terminals are recorded.
                guard let identity = name.read(text) else {
                    throw CommandError(usage: "\(name.option): expected \(name.expected); what is given is not shown")
                }
                identities.append(identity)
            }
        }
        guard (1...16).contains(identities.count) else {
            let options = names.map(\.option).joined(separator: ", ")
            throw CommandError(usage: "expected 1 to 16 names of a customer: \(options)")
        }
        return identities
    }

    private static func destroy(_ version: String, _ settings: Settings) throws(CommandError) -> ExitCode {
        guard SecretVersion.isName(version) else {
            throw CommandError(usage: "EPOCH: expected 1 to 16 letters or digits")
        }
        try KeyCustody.begin(admitsUnlockedMemory: settings.admitsUnlockedMemory)
        let destruction = SecretDestruction(
            ledger: LedgerAccess(location: settings.database, clock: .system),
            clock: .system,
            keysPath: settings.keysPath
        )
        do {
            switch try destruction.destroy(version) {
            case .removed(let path):
                Terminal.say("epoch \(version) is destroyed, and \(path) overwritten and removed")
            case .gone(let path):
                Terminal.say("epoch \(version) is destroyed; there is no \(path) to remove any more")
            case .notNamed:
                Terminal.say(
                    "epoch \(version) is destroyed in the ledger; \(settings.keysPath) names no file of it to remove: destroy "
                        + "the secret wherever it is kept"
                )
            }
        } catch {
            switch error {
            case .ledger, .file: throw CommandError(error.description, .unavailable)
            case .inForce, .unknown, .configuration: throw CommandError("epoch \(version): \(error)")
            }
        }
        Terminal.say("take it from \(settings.keysPath), and destroy every copy of the secret: backups, snapshots")
        return .success
    }
}
