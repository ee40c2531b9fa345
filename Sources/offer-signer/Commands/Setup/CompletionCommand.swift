// SPDX-License-Identifier: Apache-2.0
import OfferService

/// `offer-signer completion`.
enum CompletionCommand: Command {
    static let name = "completion"
    static let summary = "print a completion script for bash, zsh or fish"
    static var help: String {
        """
        offer-signer completion prints a script by which a shell completes commands, options and their values.

        Usage: offer-signer completion bash|zsh|fish

        Examples:
          offer-signer completion bash > /etc/bash_completion.d/offer-signer
          offer-signer completion zsh > "${fpath[1]}/_offer-signer"
          offer-signer completion fish > ~/.config/fish/completions/offer-signer.fish
          source <(offer-signer completion bash)
        """
    }

    static let syntax = CommandSyntax(
        subcommands: shells.map { Subcommand(name: $0, summary: "the script for \($0)", usage: "", options: []) },
        takesSettings: false
    )
    private static let shells = ["bash", "zsh", "fish"]

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, known: [])
        guard let shell = parsed.words.first, parsed.words.count == 1, shells.contains(shell) else {
            throw parsed.unknownSubcommand(of: shells)
        }
        let table = CompletionTable(CommandLineTool.commands)
        switch shell {
        case "bash": Terminal.say(table.bash)
        case "zsh": Terminal.say(table.zsh)
        default: Terminal.say(table.fish)
        }
        return .success
    }
}
