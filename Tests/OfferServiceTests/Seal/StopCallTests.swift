// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import OfferService
import Storage
import TestSupport
import Testing

@testable import Ledger

/// Who may seal, unseal, disable and enable, and what the calls answer.
@Suite(.overBothEngines) struct StopCallTests {
    /// A call that shows or changes keys or the seal, and which roles may make it.
    struct Row: CustomTestStringConvertible {
        let method: String
        let path: String
        var body = ""
        let mayAuditor: Bool

        var testDescription: String { "\(method) \(path)" }

        var call: Call {
            let call = Call(method: method, path: path, body: Array(body.utf8))
            return body.isEmpty ? call : call.with("Content-Type", "application/json")
        }
    }

    static let rows = [
        Row(method: "GET", path: "/v1/keys", mayAuditor: true),
        Row(method: "GET", path: "/v1/seal", mayAuditor: true),
        Row(method: "POST", path: "/v1/keys/OTHER00001/disable", mayAuditor: false),
        Row(method: "POST", path: "/v1/keys/OTHER00001/enable", mayAuditor: false),
        Row(method: "POST", path: "/v1/seal", body: #"{"reason": "drill"}"#, mayAuditor: false),
        Row(method: "POST", path: "/v1/unseal", body: #"{"reason": "drill over"}"#, mayAuditor: false),
    ]

    @Test(.overSQLite, arguments: Wire.ofRun, rows)
    func `are for auditors and administrators, each as far as they may`(wire: Wire, row: Row) async throws {
        try await withService(wire) { service async throws in
            func status(_ caller: String?) async throws -> Int {
                let reply = try await service.send(caller.map { service.authorized(row.call, as: $0) } ?? row.call)
                if reply.status == 403 { #expect(reply.problem == "role-not-allowed", "\(reply)") }
                if reply.status == 401 { #expect(reply.problem == "unauthenticated", "\(reply)") }
                return reply.status
            }
            #expect(try await status(nil) == 401)
            for caller in ["app", "backend", "scoped"] { #expect(try await status(caller) == 403, "\(caller)") }
            #expect(try await status("auditor") == (row.mayAuditor ? 200 : 403))
            #expect(try service.entries().isEmpty, "a refused call changes nothing")
            #expect(try await status("admin") == 200)
        }
    }

    @Test(.overSQLite, arguments: Wire.ofRun, ["auditor", "admin"])
    func `do not let auditors and administrators ask for signatures`(wire: Wire, caller: String) async throws {
        try await withService(wire) { service async throws in
            #expect(try await service.sign(as: caller, offer: "open").problem == "role-not-allowed")
        }
    }

    @Test(.overSQLite, arguments: Wire.allCases)
    func `list the keys without key material`(wire: Wire) async throws {
        var files = TestFiles()
        files.keys = files.keys.replacing(
            "  ],\n",
            with: """
                    {id: "RETIRING01", issuerId: "\(TestFiles.issuerID)", file: "retiring.p8",
                     bundleIds: ["com.example.app"], status: "retiring"},
                    {id: "DISABLED01", issuerId: "\(TestFiles.issuerID)", file: "none.p8",
                     bundleIds: ["com.example.app"], status: "disabled"},
                  ],

                """
        )
        files.privateKeys.append("retiring.p8")
        try await withService(wire, files) { service async throws in
            let reply = try await service.send(service.authorized(.get("/v1/keys"), as: "auditor"))
            let keys = reply.json["keys"].elements
            #expect(
                keys.map(\.["id"].text) == ["ACTIVE0001", "OTHER00001", "RETIRING01", "DISABLED01"],
                "\(reply)"
            )
            #expect(keys.map(\.["state"].text) == ["active", "active", "retiring", "disabled"])
            #expect(keys.map(\.["disabledBy"]) == [.null, .null, .null, .text("file")])
            #expect(keys[0]["publicKeySHA256"].text == service.publicKeys["active.p8"]?.spkiSHA256.hex)
            #expect(keys[3]["publicKeySHA256"] == .null, "its file is not read")
            #expect(keys[0]["bundleIds"] == .array([.text("com.example.app")]))
            #expect(keys[1]["purposes"].elements.contains(.text("promotional-offer")))
            #expect(reply.headers["cache-control"] == "no-store")
        }
    }

    @Test(arguments: Wire.ofRun)
    func `tell when a key was used last`(wire: Wire) async throws {
        try await withService(wire) { service async throws in
            func lastUses() async throws -> [Tree] {
                let reply = try await service.send(service.authorized(.get("/v1/keys"), as: "auditor"))
                return reply.json["keys"].elements.map(\.["lastUsedAt"])
            }
            #expect(try await lastUses() == [.null, .null])
            #expect(try await service.sign(offer: "open").status == 200)
            let first = service.clock.now
            #expect(try await lastUses() == [.text(first.rfc3339), .null])
            service.clock.advance(hours: 1)
            let refused = try await service.send(service.call(offerBody("open").replacing("true", with: "false")))
            #expect(refused.problem == "not-eligible")
            #expect(try await lastUses() == [.text(first.rfc3339), .null], "a refusal is no use")
            #expect(try await service.sign(offer: "open").status == 200)
            #expect(try await lastUses() == [.text(service.clock.now.rfc3339), .null])
        }
    }

    @Test(arguments: Wire.ofRun)
    func `show the last use of a key by another instance, without a request of their own`(wire: Wire) async throws {
        try await withService(wire) { service async throws in
            #expect(try await service.sign(offer: "open").status == 200)
            let later = Timestamp(milliseconds: service.clock.now.milliseconds + 60_000)
            let other = try service.ledger.openPatiently()
            try other.run(SQL("UPDATE key_uses SET last_used_at = ?", .integer(later.milliseconds)))
            let reply = try await service.send(service.authorized(.get("/v1/keys"), as: "auditor"))
            #expect(reply.json["keys"][0]["lastUsedAt"].text == later.rfc3339)
            try other.run(SQL("ALTER TABLE key_uses RENAME TO taken_away"))
            let refused = try await service.send(service.authorized(.get("/v1/keys"), as: "auditor"))
            #expect(refused.problem == "log-unreadable")
        }
    }

    @Test(arguments: Wire.allCases)
    func `disable and enable a key at once, with a record of who did it`(wire: Wire) async throws {
        try await withService(wire) { service async throws in
            #expect(try await service.sign(offer: "open").status == 200)
            let off = try await service.act("/v1/keys/ACTIVE0001/disable")
            #expect(off.status == 200 && off.json["state"] == .text("disabled"), "\(off)")
            #expect(off.json["disabledBy"] == .text("administrator") && off.json["isObeyed"] == .boolean(true))
            #expect(off.json["publicKeySHA256"].text == service.publicKeys["active.p8"]?.spkiSHA256.hex)
            #expect(try await service.sign(offer: "open").problem == "key-unavailable")
            let other = offerBody("open").replacing("com.example.app", with: "com.example.other")
            #expect(try await service.send(service.call(other)).status == 200, "other keys sign")
            let on = try await service.act("/v1/keys/ACTIVE0001/enable", body: "{}")
            #expect(on.json["state"] == .text("active") && on.json["disabledBy"] == .null, "\(on)")
            #expect(try await service.sign(offer: "open").status == 200)
            let acts = try service.entries().map(Tree.init).filter { $0["ev"].text?.hasPrefix("key.") == true }
            #expect(acts.map(\.["ev"].text) == ["key.disable", "key.enable"])
            for act in acts {
                #expect(
                    act["by"] == .text("api") && act["caller"] == .text("admin") && act["kid"] == .text("ACTIVE0001")
                )
            }
        }
    }

    @Test func `report a stop as not acknowledged until the other instance acknowledges it`() async throws {
        try await withService { service async throws in
            let connection = try service.ledger.openPatiently()
            let id = UniqueID.version7(at: service.clock.now, 1, 1)
            try InstanceTable(connection: connection)
                .join(Instance(id: id, name: "host-1:1", version: "1", policyName: "sha256:00", keysDigest: "00"))
            async let sealed = service.act("/v1/seal", body: #"{"reason": "drill"}"#)
            async let disabled = service.act("/v1/keys/ACTIVE0001/disable")
            for reply in [try await sealed, try await disabled] {
                #expect(reply.status == 200 && reply.json["isObeyed"] == .boolean(false), "\(reply)")
            }
            func acknowledged() async throws -> [Tree] {
                let seal = try await service.send(service.authorized(.get("/v1/seal"), as: "auditor"))
                let keys = try await service.send(service.authorized(.get("/v1/keys"), as: "auditor"))
                return [seal.json["isObeyed"]] + keys.json["keys"].elements.map(\.["isObeyed"])
            }
            #expect(try await acknowledged() == [.boolean(false), .boolean(false), .boolean(true)])
            #expect(try await service.eventTypes() == [], "an event would be too early")
            let other = LedgerWriter(connection: connection, instance: id)
            try other.begin(at: service.clock.now)
            try other.acknowledgeStops()
            try other.commit()
            try await service.committer.change { _ in }
            #expect(try await acknowledged() == [.boolean(true), .boolean(true), .boolean(true)])
            #expect(try await service.eventTypes() == ["service.sealed", "key.disabled"])
        }
    }

    @Test(.overSQLite, arguments: Wire.ofRun)
    func `know no key that the ring does not have`(wire: Wire) async throws {
        try await withService(wire) { service async throws in
            for path in ["/v1/keys/NOBODY0001/disable", "/v1/keys/active0001/enable", "/v1/keys//disable"] {
                #expect(try await service.act(path).problem == "not-found", "\(path)")
            }
            #expect(try await service.act("/v1/keys/ACTIVE0001").problem == "not-found")
            #expect(try await service.act("/v1/keys/ACTIVE0001/disable/now").problem == "not-found")
            #expect(try service.entries().isEmpty)
        }
    }

    @Test(arguments: Wire.allCases)
    func `seal the service until it is unsealed, with a record of who, when and why`(wire: Wire) async throws {
        try await withService(wire) { service async throws in
            let before = try await service.act("/v1/unseal", body: #"{"reason": "nothing"}"#)
            #expect(before.status == 200 && before.json["isSealed"] == .boolean(false), "\(before)")
            #expect(try service.entries().isEmpty, "what changes nothing is not on record")
            service.clock.advance(seconds: 5)
            let sealed = try await service.act("/v1/seal", body: #"{"reason": "key ACTIVE0001 may be known"}"#)
            #expect(sealed.status == 200 && sealed.json["isSealed"] == .boolean(true), "\(sealed)")
            let cause = sealed.json["causes"][0]
            #expect(cause["cause"] == .text("administrator") && sealed.json["causes"].elements.count == 1)
            #expect(cause["since"].text == service.clock.now.rfc3339)
            #expect(cause["detail"] == .text("key ACTIVE0001 may be known"))
            let refused = try await service.sign(offer: "open")
            #expect(refused.status == 503 && refused.problem == "sealed", "\(refused)")
            #expect(refused.headers["retry-after"] == nil, "it does not end by itself")
            #expect(!refused.body.contains("may be known"))
            let shown = try await service.send(service.authorized(.get("/v1/seal"), as: "auditor"))
            #expect(shown.json == sealed.json)
            let ready = try await service.send(.get("/health/ready"))
            #expect(ready.status == 503 && ready.json["obstacles"][0]["name"] == .text("sealed-administrator"))
            #expect(!ready.body.contains("may be known"), "unauthenticated callers do not get the reason")
            #expect(try await service.send(.get("/health/live")).status == 200)
            let page = try MetricsPage(try await service.send(.get("/metrics")))
            #expect(page.samples[#"offer_signer_sealed{cause="administrator"}"#] == 1)
            #expect(page.samples[#"offer_signer_sealed{cause="file"}"#] == 0)
            let after = try await service.act("/v1/unseal", body: #"{"reason": "it was a drill"}"#)
            #expect(after.json["isSealed"] == .boolean(false), "\(after)")
            #expect(try await service.sign(offer: "open").status == 200)
            let entries = try service.entries().map(Tree.init)
            #expect(entries.map(\.["ev"].text) == ["service.seal", "service.unseal", "sign.intent"])
            #expect(entries.prefix(2).map(\.["reason"].text) == ["key ACTIVE0001 may be known", "it was a drill"])
            for entry in entries.prefix(2) {
                #expect(entry["by"] == .text("api") && entry["caller"] == .text("admin"))
                #expect(entry["cause"] == .text("administrator"))
            }
        }
    }

    static let reasons: [(body: String, problem: String)] = [
        ("{}", "invalid-request"), (#"{"reason": ""}"#, "invalid-request"), (#"{"reason": 7}"#, "invalid-request"),
        (#"{"reason": "sch\u00f6n"}"#, "invalid-request"), (#"{"reason": "two\nlines"}"#, "invalid-request"),
        (#"{"reason": "x", "cause": "y"}"#, "invalid-request"), ("seal!", "malformed-json"),
        (#"{"reason": "\#(String(repeating: "x", count: 201))"}"#, "invalid-request"),
    ]

    @Test(.overSQLite, arguments: Wire.ofRun, ["/v1/seal", "/v1/unseal"])
    func `take no reason that could not be read in a record`(wire: Wire, path: String) async throws {
        try await withService(wire) { service async throws in
            for (body, problem) in Self.reasons {
                let reply = try await service.act(path, body: body)
                #expect(reply.problem == problem, "\(body): \(reply)")
            }
            let untyped = service.authorized(Call(path: path, body: Array(#"{"reason": "x"}"#.utf8)), as: "admin")
            #expect(try await service.send(untyped).problem == "unsupported-media-type")
            #expect(!service.seal.isSealed)
            let longest = String(repeating: "~", count: 200)
            #expect(try await service.act(path, body: #"{"reason": "\#(longest)"}"#).status == 200)
        }
    }
}

extension TestService {
    func authorized(_ call: Call, as caller: String) -> Call {
        credentials[caller].map { call.with("Authorization", "Bearer \($0)") } ?? call
    }

    /// Posts to one of these calls as the administrator.
    func act(_ path: String, body: String = "") async throws -> Reply {
        let call = Call(path: path, body: Array(body.utf8))
        return try await send(
            authorized(body.isEmpty ? call : call.with("Content-Type", "application/json"), as: "admin")
        )
    }
}
