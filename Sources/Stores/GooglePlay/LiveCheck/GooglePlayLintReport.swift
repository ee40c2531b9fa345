// SPDX-License-Identifier: Apache-2.0
package import Ledger
package import OfferDomain

/// How our offers are set up at Google Play, for people.
package struct GooglePlayLintReport: Sendable {
    /// An app that has offers at Google Play.
    package struct Entry: Hashable, Sendable {
        /// Whether the store's list could be read.
        package enum Outcome: Hashable, Sendable {
            case read(Reading)
            /// No service account may ask for the app.
            case noAccount
            case notRead(StoreError)
        }

        /// The app that was asked about.
        package let packageName: PackageName
        /// What came of it.
        package let outcome: Outcome

        package init(packageName: PackageName, _ outcome: Outcome) {
            self.packageName = packageName
            self.outcome = outcome
        }
    }

    /// What came of comparing an app's offers with what the store lists.
    package struct Reading: Hashable, Sendable {
        let subscriptions: Int
        let offers: Int
        let wanted: Int
        /// How many of those that are wanted have nothing wrong with them.
        let good: Int
        let findings: [GooglePlayFinding]

        /// Compares what the catalog wants with what the store lists.
        package init(wanted: [GooglePlayWantedOffer], hideTags: Set<OfferTag>, in playCatalog: PlayCatalog) {
            subscriptions = playCatalog.subscriptions.count
            offers = playCatalog.offers.count
            self.wanted = wanted.count
            good = wanted.count {
                GooglePlayOfferCheck.faults(of: $0.key, hideTags: hideTags, in: playCatalog).isEmpty
            }
            findings = GooglePlayLint.findings(wanted: wanted, hideTags: hideTags, in: playCatalog)
        }
    }

    /// One for each app of the catalog at Google Play.
    package let entries: [Entry]
    /// `nil` if no app proves itself by Play Integrity.
    package var integrity: PlayIntegrityReport?

    package init(entries: [Entry]) {
        self.entries = entries
    }

    /// What it comes to; warnings and notes leave it good.
    package var verdict: LiveVerdict {
        if entries.contains(where: \.outcome.isWrong) || integrity?.verdict == .wrong { return .wrong }
        let isSilent = entries.contains(where: \.outcome.saysNothing) || integrity?.verdict == .unreachable
        return isSilent ? .unreachable : .good
    }

    /// The report, a line each; none is longer than 115 characters unless a name in it is.
    package var lines: [String] {
        var lines = ["Subscriptions and offers that Google Play lists for each app:"]
        for entry in entries {
            lines += ["", "\(entry.packageName)  \(entry.outcome.heading)"]
            lines += entry.outcome.lines
        }
        return lines + ["", summary] + (integrity.map { [""] + $0.lines } ?? [])
    }

    private var summary: String {
        guard !entries.isEmpty else { return "Nothing was asked: the catalog has no offers at Google Play." }
        let findings = entries.flatMap(\.outcome.findings)
        let counts = GooglePlayFinding.Severity.allCases.map { severity in
            counted(findings.count { $0.severity == severity }, severity.rawValue)
        }
        let unread = entries.count { $0.outcome.reading == nil }
        let rest = unread == 0 ? "" : "; \(counted(unread, "app")) not read"
        return counts.joined(separator: ", ") + rest + "."
    }
}

extension GooglePlayLintReport.Entry.Outcome {
    var reading: GooglePlayLintReport.Reading? {
        if case .read(let reading) = self { reading } else { nil }
    }

    fileprivate var findings: [GooglePlayFinding] { reading?.findings ?? [] }

    fileprivate var isWrong: Bool {
        switch self {
        case .read(let reading): reading.findings.contains { $0.severity == .error }
        case .noAccount: true
        case .notRead(let error): !error.mayPass
        }
    }

    fileprivate var saysNothing: Bool {
        if case .notRead(let error) = self { error.mayPass } else { false }
    }

    fileprivate var heading: String {
        switch self {
        case .read(let reading):
            "\(counted(reading.subscriptions, "subscription")), \(counted(reading.offers, "offer")); "
                + "\(reading.good) of \(reading.wanted) in the offers file can be authorized"
        case .noAccount: "not asked: no service account of the keys file names it"
        case .notRead(let error): "not read: \(error.label)"
        }
    }

    fileprivate var lines: [String] {
        switch self {
        case .read(let reading): reading.findings.flatMap(\.lines)
        case .noAccount:
            "Add the app to packageNames of one of googleServiceAccounts in the keys file.".asAdvice
        case .notRead(let error): (error.advice ?? error.description).asAdvice
        }
    }
}

extension GooglePlayFinding {
    fileprivate var lines: [String] {
        let margin = String(repeating: " ", count: 11)
        return ["  \(severity.rawValue.padded(to: 9))\(code)\(place.isEmpty ? "" : "  \(place)")"]
            + sentence.wrapped(first: margin, rest: margin)
            + advice.wrapped(first: "         → ", rest: margin)
    }
}

extension StoreError {
    /// Whether nothing is known to be wrong with the app's setup: the store, or a record, failed us.
    var mayPass: Bool {
        switch self {
        case .unavailable, .rateLimited, .budgetSpent, .cancelled, .cannotSign: true
        case .notFound, .credentialsRefused, .notPermitted, .appUnknown, .requestRefused, .badAnswer: false
        }
    }

    /// What to do, if that is known; Google Play uses other words than the App Store.
    fileprivate var advice: String? {
        switch self {
        case .unavailable, .rateLimited, .budgetSpent, .cancelled: "\(self) Check again later."
        case .credentialsRefused:
            "Google gives the service account no token: check whether it and its key still exist in Google Cloud, and "
                + "whether the clock is right."
        case .notPermitted(let reason):
            "Google Play does not let the service account ask (\(reason)). It must be invited under Users and permissions "
                + "in the Play Console, with rights to the app, which may take some time to come into force; and the "
                + "Google Play Android Developer API must be enabled in its project."
        case .notFound, .appUnknown:
            "Google Play does not know the app: compare packageName in the offers file with the Play Console, letter case "
                + "included."
        case .requestRefused, .badAnswer, .cannotSign: nil
        }
    }
}

extension String {
    fileprivate var asAdvice: [String] { wrapped(first: "  → ", rest: "    ") }
}

/// As `1 offer`, `2 offers`.
private func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
