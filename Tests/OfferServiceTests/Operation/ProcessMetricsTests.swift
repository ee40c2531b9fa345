// SPDX-License-Identifier: Apache-2.0
import Glibc
import OfferDomain
import ServiceRuntime
import TestSupport
import Testing

@testable import Configuration
@testable import OfferService

/// What the metrics report about the process, request times, and what expires.
struct ProcessMetricsTests {
    @Test func `times answers by route, and reports process and build`() async throws {
        try await withService { service async throws in
            #expect(try await service.sign(offer: "open").status == 200)
            for _ in 0..<3 { _ = try await service.send(.get("/health/live")) }
            let page = try MetricsPage(try await service.send(.get("/metrics")))
            let name = "offer_signer_http_request_duration_seconds"
            #expect(page.families[name] == "histogram")
            #expect(page.samples["\(name)_count{route=\"\(OperationRoute.live.rawValue)\"}"] == 3)
            let signed = "{route=\"\(OfferRoute.promotionalOfferSignature.rawValue)\""
            #expect(page.samples["\(name)_count\(signed)}"] == 1)
            #expect(page.samples["\(name)_bucket\(signed),le=\"+Inf\"}"] == 1)
            #expect(page.families["process_cpu_seconds_total"] == "counter")
            #expect(try #require(page.samples["process_resident_memory_bytes"]) > 1_000_000)
            #expect(try #require(page.samples["process_open_fds"]) >= 3)
            #expect(try #require(page.samples["process_max_fds"]) > 3)
            #expect(try #require(page.samples["process_start_time_seconds"]) > 0)
            let build = page.samples.keys.first {
                $0.hasPrefix("offer_signer_build_info{version=\"\(Program.version)\"")
            }
            #expect(build != nil && page.families["offer_signer_build_info"] == "gauge")
        }
    }

    private static func directory(
        _ keys: [(caller: String, id: String, expiresAt: Int64?, revokedAt: Int64?)]
    ) throws
        -> CallerDirectory
    {
        let callers = try Dictionary(grouping: keys, by: \.caller).map { name, keys in
            let caller = Caller(id: try #require(CallerID(name)), role: .backend, apps: [])
            let stored = keys.map { key in
                StoredCallerKey(
                    id: key.id,
                    secretDigest: [UInt8](repeating: 7, count: 32),
                    createdAt: Timestamp(milliseconds: 0),
                    expiresAt: key.expiresAt.map(Timestamp.init(milliseconds:)),
                    revokedAt: key.revokedAt.map(Timestamp.init(milliseconds:))
                )
            }
            return (caller: caller, keys: stored)
        }
        return CallerDirectory(callers)
    }

    @Test func `tells when the last live key of a caller expires`() throws {
        let directory = try Self.directory([
            ("two", "a", 5000, nil), ("two", "b", 9000, nil), ("two", "c", 99_000, 10), ("lasting", "d", 5000, nil),
            ("lasting", "e", nil, nil), ("gone", "f", 500, nil), ("revoked", "g", 5000, 10),
        ])
        let gauge = directory.expiryGauge(at: Timestamp(milliseconds: 1000))
        #expect(gauge.samples.map(\.value) == [9] && gauge.samples[0].labels.map(\.1) == ["two"])
    }
}
