// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

@testable import Ledger

/// `POST /v1/audit/customers`.
@Suite(.overBothEngines) struct AuditCustomersCallTests {
    private static let token = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"

    private static func look(
        _ service: TestService,
        _ body: String,
        as caller: String = "auditor"
    ) async throws -> Reply {
        try await service.send(service.call(as: caller, body).at("/v1/audit/customers"))
    }

    private static func body(_ members: String) -> String { #"{"bundleId": "com.example.app", \#(members)}"# }

    @Test(arguments: Wire.allCases)
    func `names the pseudonyms that the customer's entries have`(wire: Wire) async throws {
        try await withService(wire) { service async throws in
            _ = try await service.sign(offer: "open", #""customerId": "Ada""#)
            _ = try await service.sign(offer: "open", #""customerId": "bob""#)
            let reply = try await Self.look(service, Self.body(#""customerId": "ada""#))
            #expect(reply.status == 200 && reply.headers["cache-control"] == "no-store", "\(reply)")
            #expect(reply.json["app"] == .text("com.example.app") && reply.json["users"].elements.count == 1)
            let user = reply.json["users"][0]
            #expect(user["name"] == .text("customerId") && user["epoch"] == .text("1"))
            #expect(user["isClaimed"] == .boolean(false) && user.names == ["epoch", "isClaimed", "name", "user"])
            let pseudonym = try #require(user["user"].text)
            let found = try await service.get("/v1/audit/entries?event=sign.intent&user=\(pseudonym)", as: "auditor")
            #expect(found.json["entries"].elements.compactMap(\.["index"].integer) == [0])
        }
    }

    @Test func `finds what an app claimed, beside what a backend said`() async throws {
        try await withService { service async throws in
            let members = #""appAccountToken": "\#(Self.token)""#
            _ = try await service.sign(as: "app", offer: "spaced", members)
            let reply = try await Self.look(service, Self.body(members))
            let users = reply.json["users"].elements
            #expect(users.map(\.["isClaimed"]) == [.boolean(false), .boolean(true)], "\(reply)")
            let names = try service.entries().map(Tree.init).flatMap { $0["users"].elements.compactMap(\.text) }
            #expect(Set(users.compactMap(\.["user"].text)).isSuperset(of: names.filter { $0.hasPrefix("hmac:") }))
        }
    }

    @Test func `records the caller and the pseudonyms of a lookup, but not the name`() async throws {
        try await withService { service async throws in
            let members = #""customerId": "ada@example.com", "originalTransactionId": "0077""#
            let reply = try await Self.look(service, Self.body(members), as: "admin")
            let record = try #require(try service.entries("customer.lookup").first)
            #expect(record["caller"] == .text("admin") && record["app"] == .text("com.example.app"))
            #expect(record["users"].elements == reply.json["users"].elements.map(\.["user"]))
            #expect(record.names == ["app", "caller", "ev", "t", "users", "v"])
            let said = try service.entries().joined() + reply.body + service.log.lines.joined()
            #expect(!said.contains("ada@example.com") && !said.contains("0077"))
        }
    }

    @Test(.overSQLite, arguments: ["auditor": 200, "admin": 200, "backend": 403, "app": 403, "nobody": 401])
    func `answers auditors and administrators alone`(caller: String, status: Int) async throws {
        try await withService { service async throws in
            let reply = try await Self.look(service, Self.body(#""customerId": "ada""#), as: caller)
            #expect(reply.status == status, "\(reply)")
            #expect(try service.entries("customer.lookup").count == (status == 200 ? 1 : 0))
        }
    }

    /// A body, the problem, and where it is wrong.
    static let refused: [(body: String, problem: String, pointer: String)] = [
        (#"{"customerId": "ada"}"#, "invalid-request", "/bundleId"),
        (#"{"bundleId": "com.example.app"}"#, "invalid-request", "/customerId"),
        (
            #"{"bundleId": "com.example.app", "packageName": "com.example.app", "customerId": "a"}"#, "invalid-request",
            "/packageName"
        ),
        (#"{"bundleId": "com.example.missing", "customerId": "ada"}"#, "unknown-offer", "/bundleId"),
        (#"{"packageName": "com.example.nothing", "customerId": "ada"}"#, "unknown-offer", "/packageName"),
        (body(#""customerId": "a b""#), "invalid-request", "/customerId"),
        (body(#""appAccountToken": "ada""#), "invalid-request", "/appAccountToken"),
        (body(#""customer": "ada""#), "invalid-request", "/customer"), ("[]", "invalid-request", ""),
    ]

    @Test(.overSQLite, arguments: refused.indices)
    func `refuses what names no customer of an app, and records nothing`(row: Int) async throws {
        let (body, problem, pointer) = Self.refused[row]
        try await withService { service async throws in
            let reply = try await Self.look(service, body)
            #expect(reply.problem == problem && reply.pointers.contains(pointer), "\(reply)")
            #expect(try service.entries("customer.lookup").isEmpty)
        }
    }

    @Test(.overSQLite) func `tells nothing when it can't be recorded`() async throws {
        try await withService { service async throws in
            await Self.stopCommitter(service)
            let reply = try await Self.look(service, Self.body(#""customerId": "ada""#))
            #expect(reply.status == 503 && !reply.body.contains("hmac:"), "\(reply)")
        }
    }

    private static func stopCommitter(_ service: TestService) async {
        await mayBlock { [committer = service.committer] in committer.stop() }
    }
}
