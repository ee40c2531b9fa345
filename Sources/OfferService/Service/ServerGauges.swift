// SPDX-License-Identifier: Apache-2.0
import HTTP
import Ledger
import ServiceRuntime

/// Reads the server's own counts for the metrics; the server exists only after what asks for them.
final class ServerGauges: Sendable {
    /// Weak, because the server owns the calls that read it; held, it would keep itself and every key in memory.
    private struct Source {
        weak var server: Server?
    }

    private let source = Guarded(Source())

    func read(_ server: Server) {
        source.withLock { $0.server = server }
    }

    func read(_ committer: Committer) -> [Gauge] {
        guard let server = source.withLock({ $0.server }) else { return [] }
        let statistics = server.statistics
        let rejections = statistics.rejections.map { Gauge.Sample(Double($0.value), labels: [("kind", $0.key)]) }
        return [
            Gauge(
                "offer_signer_waiting_requests",
                help: "Requests that wait for a commit",
                [.init(Double(committer.waiting))]
            ),
            Gauge(
                "offer_signer_open_connections",
                help: "Open connections",
                [.init(Double(statistics.openConnections))]
            ),
            Gauge(
                "offer_signer_accepted_connections_total",
                help: "Connections accepted",
                type: "counter",
                [.init(Double(statistics.acceptedConnections))]
            ),
            Gauge(
                "offer_signer_evicted_connections_total",
                help: "Connections of unknown clients that were closed to make room for others",
                type: "counter",
                [.init(Double(statistics.evictedConnections))]
            ),
            Gauge(
                "offer_signer_rejected_requests_total",
                help: "Requests that the HTTP server turned away, by kind",
                type: "counter",
                rejections
            ),
            Gauge(
                "offer_signer_tls_certificate_expiry_timestamp_seconds",
                help: "When the TLS certificate in use expires, in seconds since 1970 UTC; absent without TLS",
                server.certificateExpiry.map { [.init(Double($0))] } ?? []
            ),
        ]
    }
}
