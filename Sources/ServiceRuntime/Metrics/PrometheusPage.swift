// SPDX-License-Identifier: Apache-2.0

/// Builds a page in the Prometheus text format, version 0.0.4.
package struct PrometheusPage {
    /// What was added, as it is served.
    package private(set) var text = ""

    /// A page without metrics.
    package init() {}

    /// Adds a counter or a gauge.
    package mutating func add(_ gauge: Gauge) {
        text += "# HELP \(gauge.name) \(gauge.help)\n# TYPE \(gauge.name) \(gauge.type)\n"
        let lines = gauge.samples.map { "\(gauge.name)\(Self.labels($0.labels)) \(Self.number($0.value))\n" }
        for line in lines.sorted() { text += line }
    }

    /// Adds a histogram.
    package mutating func add(_ name: String, help: String, _ histograms: [(labels: [(String, String)], Histogram)]) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) histogram\n"
        for block in histograms.map({ Self.lines(of: $0.1, name: name, labels: $0.labels) }).sorted() { text += block }
    }

    private static func lines(of histogram: Histogram, name: String, labels own: [(String, String)]) -> String {
        var lines = ""
        var running = 0
        for (bound, count) in zip(histogram.bounds, histogram.counts) {
            running += count
            lines += "\(name)_bucket\(labels(own + [("le", number(bound))])) \(running)\n"
        }
        lines += "\(name)_bucket\(labels(own + [("le", "+Inf")])) \(histogram.total)\n"
        return lines + "\(name)_sum\(labels(own)) \(number(histogram.sum))\n"
            + "\(name)_count\(labels(own)) \(histogram.total)\n"
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }

    private static func labels(_ labels: [(String, String)]) -> String {
        guard !labels.isEmpty else { return "" }
        return "{" + labels.map { "\($0)=\"\(escaped($1))\"" }.joined(separator: ",") + "}"
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
