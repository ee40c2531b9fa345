// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferDomain
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService
@testable import ServiceRuntime

/// Health, readiness, metrics and the service's description of itself.
struct OperationTests {
    @Test(arguments: Wire.allCases)
    func `is live and ready when it can sign for every app`(wire: Wire) async throws {
        try await withService(wire) { service in
            let live = try await service.send(.get("/health/live"))
            #expect(live.status == 200 && live.json["status"] == .text("live"), "\(live)")
            let ready = try await service.send(.get("/health/ready"))
            #expect(ready.status == 200)
            let nothing = ["obstacles": Tree.array([]), "warnings": .array([])]
            #expect(ready.json == .object(nothing.merging(["status": .text("ready")]) { $1 }), "\(ready)")
            let head = try await service.send(Call(method: "HEAD", path: "/health/ready"))
            #expect(head.status == 200)
        }
    }

    @Test(arguments: Wire.ofRun)
    func `names each obstacle to its work`(wire: Wire) async throws {
        var files = TestFiles()
        for file in files.privateKeys {
            files.keys = files.keys.replacing(#"file: "\#(file)""#, with: #"status: "retiring", file: "\#(file)""#)
        }
        try await withService(wire, files) { service in
            let callers = Callers(ledger: service.ledger, clock: service.clock.wallClock)
            for name in service.credentials.keys {
                try callers.revoke(try #require(CallerID(name)), keyID: nil).get()
            }
            try service.refresh()
            service.health.beginStopping()
            let reply = try await service.send(.get("/health/ready"))
            #expect(reply.status == 503)
            #expect(reply.json["status"] == .text("not-ready"))
            #expect(reply.names(in: "obstacles") == ["stopping", "key-unavailable", "no-callers"])
            let live = try await service.send(.get("/health/live"))
            #expect(live.status == 200, "a restart would not help")
        }
    }

    @Test func `is not ready while it has not heard of others for too long`() async throws {
        try await withService { service async throws in
            let snapshot = service.current.value
            #expect(service.health.obstacles(snapshot).isEmpty)
            #expect(service.health.obstacles(snapshot, isCutOff: true).map(\.name) == ["cut-off"])
        }
    }

    @Test(arguments: Wire.ofRun)
    func `is ready, with a warning, when one app of several has no key`(wire: Wire) async throws {
        var files = TestFiles()
        files.keys = files.keys.replacing(#"file: "other.p8""#, with: #"status: "retiring", file: "other.p8""#)
        try await withService(wire, files) { service in
            let reply = try await service.send(.get("/health/ready"))
            #expect(reply.status == 200 && reply.names(in: "obstacles").isEmpty, "\(reply)")
            #expect(reply.names(in: "warnings") == ["key-unavailable"])
            #expect(reply.json["warnings"][0]["detail"] == .text("no key is active for com.example.other"))
        }
    }

    @Test func `is not ready when callers and key states could not be read five times in a row`() async throws {
        try await withService { service async throws in
            func obstacles() async throws -> [String?] {
                try await service.send(.get("/health/ready")).names(in: "obstacles")
            }
            for _ in 0..<4 { service.health.noteStates(areRead: false) }
            #expect(try await obstacles() == [])
            service.health.noteStates(areRead: true)
            for _ in 0..<4 { service.health.noteStates(areRead: false) }
            #expect(try await obstacles() == [], "one successful look restarts the count")
            service.health.noteStates(areRead: false)
            #expect(try await obstacles() == ["states-unread"])
            service.health.noteStates(areRead: true)
            #expect(try await obstacles() == [])
        }
    }

    @Test(arguments: Wire.ofRun)
    func `is not ready without a caller whose key is live`(wire: Wire) async throws {
        try await withService(wire) { service in
            let callers = Callers(ledger: service.ledger, clock: service.clock.wallClock)
            for (name, credential) in service.credentials {
                try callers.revoke(try #require(CallerID(name)), keyID: String(credential.prefix(16))).get()
            }
            try service.refresh()
            let reply = try await service.send(.get("/health/ready"))
            #expect(reply.names(in: "obstacles") == ["no-callers"])
        }
    }

    @Test(arguments: Wire.ofRun, ["retiring", "disabled"])
    func `signs with active keys only`(wire: Wire, status: String) async throws {
        var files = TestFiles()
        files.keys = files.keys.replacing(#"file: "active.p8""#, with: #"status: "\#(status)", file: "active.p8""#)
        try await withService(wire, files) { service in
            let reply = try await service.sign(offer: "open")
            #expect(reply.status == 503)
            #expect(reply.problem == "key-unavailable", "\(reply)")
            #expect(try service.entries().isEmpty)
        }
    }

    @Test func `reports roots trusted beside Apple's everywhere`() async throws {
        try await withStoreService { world in
            let service = world.service
            #expect(try await service.send(.get("/health/ready")).names(in: "warnings").contains("app-store-roots"))
            let page = try MetricsPage(try await service.send(.get("/metrics")))
            #expect(page.samples["offer_signer_further_roots"] == 1)
            #expect(service.settings.furtherRootsDigest?.count == 64)
            #expect(service.log.lines.contains { $0.contains("app-store-roots") })
        }
        try await withService { service in
            #expect(try await !service.send(.get("/health/ready")).names(in: "warnings").contains("app-store-roots"))
            let page = try MetricsPage(try await service.send(.get("/metrics")))
            #expect(page.samples["offer_signer_further_roots"] == 0)
            #expect(service.settings.furtherRootsDigest == nil)
        }
        let event = AuditEvent.serviceStarted(version: "1", furtherRoots: "abc")
        let entry = try Tree(
            String(decoding: AuditEntry.bytes(of: event, recordedAt: Timestamp(milliseconds: 1)), as: UTF8.self)
        )
        #expect(entry["roots"] == .text("abc"))
    }

    @Test func `answers of every kind are taken for what they say they are`() async throws {
        try await withService { service in
            let calls: [Call] = [
                service.call(offer: "open"), service.call(offer: "nothing"), .get("/health/ready"),
                .get("/health/live"),
                .get("/metrics"), .get("/openapi.yaml"), .get("/nowhere"), .get("/console/"),
            ]
            for call in calls {
                let reply = try await service.send(call)
                #expect(reply.headers["x-content-type-options"] == "nosniff", "\(call.path): \(reply.headers)")
            }
        }
    }

    @Test(arguments: Wire.ofRun)
    func `signs nothing with a key that an administrator has disabled, until it is enabled`(
        wire: Wire
    ) async throws {
        try await withService(wire) { service in
            let keys = KeyDisabling(ledger: service.ledger, clock: service.clock.wallClock)
            let id = try KeyID("ACTIVE0001")
            try keys.set(id, isDisabled: true)
            try service.refresh()
            #expect(try await service.sign(offer: "open").problem == "key-unavailable")
            let ready = try await service.send(.get("/health/ready"))
            #expect(ready.names(in: "warnings") == ["key-unavailable"])
            #expect(try keys.disabled() == [id])
            try keys.set(id, isDisabled: false)
            try service.refresh()
            #expect(try await service.sign(offer: "open").status == 200)
            #expect(
                try service.entries().map(Tree.init).map(\.["ev"].text) == ["key.disable", "key.enable", "sign.intent"]
            )
        }
    }

    @Test(arguments: Wire.ofRun)
    func `signs with the active one of two keys and keeps the retiring one`(wire: Wire) async throws {
        var files = TestFiles()
        files.keys = files.keys.replacing(
            "  ],\n",
            with: """
                    {id: "RETIRING01", issuerId: "\(TestFiles.issuerID)", file: "retiring.p8",
                     bundleIds: ["com.example.app"], status: "retiring"},
                  ],

                """
        )
        files.privateKeys.append("retiring.p8")
        try await withService(wire, files) { service in
            let reply = try await service.sign(offer: "open")
            #expect(reply.json["keyIdentifier"] == .text("ACTIVE0001"), "\(reply)")
            let page = try await service.send(.get("/metrics")).body
            #expect(page.contains(#"offer_signer_key_info{key="RETIRING01",status="retiring"} 1"#))
        }
    }

    @Test(arguments: Wire.allCases)
    func `serves metrics that parse, and that count what happened`(wire: Wire) async throws {
        try await withService(wire) { service in
            let before = try MetricsPage(try await service.send(.get("/metrics")))
            _ = try await service.sign(offer: "once", #""customerId": "ada", "formats": ["v1", "jws"]"#)
            _ = try await service.sign(offer: "once", #""customerId": "ada""#)
            _ = try await service.send(Call.get("/nothing"))
            let after = try MetricsPage(try await service.send(.get("/metrics")))
            let route = "/v1/app-store/promotional-offers/signatures"
            for (sample, growth) in [
                (#"offer_signer_http_requests_total{route="\#(route)",status="200"}"#, 1.0),
                (#"offer_signer_http_requests_total{route="\#(route)",status="403"}"#, 1),
                (#"offer_signer_http_requests_total{route="other",status="404"}"#, 1),
                (#"offer_signer_http_requests_total{route="/metrics",status="200"}"#, 1),
                (#"offer_signer_decisions_total{offer="once",outcome="eligible"}"#, 1),
                (#"offer_signer_decisions_total{offer="once",outcome="notEligible"}"#, 1),
                (#"offer_signer_refusal_findings_total{rule="grants",answer="notMet"}"#, 1),
                (#"offer_signer_signatures_total{key="ACTIVE0001",form="v1"}"#, 1),
                (#"offer_signer_signatures_total{key="ACTIVE0001",form="jws"}"#, 1),
                ("offer_signer_self_verifications_total", 2),
                ("offer_signer_commit_batch_requests_count", 2),
                (#"offer_signer_commit_seconds_bucket{le="+Inf"}"#, 2),
            ] {
                #expect(after.growth(of: sample, since: before) == growth, "\(sample)")
            }
        }
    }

    @Test(arguments: Wire.allCases)
    func `serves its own description`(wire: Wire) async throws {
        try await withService(wire) { service in
            let reply = try await service.send(.get("/openapi.yaml"))
            #expect(reply.status == 200)
            #expect(reply.headers["content-type"] == "application/yaml")
            #expect(reply.body == (try Repository.text("openapi.yaml")))
        }
    }
}

extension Reply {
    /// The names of what a readiness answer lists.
    fileprivate func names(in member: String) -> [String?] { json[member].elements.map(\.["name"].text) }
}
