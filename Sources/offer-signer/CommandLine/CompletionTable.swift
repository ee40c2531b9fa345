// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferService

/// All commands with what they take, as the scripts need it.
struct CompletionTable {
    /// One pattern of a shell's `case`, and the words that it offers.
    typealias Case = (pattern: String, words: [String])

    let commands: [any Command.Type]

    init(_ commands: [any Command.Type]) { self.commands = commands }

    /// What may follow each command, or each command with its subcommand.
    private var rows: [Case] {
        commands.flatMap { command -> [Case] in
            let syntax = command.syntax
            let common = syntax.options + (syntax.takesSettings ? Setting.allCases.map(\.flag) : []) + ["--help"]
            let own = syntax.subcommands.map { sub -> Case in
                ("\"\(command.name) \(sub.name)\"", unique(sub.options + common))
            }
            return own + [("\"\(command.name) \"*", unique(common))]
        }
    }

    private func unique(_ words: [String]) -> [String] {
        var seen: Set<String> = []
        return words.filter { seen.insert($0).inserted }
    }

    /// Every option of any command, by the kind of its value.
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

    /// The values that an option has after one command alone, or after one of its subcommands.
    private var choices: [Case] {
        let all = commands.flatMap { command -> [Case] in
            let own = command.syntax.choices.map { choice -> Case in
                ("\"\(command.name) \"*\" \(choice.key)\"", choice.value)
            }
            return own
                + command.syntax.subcommands.flatMap { sub -> [Case] in
                    sub.choices.map { ("\"\(command.name) \(sub.name) \($0.key)\"", $0.value) }
                }
        }
        return all.sorted { $0.pattern < $1.pattern }
    }

    /// The commands with their subcommands.
    var subcommands: [Case] {
        commands.filter { !$0.syntax.subcommands.isEmpty }.map { ($0.name, $0.syntax.subcommands.map(\.name)) }
    }

    /// One pattern of `case` for each kind of value.
    func values(file: String, words: (String) -> String) -> String {
        var lines: [String] = []
        for (value, names) in options.sorted(by: { $0.value[0] < $1.value[0] }) {
            let pattern = names.sorted().joined(separator: "|")
            switch value {
            case .none: continue
            case .file: lines.append("        \(pattern)) \(file); return ;;")
            case .other: lines.append("        \(pattern)) return ;;")
            case .words(let choices), .named(_, let choices):
                lines.append("        \(pattern)) \(words(choices.joined(separator: " "))); return ;;")
            }
        }
        return lines.joined(separator: "\n")
    }

    private func cases(_ rows: [Case], _ add: (String) -> String) -> String {
        rows.map { "        \($0.pattern)) \(add($0.words.joined(separator: " "))) ;;" }.joined(separator: "\n")
    }

    func wordCases(_ add: (String) -> String) -> String { cases(rows, add) }

    func choiceCases(_ add: (String) -> String) -> String { cases(choices) { "\(add($0)); return" } }

    func subcommandCases(_ add: (String) -> String) -> String { cases(subcommands, add) }

    var names: String { commands.map { $0.name }.joined(separator: " ") }

    /// Commands after which files may stand as plain words.
    var fileCommands: String { commands.filter { $0.syntax.takesFiles }.map { $0.name }.joined(separator: "|") }
}
