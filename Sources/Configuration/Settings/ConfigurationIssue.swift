// SPDX-License-Identifier: Apache-2.0

/// One thing that is wrong, or doubtful, in what the operator configured.
package struct ConfigurationIssue: Hashable, Sendable, CustomStringConvertible {
    /// How bad it is.
    package enum Severity: String, Hashable, Sendable {
        /// The service does not start, or keeps what it had before a reload.
        case error
        /// The service runs, but the operator should look at it.
        case warning
    }

    /// Whether the service starts all the same.
    package let severity: Severity
    /// Where the issue is: a file with line and column, a flag, or an environment variable.
    package let place: String
    /// The RFC 6901 pointer inside the file; empty for the whole of it.
    package let pointer: String
    /// What was found and what was expected, as one sentence.
    package let message: String

    package init(_ severity: Severity, place: String, pointer: String = "", _ message: String) {
        self.severity = severity
        self.place = place
        self.pointer = pointer
        self.message = message
    }

    /// One line: the severity, the place and the message.
    package var description: String {
        let path = pointer.isEmpty ? "" : " \(pointer)"
        return "\(severity.rawValue): \(place)\(path): \(message)"
    }
}

/// Everything found wrong in one reading of a configuration; at least one issue is an error.
package struct ConfigurationError: Error, Sendable {
    /// In the order in which they were found; there may be warnings among them.
    package let issues: [ConfigurationIssue]

    package init(_ issues: [ConfigurationIssue]) {
        self.issues = issues
    }
}
