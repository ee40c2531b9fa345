// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Ledger
import OfferService
import ServiceRuntime
import Storage
import Stores

/// `offer-signer check`.
enum CheckCommand: Command {
    static let name = "check"
    static let summary = "say everything that is wrong with keys, offers and settings"
    static var help: String {
        """
        offer-signer check reads settings, keys and offers as the service would, and says what is wrong with them at
        once: the file with line and column, the path inside it, what was found, what was expected. Some problems
        appear only after others are fixed, so run it again.

        It opens every key and certificate, and compares the customers' ids and the log with the database and the
        checkpoint file as serve does; where there is no database yet, it says so. It changes nothing.

        Usage: offer-signer check [--live] [--strict] [OPTIONS]

        --strict also ends with 1 if an offer could never be signed or authorized: no key is active for its app, or no
        service account.

        --live also asks the App Store whether it accepts the keys of the purpose app-store-server-api: one
        harmless question for each app and environment, about a transaction that does not exist. It says what is
        wrong, as far as the answers show: the key id, the issuer id, the bundle id, the clock, the network. Each
        use of a key is recorded in the database's audit log before it happens; without a database it refuses.

        For each app with retention it compares the messages of the catalog with Apple's: their states, and images
        where Apple's list has them; the real-time URL; and products without a default message. That a team has no
        access to Retention Messaging is said, and is no error.

        With a key of the App Store Connect API (appStoreConnect in the keys file) it compares the catalog with what
        is set up there: apps, subscription groups, products and their states, and promotional offers.

        It reads the keys of each identity provider (identityProviders in the keys file), and says what is wrong with
        its discovery document, its key set, or its answer.

        It also compares the offers of each app with what Google Play lists, and reports offers that cannot be
        authorized, that leak, or that are hidden by mistake. docs/google-play.md explains each finding.

        Exit codes: 0 if all of it could be used; 1 if not; 3 if the database could not be used, if its log is not
        the one that was signed, or if, with --live, a store did not answer and nothing else is wrong. The address to
        listen on is tried only when the service starts.

        All settings are read as serve reads them. These decide what else is opened or asked:

        \(SettingsOptions.help(settings))
        """
    }

    private static let live = "--live"
    private static let strict = "--strict"
    private static let settings: [Setting] = [
        .keys, .offers, .database, .checkpointFile, .logPolicy, .tlsCertificate, .tlsKey, .appStoreRoots,
        .trustedCertificates, .appStoreURL, .appStoreSandboxURL, .appStoreConnectURL, .googlePlayURL, .googleOAuthURL,
        .groupReadableSecrets,
        .unlockedMemory,
    ]

    static let syntax = CommandSyntax(options: [live, strict])

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, known: SettingsOptions.names, flags: [live, strict])
        _ = try parsed.words()
        let settings = try SettingsOptions.settings(parsed)
        try KeyCustody.begin(admitsUnlockedMemory: settings.admitsUnlockedMemory)
        let loaded: LoadedConfiguration
        do {
            loaded = try LoadedConfiguration(settings)
        } catch {
            for issue in error.issues { Terminal.complain("\(issue)") }
            return .failure
        }
        if try contradictsDatabase(loaded, settings) { return .failure }
        let warnings = try loaded.warnings + callerIssues(loaded, settings) + loaded.samples
        for warning in warnings { Terminal.complain("\(warning)") }
        let keys = loaded.keys.ring.keys
        Terminal.say(
            "\(settings.keysPath): \(keys.count) key\(keys.count == 1 ? "" : "s"), "
                + "\(keys.count { $0.status == .active }) active"
        )
        let providers = loaded.keys.identity.all.count
        if providers > 0 {
            Terminal.say("\(settings.keysPath): \(providers) identity provider\(providers == 1 ? "" : "s")")
        }
        let offers = loaded.catalog.offers.count
        Terminal.say(
            "\(settings.offersPath): \(offers) offer\(offers == 1 ? "" : "s"), \(loaded.catalog.policyName)"
        )
        for note in loaded.notes { Terminal.say("note: \(note)") }
        let result = parsed.flags.contains(live) ? try askStores(settings, loaded) : .success
        guard parsed.flags.contains(strict), result == .success, !loaded.ungrantable.isEmpty else { return result }
        Terminal.complain("error: with --strict, an offer that can never be signed or authorized is an error")
        return .failure
    }

    /// What is doubtful about the callers that the database has.
    private static func callerIssues(
        _ loaded: LoadedConfiguration,
        _ settings: Settings
    ) throws(CommandError) -> [ConfigurationIssue] {
        do {
            return try loaded.callerIssues(in: LedgerAccess(location: settings.database, clock: .system))
        } catch {
            throw CommandError(ServiceError.database(error))
        }
    }

    /// Whether the database and the keys file differ in the secrets of customers' ids or in the log; prints what is
    /// wrong with them, and what could not be compared.
    ///
    /// - Throws: What else of the database would keep the service from starting.
    private static func contradictsDatabase(
        _ loaded: LoadedConfiguration,
        _ settings: Settings
    ) throws(CommandError) -> Bool {
        let ledger = LedgerAccess(location: settings.database, clock: .system)
        var issues: [ConfigurationIssue] = []
        if !ledger.exists {
            let message =
                "there is no database at \(ledger.name) yet, so nothing was compared; serve would begin an empty one"
            issues.append(ConfigurationIssue(.warning, place: Setting.database.flag, message))
        }
        do { issues += try loaded.secretIssues(in: ledger) } catch { throw CommandError(ServiceError.database(error)) }
        do {
            issues += try loaded.logIssues(in: ledger, checkpoint: settings.checkpointPath)
        } catch {
            throw CommandError(error)
        }
        for issue in issues { Terminal.complain("\(issue)") }
        return issues.contains { $0.severity == .error }
    }

    private static func askStores(
        _ settings: Settings,
        _ loaded: LoadedConfiguration
    ) throws(CommandError) -> ExitCode {
        let random: SystemRandom
        do {
            random = try SystemRandom()
        } catch {
            throw CommandError("\(error)", .unavailable)
        }
        let reports: LiveReports
        do {
            reports = try LiveCheck(settings, loaded, clock: .system, random: random).run()
        } catch {
            throw CommandError(error.description, .unavailable)
        }
        Terminal.say("")
        for line in reports.lines { Terminal.say(line) }
        return switch reports.verdict {
        case .good: .success
        case .wrong: .failure
        case .unreachable: .unavailable
        }
    }
}
