// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferDomain
import OfferService
import TestSupport
import Testing

/// `POST /v1/audit/lookups`.
@Suite(.overBothEngines) struct AuditLookupsCallTests {
    private static func look(
        _ service: TestService,
        _ body: String,
        as caller: String = "auditor"
    ) async throws -> Reply {
        var call = service.call(as: caller, body)
        call.path = "/v1/audit/lookups"
        return try await service.send(call)
    }

    /// What an app that has this answer knows, with some of it changed.
    private static func body(_ reply: Reply, changing changes: [String: String] = [:]) -> String {
        let answer = reply.json
        var members = [
            "bundleId": "\"com.example.app\"", "productId": "\"pro.monthly\"",
            "offerId": "\"\(answer["identifier"].text ?? "")\"",
            "keyIdentifier": "\"\(answer["keyIdentifier"].text ?? "")\"", "nonce": "\"\(answer["nonce"].text ?? "")\"",
            "timestamp": "\(answer["timestamp"].integer ?? 0)", "signature": "\"\(answer["signature"].text ?? "")\"",
        ]
        if let token = answer["appAccountToken"].text { members["appAccountToken"] = "\"\(token)\"" }
        members.merge(changes) { $1 }
        return "{" + members.filter { !$0.value.isEmpty }.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ",")
            + "}"
    }

    private static let token = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"

    @Test(arguments: [#""customerId": "ada""#, #""appAccountToken": "7E3FB204-2A6B-4B2F-9A3C-1B2C3D4E5F60""#])
    func `finds the entry of a signature by what the app received and attached`(members: String) async throws {
        try await withService { service async throws in
            _ = try await service.sign(offer: "open", members)
            let reply = try await service.sign(offer: "open", members)
            _ = try await service.sign(offer: "open", members)
            let found = try await Self.look(service, Self.body(reply))
            #expect(found.status == 200 && found.headers["cache-control"] == "no-store", "\(found)")
            #expect(found.json["index"].integer == 1 && found.json["signatureVerifies"] == .boolean(true))
            #expect(found.json["entry"] == (try service.entries().map(Tree.init))[1])
        }
    }

    @Test func `finds the entry of a JWS, and tells both forms of one answer apart`() async throws {
        try await withService { service async throws in
            let reply = try await service.sign(offer: "open", #""formats": ["v1", "jws"], "customerId": "ada""#)
            let jws = try #require(reply.json["jws"].text)
            let found = try await Self.look(service, #"{"jws": "\#(jws)"}"#)
            #expect(found.json["entry"]["fmt"] == .text("jws") && found.json["signatureVerifies"] == .boolean(true))
            #expect(try await Self.look(service, Self.body(reply)).json["entry"]["fmt"] == .text("v1"))
        }
    }

    @Test(arguments: [
        #""customerId": "ada""#, #""formats": ["v1", "jws"], "customerId": "ada""#,
        #""formats": ["jws"], "appAccountToken": "7E3FB204-2A6B-4B2F-9A3C-1B2C3D4E5F60""#,
    ])
    func `finds the entries of an answer as it is, with nothing added`(members: String) async throws {
        try await withService { service async throws in
            _ = try await service.sign(offer: "open", members)
            let reply = try await service.sign(offer: "open", members)
            let first = try service.entries("sign.intent").count - (members.contains("v1") ? 2 : 1)
            let found = try await Self.look(service, reply.body)
            #expect(found.status == 200, "\(found)")
            let all = [found.json] + found.json["further"].elements
            #expect(all.compactMap(\.["index"].integer) == (first..<first + all.count).map(Int64.init))
            #expect(all.count == (members.contains("v1") ? 2 : 1))
            #expect(all.allSatisfy { $0["signatureVerifies"] == .boolean(true) })
            #expect(all.allSatisfy { $0["entry"]["grant"] == reply.json["grantId"] })
        }
    }

    @Test func `finds the entries of a batch, of a nonce, and of a grant`() async throws {
        try await withService { service async throws in
            let reply = try await service.sign(offer: "open")
            let other = try await service.sign(offer: "open")
            for name in ["grantId", "nonce"] {
                let text = try #require(reply.json[name].text)
                let found = try await Self.look(service, #"{"\#(name)": "\#(text)"}"#)
                #expect(found.json["index"].integer == 0 && found.json["signatureVerifies"] == .null, "\(found)")
            }
            let batch =
                #"{"results": [{"status": 200, "grant": \#(reply.body)}, {"status": 403, "problem": {}}, "#
                + #"{"status": 200, "grant": \#(other.body)}]}"#
            let found = try await Self.look(service, batch)
            #expect(found.json["index"].integer == 0 && found.json["further"][0]["index"].integer == 1, "\(found)")
            #expect(found.json["further"][0]["signatureVerifies"] == .boolean(true))
        }
    }

    /// What is changed in an answer, and what the problem points to.
    static let changedAnswers: [(old: String, new: String, pointers: [String])] = [
        (#""identifier":"store_open""#, #""identifier":"store_once""#, ["/identifier"]),
        (#""keyIdentifier":"ACTIVE0001""#, #""keyIdentifier":"OTHERKEY01""#, ["/keyIdentifier"]),
        (#""grantId":"0"#, #""grantId":"1"#, ["/grantId"]), (#""timestamp":1"#, #""timestamp":2"#, ["/timestamp"]),
        (token, "00000000-0000-4000-8000-000000000000", []),
    ]

    @Test(.overSQLite, arguments: changedAnswers.indices)
    func `says what of an answer is on record otherwise`(row: Int) async throws {
        let (old, new, pointers) = Self.changedAnswers[row]
        try await withService { service async throws in
            let reply = try await service.sign(offer: "open", #""appAccountToken": "\#(Self.token)""#)
            try #require(reply.body.contains(old))
            let found = try await Self.look(service, reply.body.replacing(old, with: new))
            #expect(found.problem == "no-record" && found.pointers == pointers, "\(found)")
        }
    }

    @Test func `finds the first of several entries of the same signature`() async throws {
        try await withService { service async throws in
            let call = service.call(offer: "open", #""customerId": "ada""#).with("Idempotency-Key", "k-1")
            let reply = try await service.send(call)
            _ = try await service.send(call)
            #expect(try service.entries("sign.intent").count == 2)
            #expect(try await Self.look(service, Self.body(reply)).json["index"].integer == 0)
        }
    }

    @Test func `says that a signature does not verify, and when it can't say`() async throws {
        try await withService { service async throws in
            let reply = try await service.sign(offer: "open")
            let other = try await service.sign(offer: "open")
            let signature = "\"\(other.json["signature"].text ?? "")\""
            let found = try await Self.look(service, Self.body(reply, changing: ["signature": signature]))
            #expect(found.json["signatureVerifies"] == .boolean(false))
            let keyDisabling = KeyDisabling(ledger: service.ledger, clock: service.clock.wallClock)
            try keyDisabling.set(try KeyID("ACTIVE0001"), isDisabled: true)
            try service.refresh()
            #expect(try await Self.look(service, Self.body(reply)).json["signatureVerifies"] == .null)
        }
    }

    /// What is changed of what was sent, the pointers of the answer, and something that its detail says.
    static let changes: [(changes: [String: String], pointers: [String], detail: String)] = [
        (["productId": "\"pro.yearly\""], ["/productId"], "Entry 0 has the nonce"),
        (["offerId": "\"store_once\"", "timestamp": "5"], ["/offerId", "/timestamp"], "offerId, timestamp"),
        (["keyIdentifier": "\"OTHERKEY01\""], ["/keyIdentifier"], "Entry 0"),
        (["appAccountToken": "\"00000000-0000-4000-8000-000000000000\""], [], "appAccountToken or applicationUsername"),
        (["appAccountToken": ""], [], "appAccountToken or applicationUsername"),
        (["nonce": "\"00000000-0000-4000-8000-000000000000\""], [], "either it was not signed by this service"),
    ]

    @Test(.overSQLite, arguments: changes.indices)
    func `says what differs where the nonce is on record, and else that there is no record`(row: Int) async throws {
        let (changes, pointers, detail) = Self.changes[row]
        try await withService { service async throws in
            let reply = try await service.sign(offer: "open", #""appAccountToken": "\#(Self.token)""#)
            let answer = try await Self.look(service, Self.body(reply, changing: changes))
            #expect(answer.status == 404 && answer.problem == "no-record", "\(answer)")
            #expect(answer.pointers == pointers)
            #expect(answer.json["detail"].text?.contains(detail) == true, "\(answer)")
            #expect(!answer.body.contains(Self.token), "the answer does not show the signed token")
        }
    }

    @Test(.overSQLite, arguments: ["backend": 403, "app": 403, "nobody": 401, "admin": 200])
    func `answers only auditors and administrators, so that no other caller can test guesses`(
        caller: String,
        status: Int
    ) async throws {
        try await withService { service async throws in
            let reply = try await service.sign(offer: "open")
            #expect(try await Self.look(service, Self.body(reply), as: caller).status == status)
        }
    }

    /// A body, and where it is wrong.
    static let refused: [(body: String, pointer: String)] = [
        ("{}", "/bundleId"), (#"{"jws": "a.b.c"}"#, "/jws"), (#"{"jws": 5}"#, "/jws"),
        (#"{"jws": "a.b.c", "nonce": "x"}"#, "/nonce"),
        (#"{"timestamp": "5"}"#, "/timestamp"), (#"{"signature": "AAAA"}"#, "/signature"),
        (#"{"keyIdentifier": "short"}"#, "/keyIdentifier"), (#"{"colour": "red"}"#, "/colour"),
        (#"{"appAccountToken": "\#(token)", "applicationUsername": "ada"}"#, "/applicationUsername"),
        (#"{"nonce": "x"}"#, "/nonce"), (#"{"grantId": 5}"#, "/grantId"),
        (#"{"identifier": "store_open"}"#, "/grantId"),
        (#"{"results": []}"#, "/results"), (#"{"results": [{"grant": {"nonce": "x"}}]}"#, "/results/0/grant/nonce"),
    ]

    @Test(.overSQLite, arguments: refused.indices)
    func `refuses what is no signature`(row: Int) async throws {
        let (body, pointer) = Self.refused[row]
        try await withService { service async throws in
            let reply = try await Self.look(service, body)
            #expect(reply.problem == "invalid-request" && reply.pointers.contains(pointer), "\(reply)")
        }
    }
}
