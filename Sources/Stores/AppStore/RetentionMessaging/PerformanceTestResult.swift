// SPDX-License-Identifier: Apache-2.0
import JSON
import Ledger

/// A performance test that has begun.
package struct StartedPerformanceTest: Sendable {
    package let requestID: String
    package let load: PerformanceTestResult.Load?
}

/// Apple's performance test of a real-time URL, as far as it is.
///
/// Source: Apple, [PerformanceTestResultResponse](https://developer.apple.com/documentation/retentionmessaging/performancetestresultresponse).
package struct PerformanceTestResult: Hashable, Sendable {
    /// The test's state, with Apple's names; an answer with another one is not read.
    package enum Verdict: String, Sendable {
        case pending = "PENDING"
        case pass = "PASS"
        case fail = "FAIL"
    }

    /// What the App Store sends, and what it demands.
    package struct Load: Hashable, Sendable {
        /// `maxConcurrentRequests`: how many requests are open at once.
        package let atOnce: Int64?
        /// `totalRequests`: how many requests the test sends.
        package let requests: Int64?
        /// `totalDuration`: how long the test takes, in milliseconds.
        package let milliseconds: Int64?
        /// How long an answer may take.
        package let thresholdMilliseconds: Int64?
        /// How many of a hundred answers must be good.
        package let thresholdPercent: Int64?

        init(_ object: JSONObject) {
            atOnce = object["maxConcurrentRequests"]?.integer
            requests = object["totalRequests"]?.integer
            milliseconds = object["totalDuration"]?.integer
            thresholdMilliseconds = object["responseTimeThreshold"]?.integer
            thresholdPercent = object["successRateThreshold"]?.integer
        }
    }

    /// `result`: whether the test is over, and whether the URL passed.
    package let verdict: Verdict
    /// `target`: the URL that Apple tests.
    package let target: String?
    /// `config`: `nil` if the answer has none.
    package let load: Load?
    /// `successRate`: how many of a hundred answers were good.
    package let successPercent: Int64?
    /// `numPending`: how many requests are not answered yet.
    package let pending: Int64?
    /// Milliseconds by Apple's names, from the average to the slowest.
    package let times: [Figure]
    /// How many requests failed, by Apple's name of the reason.
    package let failures: [Figure]

    /// A number with its name.
    package struct Figure: Hashable, Sendable {
        /// Apple's name of the percentile or of the reason.
        package let name: String
        /// Milliseconds, or a count of requests.
        package let value: Int64
    }

    init?(_ object: JSONObject) {
        guard let verdict = object["result"]?.string.flatMap(Verdict.init(rawValue:)) else { return nil }
        self.verdict = verdict
        target = object["target"]?.string
        load = object["config"]?.object.map(Load.init)
        successPercent = object["successRate"]?.integer
        pending = object["numPending"]?.integer
        let times = object["responseTimes"]?.object
        self.times = ["average", "p50", "p90", "p95", "p99"].compactMap { name in
            times?[name]?.integer.map { Figure(name: name, value: $0) }
        }
        let failures = object["failures"]?.object.map { object in
            object.compactMap { member in member.value.integer.map { Figure(name: member.name, value: $0) } }
        }
        self.failures = (failures ?? []).sorted { ($1.value, $0.name) < ($0.value, $1.name) }
    }
}
