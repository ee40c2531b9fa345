// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferService

extension CompletionTable {
    var bash: String {
        """
        # bash completion of offer-signer; made by: offer-signer completion bash
        _offer_signer() {
            local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
            local command=${COMP_WORDS[1]} sub=${COMP_WORDS[2]} words= subs=
            COMPREPLY=()
            # bash takes “--name=value” for three words.
            if [ "$prev" = "=" ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; elif [ "$cur" = "=" ]; then cur=; fi
            if [ "$COMP_CWORD" -eq 1 ]; then
                COMPREPLY=($(compgen -W "\(names) help --help --version" -- "$cur"))
                return
            fi
            if [ "$command" = help ]; then
                command=$sub
                if [ "$COMP_CWORD" -eq 2 ]; then COMPREPLY=($(compgen -W "\(names)" -- "$cur")); return; fi
            fi
            case $command in
        \(subcommandCases { "subs=\"\($0)\"" })
            esac
            if [ "${COMP_WORDS[1]}" = help ]; then
                if [ "$COMP_CWORD" -eq 3 ]; then COMPREPLY=($(compgen -W "$subs" -- "$cur")); fi
                return
            fi
            case "$command $sub $prev" in
        \(choiceCases { #"COMPREPLY=($(compgen -W "\#($0)" -- "$cur"))"# })
            esac
            case $prev in
        \(values(file: #"COMPREPLY=($(compgen -f -- "$cur"))"#) { #"COMPREPLY=($(compgen -W "\#($0)" -- "$cur"))"# })
            esac
            if [ -n "$subs" ] && [ "$COMP_CWORD" -eq 2 ] && [[ $cur != -* ]]; then
                COMPREPLY=($(compgen -W "$subs" -- "$cur"))
                return
            fi
            case "$command $sub" in
        \(wordCases { "words=\"\($0)\"" })
            esac
            COMPREPLY=($(compgen -W "$words" -- "$cur"))
            case $command in
                \(fileCommands)) COMPREPLY+=($(compgen -f -- "$cur")) ;;
            esac
        }
        complete -o filenames -F _offer_signer offer-signer
        """
    }

    var zsh: String {
        let summaries = commands.map { ($0.name, $0.summary) } + [("help", "explain a command")]
        return """
            #compdef offer-signer
            # zsh completion of offer-signer; made by: offer-signer completion zsh
            _offer_signer() {
                local command=${words[2]} sub=${words[3]} prev=${words[CURRENT-1]} subs=
                local -a commands
                if (( CURRENT == 2 )); then
                    commands=(
            \(summaries.map { "            '\($0.0):\($0.1.replacing("'", with: "’"))'" }.joined(separator: "\n"))
                    )
                    _describe command commands
                    return
                fi
                if [ "$command" = help ]; then
                    command=$sub
                    if (( CURRENT == 3 )); then compadd -- \(names); return; fi
                fi
                case $command in
            \(subcommandCases { "subs=\"\($0)\"" })
                esac
                if [ "${words[2]}" = help ]; then
                    if (( CURRENT == 4 )); then compadd -- ${=subs}; fi
                    return
                fi
                case "$command $sub $prev" in
            \(choiceCases { "compadd -- \($0)" })
                esac
                case $prev in
            \(values(file: "_files") { "compadd -- \($0)" })
                esac
                if [ -n "$subs" ] && (( CURRENT == 3 )) && [[ ${words[CURRENT]} != -* ]]; then
                    compadd -- ${=subs}
                    return
                fi
                case "$command $sub" in
            \(wordCases { "compadd -- \($0)" })
                esac
                case $command in
                    \(fileCommands)) _files ;;
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
            "complete -c offer-signer -n __fish_use_subcommand -a help -d \(quoted("explain a command"))",
            "complete -c offer-signer -n '__fish_seen_subcommand_from help' -a \(quoted(names))",
        ]
        for command in commands {
            let summary = quoted(command.summary)
            lines.append("complete -c offer-signer -n __fish_use_subcommand -a \(command.name) -d \(summary)")
            let syntax = command.syntax
            let seen = "__fish_seen_subcommand_from \(command.name)"
            lines += syntax.subcommands.flatMap { fishLines(of: $0, syntax, seen) }
            lines += syntax.options.map { option($0, seen, help: nil, choices: syntax.choices) }
            if syntax.takesFiles { lines.append("complete -c offer-signer -n '\(seen)' -F") }
            guard syntax.takesSettings else { continue }
            lines += Setting.allCases.map { option($0.flag, seen, help: $0.help) }
        }
        return lines.joined(separator: "\n")
    }

    private func fishLines(of sub: Subcommand, _ syntax: CommandSyntax, _ seen: String) -> [String] {
        let names = syntax.subcommands.map(\.name).joined(separator: " ")
        let condition = "\(seen); and not __fish_seen_subcommand_from \(names)"
        let first = "complete -c offer-signer -n '\(condition)' -a \(sub.name) -d \(quoted(sub.summary))"
        let own = "\(seen); and __fish_seen_subcommand_from \(sub.name)"
        return [first] + sub.options.map { option($0, own, help: nil, choices: sub.choices) }
    }

    private func option(
        _ name: String,
        _ condition: String,
        help: String?,
        choices: [String: [String]] = [:]
    ) -> String {
        let value =
            switch choices[name].map(OptionValue.words) ?? OptionValue.of(name) {
            case .none: ""
            case .file: " -r -F"
            case .other: " -x"
            case .words(let words), .named(_, let words): " -x -a \(quoted(words.joined(separator: " ")))"
            }
        let text = help.map { " -d \(quoted($0))" } ?? ""
        return "complete -c offer-signer -n '\(condition)' -l \(name.dropFirst(2))\(value)\(text)"
    }

    private func quoted(_ text: String) -> String { "'" + text.replacing("'", with: #"\'"#) + "'" }
}
