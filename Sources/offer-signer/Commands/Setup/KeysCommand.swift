// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain
import OfferService
import ServiceRuntime

/// `offer-signer keys`.
enum KeysCommand: Command {
    static let name = "keys"
    static let summary = "list, disable and enable keys, without key material"
    static var help: String {
        """
        offer-signer keys shows the key ring, and disables and enables keys.

        Usage:
          offer-signer keys list [--format table]
          offer-signer keys disable KEY_ID
          offer-signer keys enable KEY_ID

        A disabled key signs nothing, whatever the keys file says about it. No decision after the command returns leads
        to a signature. If a service runs, the command waits for its last signature with the key, and says so. Both
        commands are recorded in the audit log. If no use of the id is on record, disable warns that it may be mistyped.
        enable ends what disable began; it does not change the keys file, so a key that is disabled there stays disabled.
        Google's service accounts are listed too. To disable one, remove it from the keys file and send the service a
        SIGHUP.

        \(SettingsOptions.help([.keys, .offers, .database, .groupReadableSecrets, .unlockedMemory]))
        """
    }

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, known: SettingsOptions.names + [ListFormat.option])
        let settings = try SettingsOptions.settings(parsed)
        let ledger = LedgerAccess(location: settings.database, clock: .system)
        let keyDisabling = KeyDisabling(ledger: ledger, clock: .system)
        switch parsed.words.first {
        case "list":
            _ = try parsed.words("list")
            let format = try ListFormat.of(parsed)
            return format == .table ? try table(settings, keyDisabling) : try list(settings, keyDisabling)
        case "disable":
            let id = try parsed.words("disable", "KEY_ID")[1]
            return try change(id, with: keyDisabling, in: ledger, disables: true)
        case "enable":
            let id = try parsed.words("enable", "KEY_ID")[1]
            return try change(id, with: keyDisabling, in: ledger, disables: false)
        default: throw parsed.unknownSubcommand(of: ["list", "disable", "enable"])
        }
    }

    private static func list(_ settings: Settings, _ keyDisabling: KeyDisabling) throws(CommandError) -> ExitCode {
        let (ring, disabled) = try keyRing(settings, keyDisabling)
        for key in ring.keys {
            Terminal.say(
                "\(key.id)  \(key.status.rawValue)  \(key.bundleIDs.map(\.text).joined(separator: " "))  "
                    + "\(key.purposes.map(\.rawValue).sorted().joined(separator: " "))  "
                    + "public key sha256:\(key.publicKeyDigest ?? "not loaded")"
            )
        }
        for account in ring.serviceAccounts {
            Terminal.say(
                "\(account.name.email)  \(account.name.keyID)  "
                    + "\(account.packageNames.map(\.text).joined(separator: " "))  "
                    + "public key sha256:\(account.publicKeyDigest)"
            )
        }
        for id in disabled.subtracting(ring.keys.map(\.id)).map(\.text).sorted() {
            Terminal.say("\(id)  disabled  not in the keys file")
        }
        return .success
    }

    private static func table(_ settings: Settings, _ keyDisabling: KeyDisabling) throws(CommandError) -> ExitCode {
        let (ring, disabled) = try keyRing(settings, keyDisabling)
        var table = TextTable("KEY", "STATE", "APPS", "PURPOSES", "PUBLIC KEY SHA-256")
        for key in ring.keys {
            table.add([
                key.id.text, key.status.rawValue, key.bundleIDs.map(\.text).joined(separator: " "),
                key.purposes.map(\.rawValue).sorted().joined(separator: " "), key.publicKeyDigest ?? "not loaded",
            ])
        }
        for account in ring.serviceAccounts {
            let apps = account.packageNames.map(\.text).joined(separator: " ")
            table.add(["\(account.name.email)", "active", apps, "google-play", account.publicKeyDigest])
        }
        for id in disabled.subtracting(ring.keys.map(\.id)).map(\.text).sorted() {
            table.add([id, "disabled", "-", "-", "not in the keys file"])
        }
        for line in table.lines { Terminal.say(line) }
        return .success
    }

    /// Needs only the database: in an emergency, a problem with the configuration or a key must not block it.
    private static func change(
        _ text: String,
        with keyDisabling: KeyDisabling,
        in ledger: LedgerAccess,
        disables: Bool
    ) throws(CommandError) -> ExitCode {
        let id: KeyID
        do {
            id = try KeyID(text)
        } catch {
            guard !namesServiceAccount(text) else {
                throw CommandError(
                    usage:
                        "KEY_ID is a service account's: nothing is changed. Disable or enable a service account in the "
                        + "keys file: take it from googleServiceAccounts, or put it back, and send the service a SIGHUP"
                )
            }
            throw CommandError(usage: "KEY_ID \(error)")
        }
        try LedgerOptions.demand(ledger)
        do {
            try keyDisabling.set(id, isDisabled: disables)
        } catch {
            throw CommandError(error.description, .unavailable)
        }
        guard disables else {
            Terminal.say("\(id) is enabled again; it signs if the keys file has it as active (keys list)")
            return .success
        }
        let conclusion = StopOptions.conclude("\(id) is disabled", ledger)
        remark(on: id, keyDisabling)
        return conclusion
    }

    /// Warns about an id that was never used: it may be mistyped, and the intended key is then still enabled.
    private static func remark(on id: KeyID, _ keyDisabling: KeyDisabling) {
        // The key is disabled in any case; a failed read here is no reason to say otherwise.
        guard (try? keyDisabling.isUseOnRecord(of: id)) == false else { return }
        Terminal.complain("no use of a key \(id) is on record: if it has signed, look at its id again (keys list)")
    }

    /// Whether a text is what Google calls an account, or its key: 40 hexadecimal digits today.
    private static func namesServiceAccount(_ text: String) -> Bool {
        GoogleEmail(text) != nil || text.utf8.count >= 16 && text.allSatisfy(\.isHexDigit)
    }

    /// The keys of the file as they are in force, and every disabled ID, whether the file has it or not.
    private static func keyRing(
        _ settings: Settings,
        _ keyDisabling: KeyDisabling
    ) throws(CommandError) -> (ring: KeyRing, disabled: Set<KeyID>) {
        try KeyCustody.begin(admitsUnlockedMemory: settings.admitsUnlockedMemory)
        let loaded: LoadedConfiguration
        do { loaded = try LoadedConfiguration(settings) } catch { throw CommandError(error) }
        do {
            let disabled = try keyDisabling.disabled()
            return (loaded.keys.ring.disabling(disabled), disabled)
        } catch {
            throw CommandError(error.description, .unavailable)
        }
    }
}
