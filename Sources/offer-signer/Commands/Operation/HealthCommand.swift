// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import OfferService

/// `offer-signer health`.
enum HealthCommand: Command {
    static let name = "health"
    static let summary = "ask the running service whether it answers"
    static var help: String {
        """
        offer-signer health asks the service on this machine whether it answers, for the health check of a container or
        of a load balancer's agent.

        Usage: offer-signer health [--ready] [OPTIONS]

        It asks GET /health/live where --listen says, by TLS if --tls-certificate is set (it does not look at the
        certificate), and gives up after \(timeoutMilliseconds) ms. With --ready it asks GET /health/ready, and prints what keeps the
        service from its work.

        Exit code 0 if the service answers that it is well, 1 if not, or if nothing answers.

        \(SettingsOptions.help([.listen, .tlsCertificate, .tlsKey]))
        """
    }

    static let syntax = CommandSyntax(options: ["--ready"])

    /// Less than the three seconds that health checks usually have.
    private static let timeoutMilliseconds = 2500

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, known: SettingsOptions.names, flags: ["--ready"])
        _ = try parsed.words()
        let settings = try SettingsOptions.settings(parsed)
        // libcurl needs it to have come first; no key is read.
        try KeyCustody.begin(admitsUnlockedMemory: true)
        let question: OwnHealth.Question = parsed.flags.contains("--ready") ? .ready : .live
        let address = "\(settings.listen.host), port \(settings.listen.port)"
        do throws(ClientError) {
            let answer = try OwnHealth(settings, timeoutMilliseconds: timeoutMilliseconds).ask(question)
            for reason in answer.reasons { Terminal.complain(reason) }
            Terminal.say("the service at \(address) is \(answer.isGood ? "" : "not ")\(question.rawValue)")
            return answer.isGood ? .success : .failure
        } catch {
            throw CommandError("no service answers at \(address). \(error) Look at --listen and --tls-certificate.")
        }
    }
}
