// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferService
import ServiceRuntime

/// `offer-signer demo`.
enum DemoCommand: Command {
    static let name = "demo"
    static let summary = "write a runnable example: key, catalog, caller, request"
    static var help: String {
        """
        offer-signer demo writes an example that runs as it is: a fresh P-256 key in the form of a .p8 file, a
        key ring, a catalog, a caller with its API key, and a request. An example that already exists is
        left as it is; it ends with 1 if that lacks a file, or another file is in the way. The key is no App Store
        key: what it signs, the App Store refuses.

        Usage: offer-signer demo [DIRECTORY] [--listen ADDRESS]

        DIRECTORY is ./demo if it is left out. --listen is where the service is to listen, for the commands that are
        printed; without it, OFFER_SIGNER_LISTEN or 127.0.0.1:8080.
        """
    }

    static let syntax = CommandSyntax(options: [Setting.listen.flag], takesSettings: false, takesFiles: true)

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, known: [Setting.listen.flag])
        let directory = parsed.words.isEmpty ? "demo" : try parsed.words("DIRECTORY")[0]
        let listen = try LocalService.listen(parsed)
        try KeyCustody.begin(admitsUnlockedMemory: true)
        let demo = Demo(directory: directory, clock: .system)
        do {
            try demo.write()
        } catch {
            throw CommandError(error.description)
        }
        Terminal.say(guide(demo, listen))
        return .success
    }

    private static func guide(_ demo: Demo, _ listen: ListenAddress?) -> String {
        let listenOption = listen.map { " \\\n  --listen \($0.text)" } ?? ""
        return """
            Start the service:

            offer-signer serve --keys \(demo.word(.keys)) --offers \(demo.word(.offers)) \\
              --database sqlite:\(demo.word(.database)) --clock-check warn\(listenOption)

            Then, in another terminal, ask for a signature:

            \(demo.curl(url: LocalService.url(listen)))

            The answer is one line of JSON: grantId, identifier "winback_3m", keyIdentifier "ABC123DEFG", nonce,
            timestamp, signature, appAccountToken in lowercase, jws, expiresAt, and a decision whose outcome is
            "eligible". It is saved in answer.json. Verify it:

            offer-signer verify answer.json --public-key \(demo.word(.publicKey))

            The offer's rule admits 100 signatures a year for each customer: the answer after that is a refusal,
            403 /problems/not-eligible, that says by which name it counted and when to ask again.
            """
    }
}
