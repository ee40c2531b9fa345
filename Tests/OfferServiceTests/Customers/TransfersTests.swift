// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import TestSupport
import Testing

@testable import Ledger
@testable import Stores

extension TestService {
    /// A request to transfer an anonymous customer of `com.example.app` to a known one.
    func transferCall(as caller: String = "backend", from anonymousID: String, to customerID: String) -> Call {
        transferCall(
            as: caller,
            body: """
                {"bundleId": "com.example.app", "from": {"anonymousId": "\(anonymousID)"}, \
                "to": {"customerId": "\(customerID)"}}
                """
        )
    }

    func transferCall(as caller: String = "backend", body: String) -> Call {
        var call = call(as: caller, body)
        call.path = "/v1/customers/transfers"
        return call
    }

    /// Transfers, and demands that it is done.
    func transfer(from anonymousID: String, to customerID: String) async throws {
        let reply = try await send(transferCall(from: anonymousID, to: customerID))
        #expect(reply.status == 200, "\(reply)")
    }
}

/// `POST /v1/customers/transfers`.
@Suite(.overBothEngines) struct TransfersTests {
    @Test(arguments: Wire.allCases)
    func `a transfer is on record when it is answered, once, however often it is sent`(wire: Wire) async throws {
        try await withService(wire) { service in
            let first = try await service.send(service.transferCall(from: "Device-1", to: "ada"))
            #expect(first.status == 200, "\(first)")
            #expect(first.body == #"{"transferredAt":"2026-07-01T12:00:00.123Z","isRepeated":false}"#)
            service.clock.advance(days: 3)
            for (from, to) in [("Device-1", "ada"), ("dEVICE-1", "ADA")] {
                let reply = try await service.send(service.transferCall(from: from, to: to))
                #expect(reply.body == first.body.replacing("false", with: "true"), "\(reply)")
            }
            let entries = try service.entries("customer.transferred")
            #expect(entries.count == 1)
            let pseudonyms = service.loaded.keys.pseudonyms
            let app = try AppName("com.example.app")
            let from = pseudonyms.pseudonym(of: .anonymous(try AnonymousID("device-1")), in: app)
            let to = pseudonyms.pseudonym(of: .customer(try CustomerID("ada")), in: app)
            #expect(entries[0]["from"] == .text(String(decoding: from.recordText, as: UTF8.self)))
            #expect(entries[0]["to"] == .text(String(decoding: to.recordText, as: UTF8.self)))
            #expect(entries[0]["bundle"] == .text("com.example.app") && entries[0]["caller"] == .text("backend"))
        }
    }

    @Test(arguments: Wire.allCases)
    func `of many that are sent at the same time, one is the first`(wire: Wire) async throws {
        try await withService(wire) { service in
            let calls = (0..<60).map { service.transferCall(from: $0 % 2 == 0 ? "device-1" : "DEVICE-1", to: "ada") }
            let replies = try await service.send(calls)
            #expect(replies.allSatisfy { $0.status == 200 })
            #expect(replies.count { $0.body.contains(#""isRepeated":false"#) } == 1)
            #expect(try service.entries("customer.transferred").count == 1)
        }
    }

    @Test func `customers of two apps are apart`() async throws {
        try await withService { service in
            try await service.transfer(from: "device-1", to: "ada")
            let body = offerBody("once", #""anonymousId": "device-1""#)
            let elsewhere = body.replacing("com.example.app", with: "com.example.other")
            #expect(try await service.send(service.call(body)).status == 200)
            #expect(try await service.send(service.call(elsewhere)).status == 200)
            let other = elsewhere.replacing(#""anonymousId": "device-1""#, with: #""customerId": "ada""#)
            #expect(try await service.send(service.call(other)).status == 200, "not linked in that app")
        }
    }

    /// One app in both stores, and one at Google Play alone.
    private static var twoStores: TestFiles {
        var files = TestFiles()
        files.offers = """
            {
              apps: [
                {
                  bundleId: "com.example.app",
                  packageName: "com.example.play",
                  plans: [{
                    appStore: {productId: "pro.monthly"},
                    offers: [{id: "once", appStore: {offerId: "store_once"}, eligibility: {grants: {atMost: 1}}}],
                  }],
                },
                {
                  packageName: "com.example.android",
                  plans: [{
                    googlePlay: {productId: "pro", basePlanId: "monthly"},
                    offers: [{id: "once", googlePlay: {offerId: "once"}, eligibility: {grants: {atMost: 1}}}],
                  }],
                },
              ],
            }
            """
        return files
    }

    @Test(arguments: Wire.ofRun)
    func `an app is named as either store does, and has one list of customers`(wire: Wire) async throws {
        try await withService(wire, Self.twoStores) { service in
            func transfer(as caller: String = "backend", _ app: String) async throws -> Reply {
                let body = Row.good.replacing(#""bundleId": "com.example.app""#, with: app)
                return try await service.send(service.transferCall(as: caller, body: body))
            }
            #expect(try await service.sign(offer: "once", #""anonymousId": "device-1""#).status == 200)
            let first = try await transfer(#""packageName": "com.example.play""#)
            #expect(first.status == 200 && first.body.contains(#""isRepeated":false"#), "\(first)")
            for app in [
                #""bundleId": "com.example.app""#, #""bundleId": "com.example.app", "packageName": "com.example.play""#,
            ] {
                let reply = try await transfer(app)
                #expect(reply.body.contains(#""isRepeated":true"#), "\(reply)")
            }
            #expect(try await service.sign(offer: "once", #""customerId": "ada""#).problem == "not-eligible")
            let android = try await transfer(#""packageName": "com.example.android""#)
            #expect(android.body.contains(#""isRepeated":false"#), "\(android)")
            let entries = try service.entries("customer.transferred")
            #expect(entries.map { $0["package"].text } == ["com.example.play", "com.example.android"])
            #expect(entries.map { $0["bundle"].text } == ["com.example.app", nil])

            let both = try await transfer(#""bundleId": "com.example.app", "packageName": "com.example.android""#)
            #expect(both.problem == "invalid-request" && both.pointers == ["/packageName"], "\(both)")
            let unknown = try await transfer(#""packageName": "com.example.else""#)
            #expect(unknown.problem == "unknown-offer" && unknown.pointers == ["/packageName"], "\(unknown)")
            let other = try await transfer(as: "scoped", #""packageName": "com.example.android""#)
            #expect(other.problem == "bundle-not-allowed", "\(other)")
            #expect(try await transfer(as: "scoped", #""packageName": "com.example.play""#).status == 200)
        }
    }

    /// A request that is refused, and where the answer says what is wrong.
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        var caller = "backend"
        let body: String
        let problem: String
        let pointers: [String]

        var testDescription: String { name }

        init(_ name: String, as caller: String, _ problem: String, at pointers: String...) {
            self.name = name
            self.caller = caller
            body = Self.good
            self.problem = problem
            self.pointers = pointers
        }

        init(_ body: String, at pointers: String...) {
            name = body
            self.body = body
            problem = "invalid-request"
            self.pointers = pointers
        }

        init(_ body: String, _ problem: String, at pointers: String..., by caller: String = "backend") {
            name = body
            self.caller = caller
            self.body = body
            self.problem = problem
            self.pointers = pointers
        }

        static let good =
            #"{"bundleId": "com.example.app", "from": {"anonymousId": "device-1"}, "to": {"customerId": "ada"}}"#

        static func names(_ from: String, _ to: String) -> String {
            #"{"bundleId": "com.example.app", "from": {"anonymousId": \#(from)}, "to": {"customerId": \#(to)}}"#
        }
    }

    private static let token = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"

    static let rows = [
        Row("without a key", as: "nobody", "unauthenticated"),
        Row("an app", as: "app", "role-not-allowed"),
        Row("an auditor", as: "auditor", "role-not-allowed"),
        Row("an admin", as: "admin", "role-not-allowed"),
        Row(
            Row.good.replacing("com.example.app", with: "com.example.other"),
            "bundle-not-allowed",
            at: "/bundleId",
            by: "scoped"
        ),
        Row(Row.good.replacing("com.example.app", with: "com.example.else"), "unknown-offer", at: "/bundleId"),
        Row("{", "malformed-json", at: ""),
        Row("{}", at: "/bundleId", "/from", "/to"),
        Row("[]", at: ""),
        Row(Row.good.replacing("}}", with: #"}, "why": 1}"#), at: "/why"),
        Row(Row.good.replacing(#""ada""#, with: #""ada", "bundleId": "a""#), at: "/to/bundleId"),
        Row(Row.good.replacing("anonymousId", with: "customerId"), at: "/from/anonymousId", "/from/customerId"),
        Row(Row.good.replacing("customerId", with: "anonymousId"), at: "/to/customerId", "/to/anonymousId"),
        Row(Row.good.replacing(#"{"anonymousId": "device-1"}"#, with: #""device-1""#), at: "/from"),
        Row(Row.good.replacing(#"{"customerId": "ada"}"#, with: "null"), at: "/to"),
        Row(Row.names("7", #""ada""#), at: "/from/anonymousId"),
        Row(Row.names(#""""#, #""ada""#), at: "/from/anonymousId"),
        Row(Row.names(#""device 1""#, #""ada""#), at: "/from/anonymousId"),
        Row(Row.names(#""dévice""#, #""ada""#), at: "/from/anonymousId"),
        Row(Row.names(#""\#(String(repeating: "x", count: 65))""#, #""ada""#), at: "/from/anonymousId"),
        Row(Row.names(#""device-1""#, #""ada@home\u2063""#), at: "/to/customerId"),
    ]

    @Test(.overSQLite, arguments: Wire.ofRun, rows)
    func `refuses unauthorized and invalid requests and links no customers`(wire: Wire, row: Row) async throws {
        try await withService(wire) { service in
            let reply = try await service.send(service.transferCall(as: row.caller, body: row.body))
            #expect(reply.problem == row.problem, "\(reply)")
            #expect(reply.pointers == row.pointers, "\(reply)")
            #expect(try service.entries().isEmpty)
            #expect(try service.links().isEmpty)
        }
    }

    @Test(arguments: Wire.ofRun)
    func `allows a hundred links per customer, and the refusal names the side that is full`(wire: Wire) async throws {
        var files = TestFiles()
        files.offers = files.offers.replacing(
            "bundleId: \"com.example.app\",",
            with: "bundleId: \"com.example.app\", customers: {mostCustomersPerAnonymousId: 100},"
        )
        try await withService(wire, files) { service in
            let toMany = (0..<CustomerPolicy.mostLinks).map {
                service.transferCall(from: "device", to: "customer-\($0)")
            }
            let fromMany = (0..<CustomerPolicy.mostLinks).map {
                service.transferCall(from: "device-\($0)", to: "ada")
            }
            for reply in try await service.send(toMany) + service.send(fromMany) {
                #expect(reply.status == 200, "\(reply)")
            }
            let sides = [("device", "grace", "/from/anonymousId"), ("tablet", "ada", "/to/customerId")]
            for (from, to, pointer) in sides {
                let reply = try await service.send(service.transferCall(from: from, to: to))
                #expect(reply.status == 409 && reply.problem == "too-many-transfers", "\(reply)")
                #expect(reply.pointers == [pointer])
            }
            // What is linked already stays so.
            let repeated = try await service.send(toMany[7])
            #expect(repeated.status == 200 && repeated.body.contains(#""isRepeated":true"#), "\(repeated)")
            #expect(try service.entries("customer.transferred").count == 2 * CustomerPolicy.mostLinks)
        }
    }

    @Test func `is answered 503 while it can't be recorded, and links no customers`() async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service in
            #expect(try await service.sign(offer: "once", #""anonymousId": "device-1""#).status == 200)
            for error in [Faults.diskFull, Faults.ioFailure] {
                faults.failCommits(error)
                let reply = try await service.send(service.transferCall(from: "device-1", to: "ada"))
                #expect(reply.status == 503 && reply.problem == "audit-unavailable", "\(reply)")
                #expect(reply.headers["retry-after"] == "5")
                #expect(try service.links().isEmpty)
            }
            let reply = try await service.send(service.transferCall(from: "device-1", to: "ada"))
            #expect(reply.body.contains(#""isRepeated":false"#), "\(reply)")
            #expect(try await service.sign(offer: "once", #""customerId": "ada""#).problem == "not-eligible")
        }
    }

    @Test func `is answered only after the commit has returned`() async throws {
        let faults = Faults()
        try await withService(wrap: faults.wrap) { service async throws in
            faults.hold()
            async let reply = service.send(service.transferCall(from: "device-1", to: "ada"))
            #expect(try await eventually { faults.isCommitting })
            #expect(service.metrics[.requests(route: .customers(.transfers), status: 200)] == 0)
            faults.release()
            #expect(try await reply.status == 200)
        }
    }

    @Test func `entries of a transfer are found by either name`() async throws {
        try await withService { service in
            try await service.transfer(from: "device-1", to: "ada")
            try await service.transfer(from: "device-2", to: "grace")
            let pseudonyms = service.loaded.keys.pseudonyms
            func indices(_ identity: CustomerIdentity) throws -> [Int64] {
                let user = pseudonyms.pseudonym(of: identity, in: try AppName("com.example.app")).recordText
                var found: [Int64] = []
                let query = AuditQuery(fields: [.user: String(decoding: user, as: UTF8.self)])
                try AuditReader(connection: try service.ledger.openForReading()).entries(matching: query) { index, _ in
                    found.append(index)
                }
                return found
            }
            #expect(try indices(.anonymous(AnonymousID("DEVICE-1"))) == [0])
            #expect(try indices(.customer(CustomerID("ada"))) == [0])
            #expect(try indices(.customer(CustomerID("grace"))) == [1])
            #expect(try indices(.customer(CustomerID("device-3"))) == [])
        }
    }
}

extension TestService {
    /// Every link, as SQL literals.
    func links() throws -> [String] {
        try rows(["SELECT quote(from_subject) || quote(to_subject) FROM customer_links ORDER BY 1"])
    }
}
