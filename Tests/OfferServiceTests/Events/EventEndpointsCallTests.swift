// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferDomain
import TestSupport
import Testing

@testable import Configuration
@testable import OfferService

/// What auditors see of the receivers of events.
@Suite(.overBothEngines) struct EventEndpointsCallTests {
    private static let path = "/v1/events/endpoints"

    /// Runs a service with these receivers; each refuses connections or needs none.
    private static func withReceivers(
        _ members: String,
        over wire: Wire = .inProcess,
        _ body: (TestService) async throws -> Void
    ) async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Array("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".utf8), to: "events.secret")
        try folder.write(Array("a-token-of-16-or-more".utf8), to: "relay.token")
        for name in ["events.secret", "relay.token"] {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.path(of: name))
        }
        try folder.write(Array("{\(members)}".utf8), to: "events")
        var files = TestFiles()
        files.settings[.events] = folder.path(of: "events")
        try await withService(wire, files, body)
    }

    private static let receivers = """
        endpoints: [{id: "backend", url: "https://backend.example.com/path-secret?key=1", format: "cloudevents",
                     secrets: ["events.secret"]}],
        relays: [{id: "vendor", store: "app-store", url: "https://vendor.example.com:8443/a", tokenFile: "relay.token"}],
        streams: [{id: "siem", syslog: "siem.example.com"}, {id: "own", file: "own.ndjson"}]
        """

    @Test(.overSQLite, arguments: Wire.allCases)
    func `is for readers of records alone, and takes no parameter`(wire: Wire) async throws {
        try await Self.withReceivers("", over: wire) { service in
            for caller in ["auditor", "admin"] {
                let reply = try await service.get(Self.path, as: caller)
                #expect(reply.status == 200 && reply.json["endpoints"].elements.isEmpty, "\(caller): \(reply)")
            }
            for caller in ["backend", "scoped", "app"] {
                #expect(try await service.get(Self.path, as: caller).problem == "role-not-allowed")
            }
            #expect(try await service.get(Self.path, as: "nobody").problem == "unauthenticated")
            #expect(try await service.get("\(Self.path)?x=y", as: "auditor").problem == "invalid-parameter")
        }
        // Without an events file too.
        try await withService(wire) { service in
            let reply = try await service.get(Self.path, as: "auditor")
            #expect(reply.status == 200 && reply.json["logSize"].integer == 0, "\(reply)")
        }
    }

    @Test func `names every receiver with its kind and place, and no secret`() async throws {
        try await Self.withReceivers(Self.receivers) { service in
            let reply = try await service.get(Self.path, as: "auditor")
            let found = reply.json["endpoints"].elements
            let rows: [(id: String, kind: String, format: String?, target: String)] = [
                ("backend", "webhook", "cloudevents", "https://backend.example.com/…"),
                ("vendor", "relay", nil, "https://vendor.example.com:8443/…"),
                ("siem", "syslog", nil, "siem.example.com:6514"),
            ]
            #expect(found.count == 4, "\(reply)")
            for (endpoint, row) in zip(found, rows) {
                #expect(endpoint["id"].text == row.id && endpoint["kind"].text == row.kind)
                #expect(endpoint["format"].text == row.format && endpoint["target"].text == row.target, "\(endpoint)")
            }
            #expect(found[3]["kind"].text == "file" && found[3]["target"].text?.hasSuffix("/own.ndjson") == true)
            for secret in ["whsec", "MfKQ9r8", "a-token", "path-secret", "key=1"] {
                #expect(!reply.body.contains(secret), "\(secret) is shown")
            }
        }
    }
}
