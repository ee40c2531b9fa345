// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import OfferService
import Testing

@testable import Ledger

/// Many requests in one body: each has what it would have alone.
struct BatchTests {
    /// The body of a request for a customer who left too recently.
    private static let tooEarly = offerBody("lapsed").replacing(
        #"{"subscribedBefore": true}"#,
        with: #"{"status": "expired", "expiresAt": "2026-06-11T12:00:00Z"}"#
    )

    @Test(arguments: Wire.allCases)
    func `signs each request by itself, in the order of the body, with a record of its own`(wire: Wire) async throws {
        try await withService(wire) { service in
            let token = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"
            let reply = try await service.send(
                service.batch([
                    offerBody("open", #""appAccountToken": "\#(token.uppercased())", "formats": ["v1", "jws"]"#),
                    offerBody("nothing"),
                    offerBody("spaced"),
                    Self.tooEarly,
                    offerBody("open", #""formats": ["jws"]"#).replacing("com.example.app", with: "com.example.other"),
                ])
            )
            #expect(reply.status == 200, "\(reply)")
            #expect(reply.headers["content-type"] == "application/json")
            #expect(reply.headers["cache-control"] == "no-store")
            #expect(reply.statuses == [200, 404, 200, 403, 200])
            #expect(reply.problems == [nil, "unknown-offer", nil, "not-eligible", nil])

            let active = try #require(service.publicKeys["active.p8"])
            let other = try #require(service.publicKeys["other.p8"])
            let first = SignedAnswer(reply.results[0]["grant"], binding: token)
            #expect(first.isV1Signed(by: active) && first.isJWSSigned(by: active))
            #expect(first.answer["identifier"] == .text("store_open"))
            #expect(first.answer["appAccountToken"] == .text(token))
            #expect(SignedAnswer(reply.results[2]["grant"]).isV1Signed(by: active))
            let last = SignedAnswer(reply.results[4]["grant"])
            #expect(last.isJWSSigned(by: other) && last.answer["signature"] == .null)

            let intents = try service.entries("sign.intent")
            let granted = [0, 2, 4].map { reply.results[$0]["grant"]["grantId"] }
            #expect(intents.map(\.["grant"]) == [granted[0], granted[0], granted[1], granted[2]])
            #expect(Set(granted).count == 3)
            #expect(Set([0, 2, 4].map { reply.results[$0]["grant"]["nonce"] }).count == 3)
            let refused = try service.entries("sign.deny")
            #expect(
                refused.map { .text("urn:uuid:\($0["rid"].text ?? "")") } == [reply.results[3]["problem"]["instance"]]
            )
        }
    }

    /// Bodies that are refused for every caller.
    static let refused = [
        offerBody("nothing"),
        offerBody("open").replacing("pro.monthly", with: "pro.weekly"),
        offerBody("open").replacing("com.example.app", with: "com.example.nowhere"),
        offerBody("open").replacing(#""open""#, with: "7"),
        offerBody("open").replacing("open", with: "op\u{2063}en"),
        offerBody("open", #""applicationUsername": "a\u2063b""#),
        offerBody("open", #""colour": "red", "formats": ["v2"], "appAccountToken": 1"#),
        offerBody("open", #""signedTransactions": ["e30.e30.e30", 5]"#),
        offerBody("open", #""signedTransactions": ["e30.e30.e30"]"#),
        offerBody("open").replacing("true", with: "false"),
        offerBody("once"),
        tooEarly,
        "{}", "[]", "null", "7",
    ]

    @Test(arguments: Wire.ofRun)
    func `gives each refused request the answer of a single call, and keeps the other requests`(
        wire: Wire
    ) async throws {
        try await withService(wire) { service in
            for caller in ["backend", "app", "scoped"] {
                let bodies = Self.refused + (caller == "app" ? [] : [offerBody("open")])
                let reply = try await service.send(service.batch(as: caller, bodies))
                #expect(reply.status == 200, "\(reply)")
                #expect(reply.results.count == bodies.count)
                for (body, result) in zip(bodies, reply.results) {
                    let alone = try await service.send(service.call(as: caller, body))
                    #expect(result["status"].integer == Int64(alone.status), "\(body)")
                    guard alone.status != 200 else { continue }
                    for name in alone.json.names.union(result["problem"].names).subtracting(["instance"]) {
                        #expect(result["problem"][name] == alone.json[name], "\(name) of \(body)")
                    }
                    #expect(result["problem"]["instance"].text?.hasPrefix("urn:uuid:") == true)
                    #expect(result.names == ["status", "problem"])
                }
                #expect(reply.statuses.last == (caller == "app" ? 400 : 200))
            }
        }
    }

    /// A body that is no batch, and where it is not.
    struct Row: CustomTestStringConvertible, Sendable {
        let body: String
        let problem: String
        let pointers: [String]
        let detail: String

        init(_ body: String, _ problem: String = "invalid-request", at pointers: [String], _ detail: String) {
            self.body = body
            self.problem = problem
            self.pointers = pointers
            self.detail = detail
        }

        var testDescription: String { "\(body.prefix(40)) \(detail)" }
    }

    static let rows = [
        Row("{}", at: ["/requests"], "is missing; expected an array of 1 to 32 requests"),
        Row(#"{"requests": null}"#, at: ["/requests"], "is missing"),
        Row(#"{"requests": []}"#, at: ["/requests"], "expected an array of 1 to 32 requests, found 0"),
        Row(
            #"{"requests": [\#(Array(repeating: offerBody("open"), count: 33).joined(separator: ", "))]}"#,
            at: ["/requests"],
            "expected an array of 1 to 32 requests, found 33"
        ),
        Row(#"{"requests": {}}"#, at: ["/requests"], "expected an array of 1 to 32 requests, found an object"),
        Row(
            #"{"requests": [\#(offerBody("open"))], "request": []}"#,
            at: ["/request"],
            "did you mean “requests”?"
        ),
        Row("[\(offerBody("open"))]", at: [""], "expected an object, found an array"),
        Row(
            #"{"requests": [\#(offerBody("open")), {"bundleId": }]}"#,
            "malformed-json",
            at: ["/requests/1/bundleId"],
            ""
        ),
        Row(#"{"requests": [{"bundleId": "a", "bundleId": "b"}]}"#, "malformed-json", at: ["/requests/0/bundleId"], ""),
        Row(
            #"{"requests": [[[[[[[[[[]]]]]]]]]]}"#,
            "malformed-json",
            at: ["/requests/0/0/0/0/0/0/0/0/0"],
            "more than 10"
        ),
    ]

    @Test(arguments: Wire.ofRun, rows)
    func `refuses as a whole what is no batch, and grants nothing of it`(wire: Wire, row: Row) async throws {
        try await withService(wire) { service in
            let reply = try await service.send(service.batch(body: row.body))
            #expect(reply.status == 400)
            #expect(reply.problem == row.problem, "\(reply)")
            #expect(reply.pointers == row.pointers, "\(reply)")
            #expect(reply.json["errors"][0]["detail"].text?.contains(row.detail) == true, "\(reply)")
            #expect(try service.entries().isEmpty)
        }
    }

    @Test(arguments: ["auditor", "admin"])
    func `is not read for roles that only look or administer`(caller: String) async throws {
        try await withService { service in
            let reply = try await service.send(service.batch(as: caller, body: #"{"requests": 7"#))
            #expect(reply.status == 403 && reply.problem == "role-not-allowed", "\(reply)")
        }
    }

    @Test(arguments: Wire.ofRun)
    func `takes 32 requests and as many as fit into 256 KiB, at this path alone`(wire: Wire) async throws {
        try await withService(wire) { service in
            let many = try await service.send(service.batch(Array(repeating: offerBody("open"), count: 32)))
            #expect(many.statuses == Array(repeating: 200, count: 32))

            // Not signed by the App Store, which is found only if it was read.
            let long = (0..<8).map { _ in
                offerBody("open", #""signedTransactions": ["\#(String(repeating: "x", count: 32_000))"]"#)
            }
            var call = service.batch(long)
            call.body += Array(repeating: UInt8(ascii: " "), count: SignatureBatch.maximumBytes - call.body.count)
            let reply = try await service.send(call)
            #expect(reply.problems == Array(repeating: "invalid-signed-data", count: 8), "\(reply)")

            call.body.append(UInt8(ascii: " "))
            let tooLong = try await service.send(call)
            switch wire {
            case .loopback: #expect(tooLong.status == 413 && tooLong.problem == "too-large", "\(tooLong)")
            case .inProcess: #expect(tooLong.problem == "malformed-json", "\(tooLong)")
            }
            call.path = "/v1/app-store/promotional-offers/signatures"
            call.body.removeLast()
            #expect([400, 413].contains(try await service.send(call).status))
            #expect(try service.entries("sign.intent").count == 32)
        }
    }

    @Test(arguments: Wire.ofRun)
    func `authenticates a batch once, and authorizes each of its requests`(wire: Wire) async throws {
        try await withService(wire) { service in
            let bodies = [offerBody("open"), offerBody("open").replacing("com.example.app", with: "com.example.other")]
            #expect(try await service.send(service.batch(as: "nobody", bodies)).problem == "unauthenticated")
            for caller in ["auditor", "admin"] {
                #expect(try await service.send(service.batch(as: caller, bodies)).problem == "role-not-allowed")
            }
            let scoped = try await service.send(service.batch(as: "scoped", bodies))
            #expect(scoped.problems == [nil, "bundle-not-allowed"], "\(scoped)")
            let app = try await service.send(
                service.batch(as: "app", bodies + [offerBody("open").replacing(#""facts""#, with: #""attributes""#)])
            )
            #expect(app.problems == Array(repeating: "assertion-not-allowed", count: 3), "\(app)")
            #expect(app.results[2]["problem"]["errors"][0]["pointer"] == .text("/attributes"))

            var get = service.batch(bodies)
            get.method = "GET"
            get.body = []
            #expect(try await service.send(get).status == 405)
            var text = service.batch(bodies)
            text.fields.removeAll { $0.name == "Content-Type" }
            #expect(try await service.send(text).problem == "unsupported-media-type")
        }
    }

    @Test(arguments: Wire.ofRun)
    func `refuses each request that needs a disabled key, or all while the service is sealed`(wire: Wire) async throws {
        try await withService(wire) { service in
            let bodies = [offerBody("open"), offerBody("open").replacing("com.example.app", with: "com.example.other")]
            var disable = service.call(as: "admin", "{}")
            disable.path = "/v1/keys/ACTIVE0001/disable"
            #expect(try await service.send(disable).status == 200)
            let reply = try await service.send(service.batch(bodies))
            #expect(reply.statuses == [503, 200] && reply.problems == ["key-unavailable", nil], "\(reply)")
            service.seal.seal(.administrator, detail: "leak")
            let sealed = try await service.send(service.batch(bodies))
            #expect(sealed.statuses == [503, 503], "\(sealed)")
            #expect(sealed.problems == ["key-unavailable", "sealed"], "\(sealed)")
            #expect(try service.entries("sign.intent").count == 1)
        }
    }

    @Test(arguments: Wire.ofRun)
    func `counts each decision and each refusal that is not on record, and the answer once`(wire: Wire) async throws {
        try await withService(wire) { service in
            _ = try await service.send(
                service.batch([offerBody("open"), offerBody("open"), offerBody("nothing"), "{}", Self.tooEarly])
            )
            #expect(service.metrics[.decisions(offer: "open", outcome: "eligible")] == 2)
            #expect(service.metrics[.decisions(offer: "lapsed", outcome: "notEligible")] == 1)
            #expect(service.metrics[.requests(route: .offers(.promotionalOfferBatch), status: 200)] == 1)
            let statuses = [200: 2, 403: 1, 404: 1, 400: 1]
            for (status, count) in statuses { #expect(service.metrics[.batchItems(status: status)] == count) }
            let traffic = try #require(service.traffic.take(until: service.clock.now))
            #expect(
                traffic.counts == [
                    UnauthenticatedTraffic(route: .offers(.promotionalOfferBatch), problem: "unknown-offer"): 1,
                    UnauthenticatedTraffic(route: .offers(.promotionalOfferBatch), problem: "invalid-request"): 1,
                ]
            )
            #expect(service.log.lines.count { $0.contains("request answered") } == 1)
        }
    }
}
