// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Glibc
import JSON
import OfferService

/// Finds the command that the first word names, and runs it.
enum CommandLineTool {
    /// The commands, in the order in which a newcomer meets them.
    private static let commands: [any Command.Type] = [
        DemoCommand.self, CheckCommand.self, ServeCommand.self, HealthCommand.self, CallersCommand.self,
        KeysCommand.self, CustomersCommand.self, SealCommand.self, UnsealCommand.self, NotificationsCommand.self,
        AuditCommand.self, BackupCommand.self, RestoreCommand.self, MigrateCommand.self,
    ]

    static func run(_ arguments: [String]) -> ExitCode {
        guard let name = arguments.dropFirst().first else {
            Terminal.complain(help)
            return .usage
        }
        if ["--help", "-h", "help"].contains(name) {
            Terminal.say(arguments.dropFirst(2).first.flatMap(command)?.help ?? help)
            return .success
        }
        if name == "--version" {
            Terminal.say("offer-signer \(Service.version)")
            return .success
        }
        guard let command = command(name) else {
            let suggestion = nearest(to: name, among: commands.map { $0.name }).map { "; did you mean “\($0)”?" } ?? ""
            Terminal.complain("offer-signer: “\(name)” is not a command\(suggestion)\nSee: offer-signer --help")
            return .usage
        }
        return run(command, Array(arguments.dropFirst(2)))
    }

    private static func command(_ name: String) -> (any Command.Type)? {
        commands.first { $0.name == name }
    }

    private static func run(_ command: any Command.Type, _ arguments: [String]) -> ExitCode {
        if arguments.contains("--help") || arguments.contains("-h") {
            Terminal.say(command.help)
            return .success
        }
        // Whoever reads what is printed may go away early.
        signal(SIGPIPE, SIG_IGN)
        do {
            let code = try command.run(arguments)
            return Terminal.isCut ? .unavailable : code
        } catch {
            Terminal.complain("offer-signer \(command.name): \(error.message)")
            return error.exitCode
        }
    }

    private static var help: String {
        let list = commands.map { "  \(padded($0.name, 14))\($0.summary)" }.joined(separator: "\n")
        return """
            offer-signer decides who may have a subscription offer, records the decision, then signs it.

            Usage: offer-signer COMMAND [OPTIONS]

            \(list)

            offer-signer COMMAND --help tells more of one command; offer-signer --version the version.

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
    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode
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
        self.init("\(sentence)\nSee --help.", .usage)
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
