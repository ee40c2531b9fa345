// SPDX-License-Identifier: Apache-2.0

/// A value read when the metrics are asked for, with one sample for each set of labels.
package struct Gauge: Sendable {
    /// One value with its labels.
    package struct Sample: Sendable {
        /// Names and values of labels, in the order in which they are written.
        package let labels: [(String, String)]
        /// The value; a counter's never decreases while the service runs.
        package let value: Double

        package init(_ value: Double, labels: [(String, String)] = []) {
            self.labels = labels
            self.value = value
        }
    }

    /// The metric's name, with its unit at the end.
    package let name: String
    /// What the metric is, for `# HELP`.
    package let help: String
    /// `gauge` or `counter`.
    package let type: String
    /// One for each set of labels; none while the value is not known.
    package let samples: [Sample]

    package init(_ name: String, help: String, type: String = "gauge", _ samples: [Sample]) {
        self.name = name
        self.help = help
        self.type = type
        self.samples = samples
    }
}
