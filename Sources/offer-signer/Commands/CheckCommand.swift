// SPDX-License-Identifier: Apache-2.0
import OfferService

/// `offer-signer check`.
enum CheckCommand: Command {
    static let name = "check"
    static let summary = "say everything that is wrong with keys, offers and settings"
    static var help: String {
        """
        offer-signer check reads settings, keys and offers as the service would, and says everything that is
        wrong with them at once: the file with line and column, the path inside it, what was found, what was
        expected. It opens every key. It changes nothing.

        Usage: offer-signer check [OPTIONS]

        Exit code 0 if all of that could be used, 1 if not. The database and the address to listen on are tried
        only when the service starts.

        \(SettingsOptions.help([.keys, .offers, .groupReadableSecrets, .unlockedMemory]))
        """
    }

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, known: SettingsOptions.names)
        _ = try parsed.words()
        let settings = try SettingsOptions.settings(parsed)
        try KeyCustody.begin(admitsUnlockedMemory: settings.admitsUnlockedMemory)
        do {
            let loaded = try LoadedConfiguration(settings)
            for warning in loaded.warnings { Terminal.complain("\(warning)") }
            let keys = loaded.keys.ring.keys
            Terminal.say(
                "\(settings.keysPath): \(keys.count) key\(keys.count == 1 ? "" : "s"), "
                    + "\(keys.count { $0.status == .active }) active"
            )
            Terminal.say("\(settings.offersPath): \(loaded.catalog.offers.count) offers, \(loaded.catalog.policyName)")
            return .success
        } catch {
            for issue in error.issues { Terminal.complain("\(issue)") }
            return .failure
        }
    }
}
