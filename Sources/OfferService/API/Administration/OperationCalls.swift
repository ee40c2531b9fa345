// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import Ledger
import OfferDomain
import ServiceRuntime

/// The calls for operators: health, metrics, and the API description.
struct OperationCalls: Sendable {
    let current: CurrentSnapshot
    let health: Health
    let counters: Metrics
    let seal: Seal
    /// Those of the other parts of the service.
    let warnings: @Sendable () -> [Obstacle]
    /// Those of the other parts of the service.
    let gauges: @Sendable () -> [Gauge]

    func live() -> Response {
        .json(Array(#"{"status":"live"}"#.utf8))
    }

    /// 200 when the service can do its work, else 503; either way with each obstacle and warning.
    func ready() -> Response {
        let snapshot = current.value
        let obstacles = health.obstacles(snapshot, sealedBy: seal.causes, isCutOff: seal.isCutOff)
        let body: JSONTree = [
            "status": .text(obstacles.isEmpty ? "ready" : "not-ready"),
            "obstacles": Self.tree(obstacles),
            "warnings": Self.tree(health.warnings(snapshot) + warnings()),
        ]
        return .json(body, status: obstacles.isEmpty ? 200 : 503)
    }

    private static func tree(_ obstacles: [Obstacle]) -> JSONTree {
        .array(obstacles.map { ["name": .text($0.name), "detail": .text($0.detail)] })
    }

    func metrics() -> Response {
        let keys = current.value.keyRing.keys.map { key in
            Gauge.Sample(1, labels: [("key", key.id.text), ("status", key.status.rawValue)])
        }
        let info = Gauge("offer_signer_key_info", help: "Keys of the ring and their state", keys)
        let causes = Set(seal.causes.map(\.cause))
        let sealed = Gauge(
            "offer_signer_sealed",
            help: "1 for each cause that seals the service",
            SealCause.allCases.map { .init(causes.contains($0) ? 1 : 0, labels: [("cause", $0.rawValue)]) }
        )
        return Response(
            status: 200,
            headers: [
                ("Content-Type", "text/plain; version=0.0.4; charset=utf-8"), ("X-Content-Type-Options", "nosniff"),
            ],
            body: Array(counters.text(gauges: [info, sealed] + gauges()).utf8)
        )
    }

    private static let description = EmbeddedFile.bytes(of: "openapi.yaml")

    func openAPI() -> Response {
        Response(
            status: 200,
            headers: [("Content-Type", "application/yaml"), ("X-Content-Type-Options", "nosniff")],
            body: Self.description
        )
    }
}
