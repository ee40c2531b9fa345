// SPDX-License-Identifier: Apache-2.0
import OfferService

/// `offer-signer demo`.
enum DemoCommand: Command {
    static let name = "demo"
    static let summary = "write a runnable example: key, catalogue, caller, request"
    static var help: String {
        """
        offer-signer demo writes an example that runs as it is: a fresh P-256 key in the form of a .p8 file, a
        key ring, a catalogue, a caller with its API key, and a request. An example that is there already is
        left as it is; it ends with 1 if that lacks a file, or another file is in the way. The key is no App Store
        key: what it signs, the App Store refuses.

        Usage: offer-signer demo DIRECTORY
        """
    }

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let directory = try Arguments(arguments, known: []).words("DIRECTORY")[0]
        try KeyCustody.begin(admitsUnlockedMemory: true)
        let demo = Demo(directory: directory, clock: .system)
        do {
            try demo.write()
        } catch {
            throw CommandError(error.description)
        }
        Terminal.say(guide(demo))
        return .success
    }

    private static func guide(_ demo: Demo) -> String {
        """
        Start the service:

        offer-signer serve --keys \(demo.word(.keys)) --offers \(demo.word(.offers)) \\
          --database sqlite:\(demo.word(.database)) --clock-check warn

        Then, in another terminal, ask for a signature:

        \(demo.curl(url: "http://127.0.0.1:8080"))

        The answer is one line of JSON: grantId, identifier "winback_3m", keyIdentifier "ABC123DEFG", nonce,
        timestamp, signature, appAccountToken in lowercase, jws, expiresAt, and a decision whose outcome is
        "eligible". The offer's rule admits three signatures a year for each customer: the fourth answer is a
        refusal, 403 /problems/not-eligible, that says when to ask again.
        """
    }
}
