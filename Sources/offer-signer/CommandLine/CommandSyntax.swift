// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService

/// What a command takes, for its completion and for the help of each subcommand.
struct CommandSyntax {
    var subcommands: [Subcommand] = []
    /// Beside the settings and what subcommands have; flags too.
    var options: [String] = []
    /// Whether the settings are options too.
    var takesSettings = true
    /// Whether files may stand as plain words.
    var takesFiles = false
    /// The values of options that have others elsewhere.
    var choices: [String: [String]] = [:]
}

/// One subcommand, with what it takes.
struct Subcommand {
    let name: String
    let summary: String
    /// What follows its name.
    let usage: String
    /// Beside the settings; flags too.
    let options: [String]
    var example: String?
    /// The values of options that have others elsewhere.
    var choices: [String: [String]] = [:]

    /// The page of `offer-signer COMMAND SUBCOMMAND --help`.
    func help(of command: any Command.Type) -> String {
        let list = options.map { option in
            // A long list would make the page unreadable.
            let own = choices[option].flatMap { $0.count > 4 ? nil : OptionValue.words($0) }
            let value = (own ?? OptionValue.of(option)).placeholder
            return "  \(option)\(value.isEmpty ? "" : " ")\(value)"
        }
        var blocks = [
            "offer-signer \(command.name) \(name): \(summary).",
            "Usage: offer-signer \(command.name) \(name)\(usage.isEmpty ? "" : " ")\(usage)",
        ]
        if !list.isEmpty { blocks.append((["Options:"] + list).joined(separator: "\n")) }
        if let example { blocks.append("Example:\n  offer-signer \(command.name) \(name) \(example)") }
        blocks.append(
            "The settings of “offer-signer \(command.name) --help” are options too; that page explains them, and everything else."
        )
        return blocks.joined(separator: "\n\n")
    }
}

extension CallersCommand {
    static let syntax = CommandSyntax(subcommands: [
        Subcommand(
            name: "add",
            summary: "add a caller, and print its API key once",
            usage: "NAME --role ROLE [--bundle ID]… [--expires-days NUMBER] [--rate RATE] [--create]",
            options: subcommands["add"] ?? [],
            example: "web-backend --role backend --bundle com.acme.notes"
        ),
        Subcommand(
            name: "add-key",
            summary: "give a caller a second API key, to rotate the first",
            usage: "NAME [--expires-days NUMBER]",
            options: subcommands["add-key"] ?? [],
            example: "web-backend --expires-days 365"
        ),
        Subcommand(
            name: "list",
            summary: "list callers and their keys",
            usage: "[--format text|table]",
            options: subcommands["list"] ?? [],
            example: "--format table",
            choices: ["--format": ["text", "table"]]
        ),
        Subcommand(
            name: "revoke",
            summary: "revoke a caller, or one of its keys",
            usage: "NAME [--key ID]",
            options: subcommands["revoke"] ?? [],
            example: "web-backend --key 0123456789abcdef"
        ),
    ])
}

extension SessionsCommand {
    static let syntax = CommandSyntax(subcommands: [
        Subcommand(name: "list", summary: "list the sessions of people in the console", usage: "", options: []),
        Subcommand(
            name: "end",
            summary: "end all sessions of a person in the console",
            usage: "PERSON",
            options: [],
            example: "console:entra:8f14e45fceea167a"
        ),
    ])
}

extension KeysCommand {
    static let syntax = CommandSyntax(subcommands: [
        Subcommand(
            name: "list",
            summary: "list the key ring, without key material",
            usage: "[--format text|table]",
            options: [ListFormat.option],
            example: "--format table",
            choices: ["--format": ["text", "table"]]
        ),
        Subcommand(
            name: "disable",
            summary: "disable a key at once",
            usage: "KEY_ID",
            options: [],
            example: "ABC123DEFG"
        ),
        Subcommand(
            name: "enable",
            summary: "enable a disabled key again",
            usage: "KEY_ID",
            options: [],
            example: "ABC123DEFG"
        ),
    ])
}

extension CustomersCommand {
    static let syntax = CommandSyntax(subcommands: [
        Subcommand(
            name: "pseudonym",
            summary: "print how records write a known customer",
            usage: "--app BUNDLE_OR_PACKAGE NAME…",
            options: subcommands["pseudonym"] ?? [],
            example: "--app com.acme.notes --customer-id 8f14e45f"
        ),
        Subcommand(
            name: "destroy-epoch",
            summary: "destroy an old secret of customer IDs for good",
            usage: "EPOCH",
            options: [],
            example: "1"
        ),
    ])
}

extension NotificationsCommand {
    static let syntax = CommandSyntax(subcommands: [
        Subcommand(
            name: "catch-up",
            summary: "read what the App Store sent while the service did not listen",
            usage: "[--since TIME] [--app ID] [--environment production|sandbox] [--only-failures yes|no]",
            options: options,
            example: "--since -48h"
        )
    ])
}

extension AuditCommand {
    static let syntax = CommandSyntax(subcommands: [
        Subcommand(
            name: "query",
            summary: "print the entries for which all conditions hold",
            usage: "[CONDITIONS] [--order oldest|newest] [--limit NUMBER] [--format ndjson|csv|table]",
            options: subcommands["query"] ?? [],
            example: "--event sign.intent --offer winback_3m --from -24h --format table",
            choices: ["--reason": FindingCode.allCases.map(\.rawValue)]
        ),
        Subcommand(
            name: "export",
            summary: "print every entry, or write the log into a folder",
            usage: "[--from-index NUMBER] [--format ndjson|csv] | --tiles DIR",
            options: subcommands["export"] ?? [],
            example: "--format csv > audit.csv",
            choices: ["--format": ["ndjson", "csv"]]
        ),
        Subcommand(
            name: "proof",
            summary: "print the proof that an entry is in the log",
            usage: "--index NUMBER | --nonce UUID | --digest TEXT",
            options: subcommands["proof"] ?? [],
            example: "--index 12"
        ),
        Subcommand(
            name: "find",
            summary: "print the entry of a signature",
            usage: "--jws JWS | --bundle-id ID --product-id ID --offer-id ID --key-id ID --nonce UUID …",
            options: subcommands["find"] ?? [],
            example: "--jws \"$(jq -r .jws answer.json)\""
        ),
        Subcommand(
            name: "index",
            summary: "compare the index with the log, or rebuild it",
            usage: "--compare | --rebuild",
            options: subcommands["index"] ?? [],
            example: "--compare"
        ),
        Subcommand(
            name: "reconcile",
            summary: "compare what the stores reported with what was granted",
            usage: "[--from TIME] [--until TIME] [--environment production|sandbox] [--recompute]",
            options: subcommands["reconcile"] ?? [],
            example: "--from -7d"
        ),
        Subcommand(
            name: "verify",
            summary: "compute the whole log again, and compare",
            usage: "[--key VKEY] [--checkpoint FILE]… [--tiles DIR]",
            options: subcommands["verify"] ?? [],
            example: "--checkpoint kept.checkpoint"
        ),
        Subcommand(
            name: "key",
            summary: "print the log's verifier key, from the keys file",
            usage: "[--keys FILE]",
            options: subcommands["key"] ?? [],
            example: "--keys keys"
        ),
        Subcommand(
            name: "new-log",
            summary: "begin a new log after a loss",
            usage: "--origin NAME",
            options: subcommands["new-log"] ?? [],
            example: "--origin offers.acme.com/log-2"
        ),
    ])
}
