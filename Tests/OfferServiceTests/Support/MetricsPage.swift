// SPDX-License-Identifier: Apache-2.0

/// A page in the Prometheus text format, version 0.0.4, read strictly.
///
/// Source: Prometheus, [Exposition formats](https://prometheus.io/docs/instrumenting/exposition_formats/).
struct MetricsPage {
    struct Malformed: Error, CustomStringConvertible {
        let description: String
    }

    /// The value of each sample, by its name and labels as they stand.
    private(set) var samples: [String: Double] = [:]
    /// The type of each family.
    private(set) var families: [String: String] = [:]

    init(_ reply: Reply) throws {
        guard reply.status == 200, reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8",
            reply.body.hasSuffix("\n")
        else { throw Malformed(description: "\(reply)") }
        var helped: String?
        var family: String?
        for line in reply.body.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
            if words.count == 4, words[0...1] == ["#", "HELP"] {
                helped = words[2]
            } else if words.count == 4, words[0...1] == ["#", "TYPE"] {
                guard words[2] == helped, families[words[2]] == nil,
                    ["counter", "gauge", "histogram"].contains(words[3])
                else { throw Malformed(description: String(line)) }
                families[words[2]] = words[3]
                family = words[2]
            } else {
                try add(line, of: family)
            }
        }
    }

    private mutating func add(_ line: Substring, of family: String?) throws {
        let pattern = #/([a-z_]+)(\{[a-z][a-z0-9]*="[^"\\\n]*"(,[a-z][a-z0-9]*="[^"\\\n]*")*\})? (-?[0-9.e+-]+)/#
        guard let family, let type = families[family], let match = line.wholeMatch(of: pattern),
            let value = Double(match.4)
        else { throw Malformed(description: String(line)) }
        let suffixes = type == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
        let key = match.1 + (match.2 ?? "")
        guard suffixes.contains(where: { match.1 == family + $0 }),
            samples.updateValue(value, forKey: String(key)) == nil
        else { throw Malformed(description: String(line)) }
    }

    func growth(of sample: String, since earlier: MetricsPage) -> Double {
        (samples[sample] ?? 0) - (earlier.samples[sample] ?? 0)
    }
}
