// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// The catalog's retention messages next to what the App Store has, for people.
package struct RetentionMessagingReport: Sendable {
    /// What is set up for an app in one environment.
    package struct Setup: Sendable {
        /// All messages that Apple lists for the app.
        package let messages: [UploadedMessage]
        /// `nil` inside if none is configured.
        package let realtimeURL: Result<String?, RetentionMessagingError>
        /// Products without a default message, by locale.
        package var withoutDefault: [(locale: String, products: [String])] = []
        /// What is to be known of the questions about default messages.
        package var defaultNotes: [String] = []

        package init(messages: [UploadedMessage], realtimeURL: Result<String?, RetentionMessagingError>) {
            (self.messages, self.realtimeURL) = (messages, realtimeURL)
        }
    }

    /// One difference.
    struct Finding: Hashable {
        let text: String
        /// Whether the App Store would not show what the catalog says; else it is only worth knowing.
        let isFault: Bool
    }

    /// An app in one environment.
    package struct Entry: Sendable {
        let bundleID: BundleID
        let environment: StoreEnvironment
        let outcome: Result<Setup, RetentionMessagingError>
        let findings: [Finding]
        /// `nil` if it could not be read.
        let setup: Setup?

        package init(
            _ bundleID: BundleID,
            in environment: StoreEnvironment,
            shown: AppRetention,
            outcome: Result<Setup, RetentionMessagingError>
        ) {
            (self.bundleID, self.environment, self.outcome) = (bundleID, environment, outcome)
            setup = try? outcome.get()
            findings =
                setup.map {
                    RetentionComparison(bundleID: bundleID, environment: environment, shown: shown, setup: $0).findings
                } ?? []
        }

        var isWrong: Bool {
            if findings.contains(where: \.isFault) { return true }
            guard case .failure(let error) = outcome else { return false }
            return !error.isTemporary && !error.isNotGranted
        }

        /// Whether something could not be asked.
        var isUnreachable: Bool {
            switch outcome {
            case .failure(let error): return error.isTemporary
            case .success(let setup):
                guard case .failure(let error) = setup.realtimeURL else { return false }
                return error.isTemporary
            }
        }
    }

    /// One for each app with retention messages and each of its environments.
    package let entries: [Entry]

    package init(entries: [Entry]) { self.entries = entries }

    /// Wrong if Apple would not show what the catalog says, or a question failed for good.
    ///
    /// Without Apple's grant for Retention Messaging it stays good; a temporary failure makes it unreachable.
    package var verdict: LiveVerdict {
        if entries.contains(where: \.isWrong) { return .wrong }
        return entries.contains(where: \.isUnreachable) ? .unreachable : .good
    }

    /// The report, a line each.
    package var lines: [String] {
        var lines = ["Retention Messaging, compared with the catalog:"]
        for entry in entries {
            lines.append("")
            switch entry.outcome {
            case .failure(let error):
                let isNote = error.isNotGranted
                lines.append("\(entry.bundleID)  \(entry.environment.rawValue): not compared")
                lines += error.sentence.wrapped(first: isNote ? "  note: " : "  → ", rest: "    ")
            case .success(let setup):
                lines.append("\(entry.bundleID)  \(entry.environment.rawValue): \(Self.counted(setup.messages))")
                for finding in entry.findings {
                    lines += finding.text.wrapped(first: finding.isFault ? "  → " : "  note: ", rest: "    ")
                }
            }
        }
        let faults = entries.flatMap(\.findings).count { $0.isFault }
        if entries.allSatisfy({ $0.setup == nil }) { return lines + ["", "Nothing was compared."] }
        if faults > 0 { return lines + ["", "\(faults) to be put right."] }
        let isWhole = verdict == .good
        return lines + ["", isWhole ? "No difference matters." : "Not all of it was compared."]
    }

    private static func counted(_ messages: [UploadedMessage]) -> String {
        let approved = messages.count { $0.state == RetentionComparison.approved }
        return "\(messages.count) message\(messages.count == 1 ? "" : "s"), \(approved) approved"
    }
}

extension RetentionMessagingError {
    /// With one point at its end.
    package var sentence: String { "\(self)".last == "." ? "\(self)" : "\(self)." }

    var isNotGranted: Bool {
        if case .notGranted = self { true } else { false }
    }
}
