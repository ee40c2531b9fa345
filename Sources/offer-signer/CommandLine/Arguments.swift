// SPDX-License-Identifier: Apache-2.0
import Configuration
import JSON
import OfferService

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
                throw Self.unknown(parts[0], among: known + knownFlags)
            }
            guard let value = parts.count == 2 ? parts[1] : iterator.next() else {
                throw CommandError(usage: "\(parts[0]) needs a value")
            }
            options.append((parts[0], value))
        }
    }

    /// A command line whose first plain word is one of `subcommands`; each has its own options beside the settings.
    ///
    /// An option of another subcommand is refused: if it were ignored, the command would do more than was asked for. An
    /// option of a subcommand takes precedence over the setting of the same name.
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

    /// The error for an unknown option, with the option that was most likely meant.
    private static func unknown(_ option: String, among known: [String]) -> CommandError {
        let other = familiar[option].flatMap { known.contains($0) ? $0 : nil } ?? nearest(to: option, among: known)
        let suggestion = other.map { "; did you mean \($0)?" } ?? ""
        return CommandError(usage: "\(option) is not an option here\(suggestion)")
    }

    /// What other programs call our options.
    private static let familiar = [
        "--port": Setting.listen.flag, "--host": Setting.listen.flag, "--bind": Setting.listen.flag,
        "--address": Setting.listen.flag, "--addr": Setting.listen.flag, "--config": Setting.keys.flag,
        "--catalog": Setting.offers.flag, "--db": Setting.database.flag,
        "--log-level": Setting.log.flag, "--verbose": Setting.log.flag, "--cert": Setting.tlsCertificate.flag,
        "--tls-cert": Setting.tlsCertificate.flag, "--bundle": "--bundle-id", "--bundle-id": "--bundle",
        "--product": "--product-id", "--offer": "--offer-id", "--key-id": "--key", "--since": "--from",
        "--to": "--until",
        "--output": "--format", "--dir": "--directory", "--file": "--p8", "--key": "--p8", "--app": "--bundle",
        "--issuer-id": "--issuer", "--product-id": "--product", "--offer-id": "--offer", "--group-id": "--group",
    ]

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
        expecting expected: String,
        _ parse: (String) -> Value?
    ) throws(CommandError) -> Value? {
        guard let text = try value(name) else { return nil }
        guard let value = parse(text) else {
            throw CommandError(usage: "\(name): expected \(expected), found “\(text)”")
        }
        return value
    }

    /// The error for an unknown subcommand, with the subcommand that was most likely meant.
    func unknownSubcommand(of names: [String]) -> CommandError {
        let last = names.last ?? ""
        let list = names.count > 1 ? names.dropLast().joined(separator: ", ") + " or " + last : last
        guard let word = words.first else { return CommandError(usage: "expected \(list)") }
        let suggestion = nearest(to: word, among: names).map { "; did you mean “\($0)”?" } ?? ""
        return CommandError(usage: "expected \(list), found “\(word)”\(suggestion)")
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
