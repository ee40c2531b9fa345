// SPDX-License-Identifier: Apache-2.0
import JSON
package import OfferDomain

/// A performance test that is over, for people and for programs.
package struct PerformanceTestReport: Sendable {
    /// The app whose real-time URL was tested.
    package let bundleID: BundleID
    /// Apple's ID of the test, which `--request` takes to wait for it again.
    package let requestID: String
    /// What Apple measured.
    package let result: PerformanceTestResult

    package init(bundleID: BundleID, requestID: String, result: PerformanceTestResult) {
        (self.bundleID, self.requestID, self.result) = (bundleID, requestID, result)
    }

    // MARK: - For people

    /// One line for each figure that Apple gave, then what to do about failures.
    package var lines: [String] {
        let rows: [(String, String?)] = [
            ("result", result.verdict.rawValue), ("app", "\(bundleID)"), ("request", requestID),
            ("target", result.target), ("load", result.load?.text), ("success rate", success), ("times", times),
            ("failures", failures),
        ]
        return rows.compactMap { name, text in text.map { name.padded(to: 14) + $0 } } + advice
    }

    private var success: String? {
        result.successPercent.map { percent in
            "\(percent) %" + (result.load?.thresholdPercent.map { ", at least \($0) % demanded" } ?? "")
        }
    }

    private var times: String? {
        guard !result.times.isEmpty else { return nil }
        let list = result.times.map { "\($0.name) \($0.value) ms" }.joined(separator: ", ")
        return list + (result.load?.thresholdMilliseconds.map { "; at most \($0) ms each" } ?? "")
    }

    private var failures: String? {
        result.failures.isEmpty
            ? nil : result.failures.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
    }

    /// What to look at, the most frequent failure first.
    private var advice: [String] {
        guard result.verdict == .fail else { return [] }
        let known = result.failures.compactMap { failure in Self.causes[failure.name].map { "\(failure.name): \($0)" } }
        return known.flatMap { $0.wrapped(first: "  → ", rest: "    ") }
    }

    /// Source: Apple, [sendAttemptResult](https://developer.apple.com/documentation/appstoreservernotifications/sendattemptresult).
    private static let causes: [String: String] = [
        "TIMED_OUT": "the answer takes too long on its way; the service itself answers within 300 ms "
            + "(offer_signer_http_request_duration_seconds)",
        "TLS_ISSUE": "the certificate or its chain is not accepted, or TLS 1.2 is not offered",
        "CIRCULAR_REDIRECT": "a proxy redirects; let it pass the request on",
        "NO_RESPONSE": "the URL is not answered; look at the proxy, and whether 17.0.0.0/8 may come in",
        "SOCKET_ISSUE": "connections break; look at the limits of the proxy and of --connections-per-address",
        "PREMATURE_CLOSE": "connections are closed too early; look at the proxy's keep-alive",
        "UNSUPPORTED_CHARSET": "a proxy changes Content-Type; let it pass the answer on",
        "INVALID_RESPONSE": "something else answers there than this service, or a proxy changes the answer",
        "UNSUCCESSFUL_HTTP_RESPONSE_CODE":
            "the service or a proxy refuses; look at offer_signer_retention_answers_total "
            + "for refused, and whether the app takes the sandbox",
    ]

    // MARK: - For programs

    /// One object, with Apple's names and two of our own: `bundleId` and `requestId`.
    package var json: [UInt8] {
        let tree: JSONTree = [
            "bundleId": .text(bundleID.text),
            "requestId": .text(requestID),
            "result": .text(result.verdict.rawValue),
            "target": result.target.map { .text($0) },
            "successRate": result.successPercent.map { .integer($0) },
            "numPending": result.pending.map { .integer($0) },
            "config": result.load.map(Self.tree),
            "responseTimes": Self.tree(result.times),
            "failures": Self.tree(result.failures),
        ]
        return tree.bytes
    }

    private static func tree(_ load: PerformanceTestResult.Load) -> JSONTree {
        [
            "maxConcurrentRequests": load.atOnce.map { .integer($0) },
            "totalRequests": load.requests.map { .integer($0) },
            "totalDuration": load.milliseconds.map { .integer($0) },
            "responseTimeThreshold": load.thresholdMilliseconds.map { .integer($0) },
            "successRateThreshold": load.thresholdPercent.map { .integer($0) },
        ]
    }

    private static func tree(_ figures: [PerformanceTestResult.Figure]) -> JSONTree {
        .object(figures.map { ($0.name, .integer($0.value)) })
    }
}

extension PerformanceTestResult.Load {
    /// As “100 requests in 60 s, at most 10 at once”; `nil` if nothing is known.
    package var text: String? {
        guard let requests else { return nil }
        return "\(requests) requests" + (milliseconds.map { " in \($0 / 1000) s" } ?? "")
            + (atOnce.map { ", at most \($0) at once" } ?? "")
    }
}
