// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import ServiceRuntime

/// `offer-signer tokens`.
enum TokensCommand: Command {
    static let name = "tokens"
    static let summary = "say why a user's token is refused, or whom it proves"
    static var help: String {
        """
        offer-signer tokens explain reads a token of an identity provider, as an app sends it, and checks it as the
        service does: with identityProviders of the keys file, and with the keys that the provider publishes now. It
        says the first thing that is wrong, or which customer the token proves. Callers never see the reason.

        Usage: offer-signer tokens explain FILE [OPTIONS]

        FILE has the token and nothing else; white space around it is passed over. The token is shown nowhere.

        Exit code 0 if the token would be accepted, 1 if not, 3 if the provider's keys could not be read. A DPoP proof
        is not checked, because it belongs to one request.

        \(SettingsOptions.help([.keys, .offers, .trustedCertificates, .groupReadableSecrets, .unlockedMemory]))
        """
    }

    static let syntax = CommandSyntax(
        subcommands: [
            Subcommand(
                name: "explain",
                summary: "say why a token is refused, or whom it proves",
                usage: "FILE",
                options: [],
                example: "token.txt"
            )
        ],
        takesFiles: true
    )

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, known: SettingsOptions.names)
        let words = try parsed.words("explain", "FILE")
        guard words[0] == "explain" else { throw CommandError(usage: "expected explain FILE, found \(words[0])") }
        let settings = try SettingsOptions.settings(parsed)
        try KeyCustody.begin(admitsUnlockedMemory: settings.admitsUnlockedMemory)
        let text: [UInt8]
        do { text = try TextFile.read(words[1]) } catch { throw CommandError("\(words[1]) \(error)") }
        let loaded: LoadedConfiguration
        do { loaded = try LoadedConfiguration(settings) } catch { throw CommandError(error) }
        let explanation: TokenExplanation
        do {
            explanation = try TokenExplanation.make(
                of: Self.trimmed(text),
                loaded,
                settings,
                at: WallClock.system.now()
            )
        } catch {
            throw CommandError("\(error)", .unavailable)
        }
        for line in explanation.lines { Terminal.say(line) }
        return switch explanation.verdict {
        case .accepted: .success
        case .refused: .failure
        case .unknown: .unavailable
        }
    }

    private static func trimmed(_ text: [UInt8]) -> [UInt8] {
        let isSpace: (UInt8) -> Bool = { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return Array(text.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
