// SPDX-License-Identifier: Apache-2.0
import JSON

/// A command line taken apart: plain words, and options with their values.
///
/// `--name value` and `--name=value` mean the same; every option has a value, unless it is known as a flag.
struct Arguments {
    private(set) var words: [String] = []
    private(set) var options: [(name: String, value: String)] = []
    /// Options without a value.
    private(set) var flags: Set<String> = []

    init(
        _ arguments: some Sequence<String>,
        known: [String],
        flags knownFlags: [String] = []
    ) throws(CommandError) {
        var iterator = arguments.makeIterator()
        while let argument = iterator.next() {
            guard argument.hasPrefix("--") else {
                words.append(argument)
                continue
            }
            if knownFlags.contains(argument) {
                flags.insert(argument)
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard known.contains(parts[0]) else {
                let suggestion = nearest(to: parts[0], among: known + knownFlags).map { "; did you mean \($0)?" } ?? ""
                throw CommandError(usage: "\(parts[0]) is not an option here\(suggestion)")
            }
            guard let value = parts.count == 2 ? parts[1] : iterator.next() else {
                throw CommandError(usage: "\(parts[0]) needs a value")
            }
            options.append((parts[0], value))
        }
    }

    /// A command line whose first plain word is one of `subcommands`, each with the options that it has beside the settings.
    ///
    /// What only another one has is refused: ignored, it would leave more done than was asked for. An option of a subcommand
    /// comes before the setting of the same name.
    init(
        _ arguments: some Sequence<String>,
        subcommands: [String: [String]],
        flags knownFlags: [String] = []
    ) throws(CommandError) {
        let special = Set(subcommands.values.joined())
        let settings = SettingsOptions.names.filter { !special.contains($0) }
        try self.init(arguments, known: settings + special.subtracting(knownFlags).sorted(), flags: knownFlags)
        guard let word = words.first, let own = subcommands[word] else { return }
        let given = options.map(\.name) + flags.sorted()
        if let other = given.first(where: { !own.contains($0) && !settings.contains($0) }) {
            throw CommandError(usage: "\(other) is not an option of \(word)")
        }
    }

    /// Every value of an option that may be given more than once.
    func values(_ name: String) -> [String] {
        options.filter { $0.name == name }.map(\.value)
    }

    /// The value of an option that may be given once.
    func value(_ name: String) throws(CommandError) -> String? {
        let values = values(name)
        guard values.count <= 1 else { throw CommandError(usage: "\(name) is given \(values.count) times") }
        return values.first
    }

    /// The value of an option through a parser; `expected` says what it takes.
    func value<Value>(
        _ name: String,
        _ expected: String,
        _ parse: (String) -> Value?
    ) throws(CommandError) -> Value? {
        guard let text = try value(name) else { return nil }
        guard let value = parse(text) else {
            throw CommandError(usage: "\(name): expected \(expected), found “\(text)”")
        }
        return value
    }

    /// Demands that exactly these plain words are there, and gives them.
    func words(_ names: String...) throws(CommandError) -> [String] {
        guard words.count == names.count else {
            let wanted = names.isEmpty ? "no further words" : names.joined(separator: " ")
            throw CommandError(usage: "expected \(wanted), found “\(words.joined(separator: " "))”")
        }
        return words
    }
}
