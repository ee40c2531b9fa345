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

/// All commands with what they take, as the scripts need it.
struct CompletionTable {
    private let commands: [any Command.Type]

    init(_ commands: [any Command.Type]) { self.commands = commands }

    /// What may follow each command, or each command with its subcommand.
    private var rows: [(pattern: String, words: [String])] {
        commands.flatMap { command -> [(String, [String])] in
            let syntax = command.syntax
            let common = syntax.options + (syntax.takesSettings ? Setting.allCases.map(\.flag) : []) + ["--help"]
            let own = syntax.subcommands.map { ("\(command.name) \($0.name)", unique($0.options + common)) }
            return own + [("\(command.name) *", syntax.subcommands.map(\.name) + unique(common))]
        }
    }

    private func unique(_ words: [String]) -> [String] {
        var seen: Set<String> = []
        return words.filter { seen.insert($0).inserted }
    }

    /// Every option of any command, by what stands after it.
    private var options: [OptionValue: [String]] {
        let all = commands.flatMap { $0.syntax.options + $0.syntax.subcommands.flatMap(\.options) }
        let names = unique(all + Setting.allCases.map(\.flag))
        return Dictionary(grouping: names) { option in
            switch OptionValue.of(option) {
            case .file: .file("")
            case .other: .other("")
            case let value: value
            }
        }
    }

    /// One pattern of `case` for each kind of value.
    private func values(file: String, words: (String) -> String) -> String {
        var lines: [String] = []
        for (value, names) in options.sorted(by: { $0.value[0] < $1.value[0] }) {
            let pattern = names.sorted().joined(separator: "|")
            switch value {
            case .none: continue
            case .file: lines.append("        \(pattern)) \(file); return ;;")
            case .other: lines.append("        \(pattern)) return ;;")
            case .words(let choices):
                lines.append("        \(pattern)) \(words(choices.joined(separator: " "))); return ;;")
            }
        }
        return lines.joined(separator: "\n")
    }

    private func words(_ add: (String) -> String) -> String {
        let lines = rows.map { row in
            let pattern = row.pattern.hasSuffix(" *") ? "\"\(row.pattern.dropLast())\"*" : "\"\(row.pattern)\""
            return "        \(pattern)) \(add(row.words.joined(separator: " "))) ;;"
        }
        return lines.joined(separator: "\n")
    }

    private var names: String { commands.map { $0.name }.joined(separator: " ") }

    var bash: String {
        """
        # bash completion of offer-signer; made by: offer-signer completion bash
        _offer_signer() {
            local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
            local command=${COMP_WORDS[1]} sub=${COMP_WORDS[2]} words=
            COMPREPLY=()
            if [ "$COMP_CWORD" -eq 1 ]; then
                COMPREPLY=($(compgen -W "\(names) help --help --version" -- "$cur"))
                return
            fi
            case $prev in
        \(values(file: #"COMPREPLY=($(compgen -f -- "$cur"))"#) { #"COMPREPLY=($(compgen -W "\#($0)" -- "$cur"))"# })
            esac
            case "$command $sub" in
        \(words { "words=\"\($0)\"" })
            esac
            COMPREPLY=($(compgen -W "$words" -- "$cur"))
            case $command in
                verify|demo) COMPREPLY+=($(compgen -f -- "$cur")) ;;
            esac
        }
        complete -o filenames -F _offer_signer offer-signer
        """
    }

    var zsh: String {
        """
        #compdef offer-signer
        # zsh completion of offer-signer; made by: offer-signer completion zsh
        _offer_signer() {
            local command=${words[2]} sub=${words[3]} prev=${words[CURRENT-1]}
            local -a commands
            if (( CURRENT == 2 )); then
                commands=(
        \(commands.map { "            '\($0.name):\($0.summary.replacing("'", with: "’"))'" }.joined(separator: "\n"))
                )
                _describe command commands
                return
            fi
            case $prev in
        \(values(file: "_files") { "compadd -- \($0)" })
            esac
            case "$command $sub" in
        \(words { "compadd -- \($0)" })
            esac
            case $command in
                verify|demo) _files ;;
            esac
        }
        if [ "$funcstack[1]" = "_offer_signer" ] || [ "$funcstack[1]" = "_offer-signer" ]; then
            _offer_signer "$@"
        else
            compdef _offer_signer offer-signer
        fi
        """
    }

    var fish: String {
        var lines = [
            "# fish completion of offer-signer; made by: offer-signer completion fish", "complete -c offer-signer -f",
        ]
        for command in commands {
            let summary = quoted(command.summary)
            lines.append("complete -c offer-signer -n __fish_use_subcommand -a \(command.name) -d \(summary)")
            let syntax = command.syntax
            for sub in syntax.subcommands {
                let names = syntax.subcommands.map(\.name).joined(separator: " ")
                let condition =
                    "__fish_seen_subcommand_from \(command.name); and not __fish_seen_subcommand_from \(names)"
                lines.append("complete -c offer-signer -n '\(condition)' -a \(sub.name) -d \(quoted(sub.summary))")
                let own = "__fish_seen_subcommand_from \(command.name); and __fish_seen_subcommand_from \(sub.name)"
                lines += sub.options.map { option($0, own, help: nil) }
            }
            let condition = "__fish_seen_subcommand_from \(command.name)"
            lines += syntax.options.map { option($0, condition, help: nil) }
            guard syntax.takesSettings else { continue }
            lines += Setting.allCases.map { option($0.flag, condition, help: $0.help) }
        }
        return lines.joined(separator: "\n")
    }

    private func option(_ name: String, _ condition: String, help: String?) -> String {
        let value =
            switch OptionValue.of(name) {
            case .none: ""
            case .file: " -r -F"
            case .other: " -x"
            case .words(let words): " -x -a \(quoted(words.joined(separator: " ")))"
            }
        let text = help.map { " -d \(quoted($0))" } ?? ""
        return "complete -c offer-signer -n '\(condition)' -l \(name.dropFirst(2))\(value)\(text)"
    }

    private func quoted(_ text: String) -> String { "'" + text.replacing("'", with: #"\'"#) + "'" }
}
