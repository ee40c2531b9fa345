// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

extension TestService {
    /// A call about what is stored of a customer of `com.example.app`.
    func attributesCall(
        _ method: String,
        of customer: String,
        as caller: String = "backend",
        app: String = "bundleId=com.example.app",
        _ body: String = ""
    ) -> Call {
        var call = call(as: caller, body).at("/v1/customers/\(customer)/attributes?\(app)")
        call.method = method
        return call
    }

    /// Stores attributes, and demands that it is done.
    func store(_ attributes: String, of customer: String, seconds: Int = 86_400) async throws {
        let body = #"{"attributes": \#(attributes), "expiresInSeconds": \#(seconds)}"#
        let reply = try await send(attributesCall("PUT", of: customer, body))
        #expect(reply.status == 200, "\(reply)")
    }
}

/// `PUT`, `GET` and `DELETE /v1/customers/{customerId}/attributes`.
@Suite(.overBothEngines) struct CustomerAttributesCallTests {
    private static var files: TestFiles {
        var files = TestFiles()
        files.offers = files.offers.replacing(
            #"{id: "gold","#,
            with: """
                {id: "risky", appStore: {offerId: "store_risky"}, eligibility: {any: [
                  {not: {attribute: {name: "churnRisk", atMost: 0.7}}}, {attribute: {name: "any", exists: true}},
                  {attribute: {name: "mixed", in: [1, "one"]}}]}},
                {id: "gold",
                """
        )
        return files
    }

    @Test(arguments: Wire.allCases)
    func `a backend stores, replaces, reads and deletes a customer's attributes`(wire: Wire) async throws {
        try await withService(wire, Self.files) { service async throws in
            func send(_ method: String, _ body: String = "") async throws -> Reply {
                try await service.send(service.attributesCall(method, of: "ada%2F1", body))
            }
            #expect(try await send("GET").problem == "not-found")
            #expect(try await send("DELETE").problem == "not-found")
            let first = #"{"attributes": {"tier": "gö\"ld", "churnRisk": 0.25}, "expiresInSeconds": 3600}"#
            let stored = """
                {"attributes":{"churnRisk":0.25,"tier":"gö\\"ld"},"storedAt":"2026-07-01T12:00:00.123Z",\
                "expiresAt":"2026-07-01T13:00:00.123Z"}
                """
            for method in ["PUT", "GET"] {
                let reply = try await send(method, method == "PUT" ? first : "")
                #expect(reply.status == 200 && reply.body == stored, "\(reply)")
            }
            let second = try await send("PUT", #"{"attributes": {"any": true}, "expiresAt": "2026-07-02T00:00:00Z"}"#)
            #expect(second.json["attributes"] == .object(["any": .boolean(true)]), "\(second)")
            #expect(try await send("GET").body == second.body)
            #expect(try await send("DELETE").body == second.body, "what was stored until now")
            #expect(try await send("GET").problem == "not-found")
        }
    }

    @Test func `each change is on record with the names, and without a value or the customer's name`() async throws {
        try await withService(.inProcess, Self.files) { service async throws in
            try await service.store(#"{"tier": "platinum", "churnRisk": 0.25}"#, of: "ada-lovelace")
            #expect(try await service.send(service.attributesCall("DELETE", of: "Ada-Lovelace")).status == 200)
            _ = try await service.send(service.attributesCall("DELETE", of: "ada-lovelace"))
            let entries = try service.entries("customer.attributes")
            #expect(entries.map { $0["state"].text } == ["stored", "deleted"])
            #expect(entries[0]["names"].elements == [.text("churnRisk"), .text("tier")])
            #expect(entries[0]["expires"].integer == service.clock.now.milliseconds + 86_400_000)
            #expect(entries.allSatisfy { $0["caller"] == .text("backend") && $0["bundle"] == .text("com.example.app") })
            #expect(entries[0]["users"] == entries[1]["users"] && entries[0]["users"].elements.count == 1)
            for secret in ["platinum", "0.25", "ovelace"] {
                #expect(try service.entries().allSatisfy { !$0.contains(secret) }, "\(secret)")
            }
        }
    }

    /// What a backend sends again a second later, and whether that is a change.
    private static let repeats = [
        (#""attributes": {"churnRisk": 0.25, "tier": "gold"}, "expiresAt": "2026-07-02T00:00:00Z""#, false),
        (#""expiresAt": "2026-07-02T00:00:00.000Z", "attributes": {"tier": "gold", "churnRisk": 2.5e-1}"#, false),
        (#""attributes": {"churnRisk": 0.25, "tier": "silver"}, "expiresAt": "2026-07-02T00:00:00Z""#, true),
        (#""attributes": {"churnRisk": 0.25}, "expiresAt": "2026-07-02T00:00:00Z""#, true),
        (#""attributes": {"churnRisk": 0.25, "tier": "gold"}, "expiresAt": "2026-07-02T00:00:01Z""#, true),
        (#""attributes": {"churnRisk": 0.25, "tier": "gold"}, "expiresAt": "2026-07-01T23:59:59Z""#, true),
        (#""attributes": {"churnRisk": 0.25, "tier": "gold"}, "expiresInSeconds": 3600"#, true),
    ]

    @Test func `a repeat that changes nothing is answered as the first one, and leaves no entry`() async throws {
        for (members, isChange) in Self.repeats {
            try await withService(.inProcess, Self.files) { service async throws in
                func send(_ members: String) async throws -> Reply {
                    try await service.send(service.attributesCall("PUT", of: "ada", "{\(members)}"))
                }
                let first = try await send(Self.repeats[0].0)
                service.clock.advance(seconds: 1)
                let second = try await send(members)
                #expect(second.status == 200 && (second.body == first.body) == !isChange, "\(members): \(second)")
                #expect(try service.entries("customer.attributes").count == (isChange ? 2 : 1), "\(members)")
                #expect(try await service.send(service.attributesCall("GET", of: "ada")).body == second.body)
            }
        }
    }

    private static let attributes = [
        (#"{"churnrisk": 1}"#, "/churnrisk", "did you mean “churnRisk”"),
        (#"{"else": 1}"#, "/else", "read: any, churnRisk, mixed, tier"),
        (#"{"churnRisk": "high"}"#, "/churnRisk", "expected a number"),
        (#"{"tier": true}"#, "/tier", "expected a string"),
        (#"{"mixed": true}"#, "/mixed", "a number or a string"),
        (#"{"tier": null}"#, "/tier", "found null"),
        (#"{"tier": ["gold"]}"#, "/tier", "found an array"),
        ("1", "", "expected an object"),
    ]

    private static let bodies = [
        (#"{"expiresInSeconds": 60}"#, "/attributes", "is missing, and so is facts"),
        (#"{"attributes": {}}"#, "/expiresAt", "is missing, and so is expiresInSeconds"),
        (#"{"attributes": {}, "expiresInSeconds": 59}"#, "/expiresInSeconds", "from 60 to 7776000"),
        (#"{"attributes": {}, "expiresInSeconds": 7776001}"#, "/expiresInSeconds", "from 60 to 7776000"),
        (
            #"{"attributes": {}, "expiresInSeconds": 60, "expiresAt": "2026-07-02T00:00:00Z"}"#, "/expiresAt",
            "send one of them"
        ),
        (#"{"attributes": {}, "expiresAt": "2026-07-01T12:00:00.123Z"}"#, "/expiresAt", "is not within"),
        (#"{"attributes": {}, "expiresAt": "2026-09-29T12:00:00.124Z"}"#, "/expiresAt", "the next 90 days"),
        (#"{"attributes": {}, "expiresAt": -9223372036854775808}"#, "/expiresAt", "expected a time"),
        (#"{"attributes": {}, "expiresInSeconds": 60, "fact": {}}"#, "/fact", "did you mean “facts”"),
    ]

    @Test func `what no rule has a use for is refused, with what rules read`() async throws {
        let attributes = Self.attributes.map { attributes, pointer, message in
            (#"{"attributes": \#(attributes), "expiresInSeconds": 60}"#, "/attributes\(pointer)", message)
        }
        try await withService(.inProcess, Self.files) { service async throws in
            for (body, pointer, message) in attributes + Self.bodies {
                let reply = try await service.send(service.attributesCall("PUT", of: "ada", body))
                #expect(reply.status == 400 && reply.pointers == [pointer], "\(body): \(reply)")
                #expect(reply.body.contains(message), "\(body): \(reply)")
            }
            #expect(try service.entries("customer.attributes").isEmpty)
        }
    }

    @Test func `an app without a rule about attributes has none to store`() async throws {
        try await withService { service async throws in
            let body = #"{"attributes": {"tier": "gold"}, "expiresInSeconds": 60}"#
            let call = service.attributesCall("PUT", of: "ada", app: "bundleId=com.example.other", body)
            let reply = try await service.send(call)
            #expect(reply.status == 400 && reply.body.contains("no offer of this app has a rule about an attribute"))
        }
    }

    @Test func `only a backend of the app stores, and the app and the customer must be named well`() async throws {
        try await withService(.inProcess, Self.files) { service async throws in
            let body = #"{"attributes": {}, "expiresInSeconds": 60}"#
            for method in ["PUT", "GET", "DELETE"] {
                for caller in ["app", "auditor", "admin"] {
                    let reply = try await service.send(service.attributesCall(method, of: "ada", as: caller, body))
                    #expect(reply.status == 403 && reply.problem == "role-not-allowed", "\(caller): \(reply)")
                }
                let stranger = try await service.send(service.attributesCall(method, of: "ada", as: "nobody", body))
                #expect(stranger.status == 401, "\(stranger)")
                for (app, problem) in [
                    ("", "invalid-parameter"), ("bundle=com.example.app", "invalid-parameter"),
                    ("bundleId=com.example.app&packageName=com.example.app", "invalid-parameter"),
                    ("bundleId=com.example.none", "unknown-offer"),
                ] {
                    let reply = try await service.send(service.attributesCall(method, of: "ada", app: app, body))
                    #expect(reply.problem == problem, "\(app): \(reply)")
                }
                for customer in ["a%20b", "%ff", "%", String(repeating: "a", count: 65)] {
                    let reply = try await service.send(service.attributesCall(method, of: customer, body))
                    #expect(reply.problem == "invalid-parameter", "\(customer): \(reply)")
                }
            }
            #expect(try await service.send(service.attributesCall("POST", of: "ada", body)).status == 405)
        }
    }

    @Test func `the app's forms of customer IDs hold here too`() async throws {
        var files = Self.files
        files.offers = files.offers.replacing(
            #"bundleId: "com.example.app","#,
            with: #"bundleId: "com.example.app", customers: {idForms: ["uuid"]},"#
        )
        try await withService(.inProcess, files) { service async throws in
            let reply = try await service.send(service.attributesCall("GET", of: "ada@example.com"))
            #expect(reply.problem == "invalid-parameter" && reply.body.contains("customers.idForms"), "\(reply)")
            try await service.store("{}", of: "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60")
        }
    }
}
