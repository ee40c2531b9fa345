// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Glibc
import JSON
import OfferService
import ServiceRuntime

/// Finds the command that the first word names, and runs it.
enum CommandLineTool {
    /// The commands, in the order in which a newcomer meets them.
    static let commands: [any Command.Type] = [
        DemoCommand.self, InitCommand.self, CheckCommand.self, ServeCommand.self, HealthCommand.self,
        VerifyCommand.self, CallersCommand.self, SessionsCommand.self, KeysCommand.self, CustomersCommand.self,
        SealCommand.self, UnsealCommand.self, NotificationsCommand.self, TokensCommand.self, AuditCommand.self,
        EventsCommand.self, RetentionCommand.self, DiagnoseCommand.self, BackupCommand.self, RestoreCommand.self,
        MigrateCommand.self, CompletionCommand.self,
    ]

    static func run(_ arguments: [String]) -> ExitCode {
        guard let name = arguments.dropFirst().first else {
            Terminal.complain(help)
            return .usage
        }
        if ["--help", "-h", "help"].contains(name) {
            let words = Array(arguments.dropFirst(2))
            Terminal.say(words.first.flatMap(command).map { page(of: $0, words) } ?? help)
            return .success
        }
        if name == "--version" {
            Terminal.say("offer-signer \(Program.version)")
            return .success
        }
        guard let command = command(name) else {
            let suggestion = suggestion(for: name).map { "; did you mean “\($0)”?" } ?? ""
            Terminal.complain("offer-signer: “\(name)” is not a command\(suggestion)\nSee: offer-signer --help")
            return .usage
        }
        return run(command, Array(arguments.dropFirst(2)))
    }

    /// The command that was most likely meant: a near one, one of the same letters, or what other programs call it.
    private static func suggestion(for name: String) -> String? {
        let names = commands.map { $0.name }
        if let near = nearest(to: name, among: names) ?? names.first(where: { $0.sorted() == name.sorted() }) {
            return near
        }
        let familiar = [
            "start": "serve", "run": "serve", "server": "serve", "setup": "init", "configure": "init", "new": "init",
            "validate": "check", "lint": "check", "doctor": "check", "verify-log": "audit", "log": "audit",
            "logs": "audit",
            "query": "audit", "export": "audit", "reconcile": "audit", "example": "demo", "users": "callers",
            "clients": "callers", "api-keys": "callers", "rotate": "keys", "catch-up": "notifications",
            "version": "--version", "-v": "--version", "-V": "--version", "status": "health",
            "ping": "health", "dump": "backup",
        ]
        if let option = nearest(to: name, among: ["--help", "--version"]), name.hasPrefix("-") { return option }
        return familiar[name] ?? (name.count >= 3 ? names.first { $0.hasPrefix(name) } : nil)
    }

    private static func command(_ name: String) -> (any Command.Type)? {
        commands.first { $0.name == name }
    }

    private static func run(_ command: any Command.Type, _ arguments: [String]) -> ExitCode {
        if arguments.contains("--help") || arguments.contains("-h") {
            Terminal.say(page(of: command, arguments))
            return .success
        }
        // The reader of the output may close it early.
        signal(SIGPIPE, SIG_IGN)
        do {
            let code = try command.run(arguments)
            return Terminal.isCut ? .unavailable : code
        } catch {
            Terminal.complain("offer-signer \(command.name): \(error.message)")
            if error.exitCode == .usage { Terminal.complain("See: offer-signer \(command.name) --help") }
            return error.exitCode
        }
    }

    /// The help of a command, or of the subcommand that is named.
    private static func page(of command: any Command.Type, _ words: [String]) -> String {
        let sub = command.syntax.subcommands.first { words.contains($0.name) }
        return sub.map { $0.help(of: command) } ?? command.help
    }

    private static var help: String {
        let list = commands.map { "  \(padded($0.name, 14))\($0.summary)" }.joined(separator: "\n")
        return """
            offer-signer decides who may have a subscription offer, records the decision, then signs it.

            Usage: offer-signer COMMAND [OPTIONS]

            \(list)

            offer-signer COMMAND --help explains a command, offer-signer COMMAND SUBCOMMAND --help a part of it, and
            offer-signer --version prints the version. Shell completion: offer-signer completion --help.

            Examples:
              offer-signer demo                       write a runnable example into ./demo
              offer-signer init                       write a first configuration for your own app and key
              offer-signer check --live               check the configuration, and ask the stores
              offer-signer verify answer.json         verify the signatures in a saved answer
              offer-signer audit query --from -24h    what was signed and refused since yesterday

            Exit codes: 0 all is well; 1 something is wrong with the configuration, or what was asked for is
            not there; 2 the command line was not understood; 3 the database, the port or the store could not be used.
            """
    }
}

/// One command of the program.
protocol Command: SendableMetatype {
    static var name: String { get }
    /// One line for the list of commands.
    static var summary: String { get }
    static var help: String { get }
    /// What it takes, for completion and for the help of its subcommands.
    static var syntax: CommandSyntax { get }
    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode
}

extension Command {
    static var syntax: CommandSyntax { CommandSyntax() }
}

/// Why a command ended early.
struct CommandError: Error {
    let message: String
    let exitCode: ExitCode

    init(_ message: String, _ exitCode: ExitCode = .failure) {
        self.message = message
        self.exitCode = exitCode
    }

    /// The command line was not understood.
    init(usage sentence: String) {
        self.init(sentence, .usage)
    }

    init(_ configuration: ConfigurationError) {
        let list = configuration.issues.map { "  \($0)" }.joined(separator: "\n")
        self.init("the configuration is not usable:\n\(list)")
    }
}

/// `text` with blanks after it, `width` wide.
func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
}
