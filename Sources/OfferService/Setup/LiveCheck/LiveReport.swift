// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
package import OfferDomain
package import Stores

/// What the App Store said of our keys, for people.
package struct LiveReport: Sendable {
    /// A key by its names.
    package struct Key: Hashable, Sendable {
        /// The key's ID as App Store Connect shows it: `kid` in the token.
        package let id: KeyID
        /// The team's issuer ID: `iss` in the token.
        package let issuerID: IssuerID

        package init(id: KeyID, issuerID: IssuerID) {
            self.id = id
            self.issuerID = issuerID
        }
    }

    /// An app with the key that asks for it.
    package struct Entry: Hashable, Sendable {
        /// The app that the key asked about.
        package let bundleID: BundleID
        /// `nil` if no active key may ask for the app.
        package let key: Key?
        /// One for each environment that the catalog names.
        package let answers: [LiveAnswer]

        package init(bundleID: BundleID, key: Key?, answers: [LiveAnswer]) {
            self.bundleID = bundleID
            self.key = key
            self.answers = answers
        }
    }

    /// One for each app of the catalog in the App Store.
    package let entries: [Entry]
    /// Apps that keys name and the catalog does not.
    package let bundleIDsWithoutApp: [BundleID]

    package init(entries: [Entry], bundleIDsWithoutApp: [BundleID] = []) {
        self.entries = entries
        self.bundleIDsWithoutApp = bundleIDsWithoutApp
    }

    /// Wrong if an answer shows a fault, or no question was asked; unreachable if an answer shows nothing.
    package var verdict: LiveVerdict {
        let outcomes = entries.flatMap(\.answers).map(\.outcome)
        guard !outcomes.isEmpty else { return .wrong }
        if outcomes.contains(where: \.isWrong) { return .wrong }
        return outcomes.contains(where: \.saysNothing) ? .unreachable : .good
    }

    /// The report, a line each; none is longer than 115 characters unless a name in it is.
    package var lines: [String] {
        var lines = [
            "The App Store Server API, asked for transaction \(LiveProbe.transactionID), which does not exist:"
        ]
        for entry in entries {
            lines += ["", Self.heading(entry)]
            lines += entry.answers.map(Self.line)
            lines += LiveDiagnosis(entry, among: entries).sentences.flatMap { $0.wrapped(first: "  → ", rest: "    ") }
        }
        for bundleID in bundleIDsWithoutApp {
            lines += ["", "\(bundleID)  not asked: a key names it, and the offers file does not"]
        }
        return lines + ["", summary]
    }

    private var summary: String {
        let answers = entries.flatMap(\.answers)
        let accepted = answers.count { $0.isAccepted }
        let skews = answers.compactMap(\.skewSeconds)
        let clock = skews.max { abs($0) < abs($1) }.map { "; clock: \(Self.clock($0))" } ?? ""
        return answers.isEmpty
            ? "Nothing was asked: no key is active for an app of the catalog with the purpose app-store-server-api."
            : "\(accepted) of \(answers.count) accepted\(clock)."
    }

    private static func heading(_ entry: Entry) -> String {
        guard let key = entry.key else {
            return "\(entry.bundleID)  not asked: no key is active for it with the purpose app-store-server-api"
        }
        return "\(entry.bundleID)  key \(key.id)  issuer \(key.issuerID)"
    }

    private static func line(_ answer: LiveAnswer) -> String {
        let environment = answer.environment.rawValue.padded(to: 12)
        return
            "  \(environment)\(answer.outcome.word.padded(to: 14))\(answer.outcome.detail), \(answer.milliseconds) ms"
    }

    /// The difference between this machine's clock and the store's, which reports whole seconds.
    static func clock(_ skewSeconds: Int) -> String {
        abs(skewSeconds) <= 2
            ? "as the App Store's" : "\(abs(skewSeconds)) s \(skewSeconds > 0 ? "ahead of" : "behind") the App Store's"
    }
}

extension LiveAnswer.Outcome {
    var isWrong: Bool {
        switch self {
        case .refused, .appUnknown, .strange: true
        case .accepted, .rateLimited, .storeFailed, .notReached: false
        }
    }

    var saysNothing: Bool {
        switch self {
        case .rateLimited, .storeFailed, .notReached: true
        case .accepted, .refused, .appUnknown, .strange: false
        }
    }

    fileprivate var word: String {
        switch self {
        case .accepted: "accepted"
        case .refused: "refused"
        case .appUnknown: "app unknown"
        case .rateLimited: "limited"
        case .storeFailed: "failed"
        case .strange: "strange"
        case .notReached: "not reached"
        }
    }

    fileprivate var detail: String {
        switch self {
        case .accepted(let status, let code), .storeFailed(let status, let code):
            code.map { "\(status), code \($0)" } ?? "\(status)"
        case .refused: "401"
        case .appUnknown(let status, let code): "\(status), code \(code)"
        case .rateLimited: "429"
        case .strange(let status, let reason): "\(status), \(reason)"
        case .notReached(let error): error.label
        }
    }
}
