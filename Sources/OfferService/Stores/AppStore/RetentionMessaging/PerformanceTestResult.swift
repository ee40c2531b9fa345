// SPDX-License-Identifier: Apache-2.0
import JSON

/// A performance test that has begun.
struct StartedPerformanceTest: Sendable {
    let requestID: String
    let load: PerformanceTestResult.Load?
}

/// Apple's performance test of a real-time URL, as far as it is.
///
/// Source: Apple, [PerformanceTestResultResponse](https://developer.apple.com/documentation/retentionmessaging/performancetestresultresponse).
package struct PerformanceTestResult: Hashable, Sendable {
    package enum Verdict: String, Sendable {
        case pending = "PENDING"
        case pass = "PASS"
        case fail = "FAIL"
    }

    /// What the App Store sends, and what it demands.
    package struct Load: Hashable, Sendable {
        package let atOnce: Int64?
        package let requests: Int64?
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

    package let verdict: Verdict
    package let target: String?
    package let load: Load?
    package let successPercent: Int64?
    package let pending: Int64?
    /// Milliseconds by Apple's names, from the average to the slowest.
    package let times: [Figure]
    /// How many requests failed, by Apple's name of the reason.
    package let failures: [Figure]

    /// A number with its name.
    package struct Figure: Hashable, Sendable {
        package let name: String
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
