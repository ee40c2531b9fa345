// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain
import OfferService
import ServiceRuntime
import Stores

/// `offer-signer retention`.
enum RetentionCommand: Command {
    static let name = "retention"
    static let summary = "have the App Store test your real-time URL"
    static var help: String {
        """
        offer-signer retention perf-test has the App Store's sandbox test the real-time URL of Retention Messaging,
        waits for the result, and prints it. Apple takes a URL for production only after a test has passed.

        Usage: offer-signer retention perf-test --transaction ORIGINAL_TRANSACTION_ID [OPTIONS]
               offer-signer retention perf-test --request ID [OPTIONS]

          --transaction ID    starts a test: the original transaction ID of an active subscription in the sandbox
          --request ID        waits for a test that was started before
          --app BUNDLE_ID     the app (the only one with retention in the offers file)
          --minutes NUMBER    how long to wait, 1 to 1440 (60); a result can take an hour
          --every SECONDS     how often to ask, 1 to 600 (15); the sandbox takes a question in 10 seconds
          --format FORMAT     text, or json: one object with Apple's names (text)

        Progress goes to standard error. The command needs the keys file, with an active key of the purpose
        app-store-server-api, and the offers file. If there is a database at --database, each use of the key is
        recorded in its audit log first.

        Exit code 0 if the test passed; 1 if it failed or could not be started; 3 if there is no result yet, or the
        store could not be reached: run it again with --request.

        \(SettingsOptions.help(settings))
        """
    }

    private static let settings: [Setting] = [
        .keys, .offers, .database, .appStoreSandboxURL, .trustedCertificates, .groupReadableSecrets, .unlockedMemory,
    ]
    static let options = ["--transaction", "--request", "--app", "--minutes", "--every", "--format"]

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, known: SettingsOptions.names + options)
        guard parsed.words.first == "perf-test" else { throw parsed.unknownSubcommand(of: ["perf-test"]) }
        _ = try parsed.words("perf-test")
        let subject = try subject(parsed)
        let format = try parsed.value("--format", expecting: "text or json") { text in
            ["text", "json"].contains(text) ? text : nil
        }
        let minutes = try number(parsed, "--minutes", in: 1...1440) ?? 60
        let seconds = try number(parsed, "--every", in: 1...600) ?? 15
        let app = try parsed.value("--app", expecting: "a bundle id") { try? BundleID($0) }
        let settings = try SettingsOptions.settings(parsed)
        try KeyCustody.begin(admitsUnlockedMemory: settings.admitsUnlockedMemory)
        let report: PerformanceTestReport
        do throws(PerformanceTestError) {
            let session = try PerformanceTestSession(settings, app: app, clock: .system)
            if !session.isRecorded {
                Terminal.complain("there is no database at \(settings.database): no use of the key is recorded")
            }
            report = try session.run(subject, minutes: minutes, everySeconds: seconds, news: show)
        } catch {
            throw CommandError(error)
        }
        if format == "json" {
            Terminal.say(bytes: report.json + [UInt8(ascii: "\n")])
        } else {
            for line in report.lines { Terminal.say(line) }
        }
        return report.result.verdict == .pass ? .success : .failure
    }

    private static func subject(_ parsed: Arguments) throws(CommandError) -> PerformanceTestSession.Subject {
        let transaction = try parsed.value("--transaction", expecting: "an original transaction ID") { text in
            try? TransactionID(text)
        }
        let printed = "the ID that was printed when the test started"
        let request = try parsed.value("--request", expecting: printed) { text in
            (1...128).contains(text.utf8.count) ? text : nil
        }
        switch (transaction, request) {
        case (let transaction?, nil): return .start(transaction)
        case (nil, let request?): return .resume(requestID: request)
        case (nil, nil): throw CommandError(usage: "--transaction or --request is missing")
        case (_?, _?): throw CommandError(usage: "give --transaction to start a test, or --request to wait for one")
        }
    }

    private static func number(
        _ parsed: Arguments,
        _ name: String,
        in range: ClosedRange<Int>
    ) throws(CommandError) -> Int? {
        try parsed.value(name, expecting: "a number from \(range.lowerBound) to \(range.upperBound)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    private static func show(_ news: PerformanceTestSession.News) {
        switch news {
        case .started(let requestID, let load):
            let load = load?.text.map { ": \($0)" } ?? ""
            Terminal.complain("test \(requestID) has begun\(load); to wait for it later: --request \(requestID)")
        case .pending(let result):
            let left = result.pending.map { ", \($0) requests to go" } ?? ""
            Terminal.complain("pending\(left)")
        case .notAnswered(let error): Terminal.complain("asked again soon: \(error)")
        }
    }

    static let syntax = CommandSyntax(subcommands: [
        Subcommand(
            name: "perf-test",
            summary: "have the App Store's sandbox test your real-time URL",
            usage:
                "--transaction ID | --request ID [--app ID] [--minutes NUMBER] [--every SECONDS] [--format text|json]",
            options: options,
            example: "--transaction 2000000123456789",
            choices: ["--format": ["text", "json"]]
        )
    ])
}

extension CommandError {
    fileprivate init(_ error: PerformanceTestError) {
        switch error {
        case .configuration(let error): self.init(error)
        case .app(let text): self.init(text)
        case .client(let error): self.init("\(error)", .unavailable)
        case .ledger(let error): self.init(error.description, .unavailable)
        case .notSigned(let error): self.init("\(error)", .unavailable)
        case .store(.refused):
            self.init("\(RetentionMessagingError.refused); offer-signer check --live says what may be wrong")
        case .store(let error): self.init("\(error)", error.isTemporary ? .unavailable : .failure)
        case .stillPending(let requestID, let minutes):
            self.init(
                "no result after \(minutes) min; the test goes on: wait for it with --request \(requestID)",
                .unavailable
            )
        }
    }
}
