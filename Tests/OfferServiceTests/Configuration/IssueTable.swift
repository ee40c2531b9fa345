// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferService
import TestSupport
import Testing

/// A change to a good configuration file, and the very lines that it is refused with.
struct IssueRow: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// The text in the good file, and the text that replaces it.
    let change: (old: String, new: String)
    let issues: [String]

    init(_ description: String, _ old: String, _ new: String, _ issues: String...) {
        testDescription = description
        change = (old, new)
        self.issues = issues
    }
}

/// What is said of a configuration in that directory; the directory's own path is left out of it.
func issues(_ directory: TemporaryDirectory, _ settings: Settings) -> (errors: [String], warnings: [String]) {
    let shown = { (issue: ConfigurationIssue) in
        issue.description.replacing(directory.path + "/", with: "")
    }
    do {
        return ([], try LoadedConfiguration(settings).warnings.map(shown))
    } catch {
        return (
            error.issues.filter { $0.severity == .error }.map(shown),
            error.issues.filter { $0.severity == .warning }.map(shown)
        )
    }
}
