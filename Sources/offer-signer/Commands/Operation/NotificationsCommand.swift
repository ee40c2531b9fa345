// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Ledger
import OfferDomain
import OfferService
import ServiceRuntime
import Stores

/// `offer-signer notifications`.
enum NotificationsCommand: Command {
    static let name = "notifications"
    static let summary = "read what the App Store sent while the service did not listen"
    static var help: String {
        """
        offer-signer notifications catch-up asks the App Store which notifications it has sent, and records
        those that it missed, as if they had just arrived. It may run beside the service, or alone, and
        as often as you like: what is known already changes nothing.

        Usage: offer-signer notifications catch-up [OPTIONS]

          --since TIME        as 2026-11-21T08:00:00Z, 2026-11-21 or -48h; at most \(NotificationCatchUp.keptDays) days ago
                              (\(standardDays) days ago, as long as the App Store itself keeps trying)
          --app BUNDLE_ID     one app alone (all of the offers file)
          --environment NAME  production or sandbox alone (those that each app takes)
          --only-failures yes only those that the App Store could not deliver (no)

        Each app needs an active key with the purpose app-store-server-api. Each use of a key is recorded in the
        audit log before it happens.

        Exit code 0 if all was read and is on record; 1 if something must be fixed first: the key, the
        configuration, or notifications that were refused; 3 if the store or the database could not be used:
        run it again later.

        \(SettingsOptions.help(settings))
        """
    }

    private static let settings: [Setting] = [
        .keys, .offers, .database, .appStoreURL, .appStoreSandboxURL, .appStoreRoots, .trustedCertificates,
        .events, .groupReadableSecrets, .unlockedMemory,
    ]
    static let options = ["--since", "--app", "--environment", "--only-failures"]
    private static let standardDays = 7

    static func run(_ arguments: [String]) throws(CommandError) -> ExitCode {
        let parsed = try Arguments(arguments, known: SettingsOptions.names + options)
        guard parsed.words.first == "catch-up" else { throw parsed.unknownSubcommand(of: ["catch-up"]) }
        _ = try parsed.words("catch-up")
        let wish = try wish(parsed)
        let settings = try SettingsOptions.settings(parsed)
        try KeyCustody.begin(admitsUnlockedMemory: settings.admitsUnlockedMemory)
        guard let caller = CallerID(name) else { throw CommandError("\(name) is not a valid name of a caller") }
        do {
            let random = try SystemRandom()
            let session = try CatchUpSession(settings, party: .caller(caller), clock: .system, random: random)
            defer { session.stop() }
            let progress = Progress("read", "notifications")
            defer { progress.end() }
            let tallies = try session.runBlocking(
                wish,
                progress: { tally in
                    progress.update(Int64(tally.read))
                    showProgress(tally)
                },
                done: { tally in
                    progress.end()
                    show(tally)
                }
            )
            return conclude(tallies)
        } catch let error as CatchUpError {
            throw CommandError(error)
        } catch {
            throw CommandError("\(error)", .unavailable)
        }
    }

    private static func wish(_ arguments: Arguments) throws(CommandError) -> CatchUpSession.Wish {
        let now = WallClock.system.now()
        let since = try arguments.value(
            "--since",
            expecting: TimeArgument.expected,
            { TimeArgument.parse($0, at: now) }
        )
        if let since, since < now.adding(days: -NotificationCatchUp.keptDays) || since > now {
            throw CommandError(
                usage: "--since: the App Store keeps notifications for \(NotificationCatchUp.keptDays) days"
            )
        }
        return CatchUpSession.Wish(
            bundleID: try arguments.value("--app", expecting: "a bundle id") { try? BundleID($0) },
            environment: try arguments.value(
                "--environment",
                expecting: "production or sandbox",
                StoreEnvironment.init(rawValue:)
            ),
            since: since ?? now.adding(days: -standardDays),
            onlyFailures: try arguments.value("--only-failures", expecting: "yes or no") { text in
                ["yes": true, "no": false][text]
            } ?? false
        )
    }

    /// Says from time to time that the command is still running.
    private static func showProgress(_ tally: CatchUpTally) {
        guard !Terminal.canShow, tally.read > 0, tally.read.isMultiple(of: 1000) else { return }
        Terminal.complain("\(place(tally)): \(tally.read) read so far")
    }

    private static func show(_ tally: CatchUpTally) {
        var line = "\(place(tally)): \(tally.read) sent since \(tally.span.since.rfc3339)"
        if tally.read == 0, tally.obstacle != nil { line = "\(place(tally)): nothing could be read" }
        if tally.read > 0 { line += "; \(tally.recorded) were missing, \(tally.repeated) known" }
        Terminal.say(line)
        for (label, refused) in tally.refused.sorted(by: { $0.key < $1.key }) {
            Terminal.complain("  \(refused.count) refused, \(label): \(refused.reason)")
        }
        switch tally.obstacle {
        case .store(let error):
            Terminal.complain("  not read to the end: \(error)")
            if let time = error.retryAfter { Terminal.complain("  it may be asked again from \(time.rfc3339) on") }
        case .ledger(let error): Terminal.complain("  not read to the end: \(error)")
        case nil: break
        }
    }

    private static func place(_ tally: CatchUpTally) -> String {
        "\(tally.span.bundleID) \(tally.span.environment.rawValue)"
    }

    private static func conclude(_ tallies: [CatchUpTally]) -> ExitCode {
        let recorded = tallies.map(\.recorded).reduce(0, +)
        let isWhole = tallies.allSatisfy { $0.obstacle == nil && $0.refused.isEmpty }
        Terminal.say(
            "\(recorded) notification\(recorded == 1 ? " is" : "s are") on record now that \(recorded == 1 ? "was" : "were") missing"
        )
        guard !isWhole else { return .success }
        let needsPerson = tallies.contains { !$0.refused.isEmpty || ($0.obstacle != nil && !$0.mayComeFurtherLater) }
        Terminal.complain(needsPerson ? "fix what is reported above, and run it again" : "run it again later")
        return needsPerson ? .failure : .unavailable
    }
}

extension CommandError {
    fileprivate init(_ error: CatchUpError) {
        switch error {
        case .configuration(let error): self.init(error)
        case .service(.configuration(let error)): self.init(error)
        case .service(let error): self.init("\(error)", .unavailable)
        case .ledger(let error): self.init(error.description, .unavailable)
        case .nothingToRead: self.init("the offers file has no such app, or the app does not take that environment")
        }
    }
}
