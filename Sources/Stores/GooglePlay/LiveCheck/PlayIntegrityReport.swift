// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Ledger
package import OfferDomain

/// Whether Google decodes tokens of the apps that prove themselves by Play Integrity, for people.
package struct PlayIntegrityReport: Sendable {
    /// The result of asking Google to decode a text that is no token.
    package struct Entry: Sendable {
        package let packageName: PackageName
        /// `nil` if Google decodes the app's tokens.
        package let error: StoreError?

        package init(packageName: PackageName, error: StoreError?) {
            (self.packageName, self.error) = (packageName, error)
        }
    }

    /// One for each app with `playIntegrity`.
    package let entries: [Entry]

    /// Wrong if Google refuses to decode for an app, else unreachable if it could not be asked.
    package var verdict: LiveVerdict {
        let errors = entries.compactMap(\.error)
        if errors.contains(where: { !$0.mayPass || $0.isOfSetUp }) { return .wrong }
        return errors.isEmpty ? .good : .unreachable
    }

    /// The report, a line each.
    package var lines: [String] {
        var lines = ["Whether Google decodes tokens of Play Integrity for each app:", ""]
        for entry in entries {
            guard let error = entry.error else {
                lines.append("\(entry.packageName)  yes: it was asked about a text that is no token, and said so")
                continue
            }
            lines.append("\(entry.packageName)  no: \(error.label)")
            lines += error.integrityAdvice.wrapped(first: "  → ", rest: "    ")
        }
        return lines
    }
}

extension StoreError {
    /// What to do so that Google decodes tokens.
    fileprivate var integrityAdvice: String {
        switch self {
        case .notPermitted(let reason):
            "Google does not let the service account ask (\(reason)). Enable the Play Integrity API in the service account's "
                + "Google Cloud project, and link that project to the app in the Play Console, under Protected with Play."
        case .appUnknown, .notFound:
            "Google does not find the app: compare packageName in the offers file with the Play Console, letter case "
                + "included, and link the service account's Google Cloud project to the app, under Protected with Play."
        case .credentialsRefused:
            "Google gives the service account no token: check whether it and its key still exist in Google Cloud, and "
                + "whether the clock is right."
        case .unavailable, .rateLimited, .budgetSpent, .cancelled: "\(self) Check again later."
        case .requestRefused, .badAnswer, .cannotSign: description
        }
    }
}

extension PlayIntegrityReport {
    /// Asks Google to decode a text that is no token: an API that says so is enabled.
    ///
    /// `nil` if no app has `playIntegrity`.
    package init?(_ catalog: Catalog, _ api: PlayIntegrityAPI) async {
        let apps = catalog.googlePlayApps.keys.filter { catalog.playIntegrity(of: $0) != nil }
        guard !apps.isEmpty else { return nil }
        var entries: [Entry] = []
        for app in apps.sorted(by: { $0.text < $1.text }) {
            var failure: StoreError?
            do throws(StoreError) {
                let asking = GooglePlayAsking(packageName: app, party: .service)
                if case .decoded = try await api.lookUp(Array("offer-signer-check".utf8), asking) {
                    failure = .badAnswer(reason: "it decodes a text that is no token")
                }
            } catch {
                failure = error
            }
            entries.append(Entry(packageName: app, error: failure))
        }
        self.entries = entries
    }
}
