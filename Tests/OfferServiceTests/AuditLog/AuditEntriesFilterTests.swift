// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

@testable import Ledger

/// What `GET /v1/audit/entries` leaves out, warns of, and sends as a whole; `GET /v1/audit/names`.
@Suite(.overBothEngines) struct AuditEntriesFilterTests {
    private static func ask(_ service: TestService, _ query: String) async throws -> Reply {
        try await service.get("/v1/audit/entries?\(query)", as: "auditor")
    }

    private static func events(_ reply: Reply) -> [String] {
        reply.json["entries"].elements.compactMap(\.["entry"]["ev"].text)
    }

    @Test func `leaves out the events that are not wanted, on every page`() async throws {
        try await withService { service async throws in
            for _ in 0..<4 {
                _ = try await service.sign(offer: "open", #""customerId": "ada""#)
                _ = try await Self.ask(service, "limit=1")
            }
            #expect(Self.events(try await Self.ask(service, "")).contains("audit.read"))
            let first = try await Self.ask(service, "exclude=audit.read,audit.fetch&limit=3")
            #expect(Self.events(first) == Array(repeating: "sign.intent", count: 3), "\(first)")
            let next = try #require(first.json["next"].text)
            let second = try await Self.ask(service, "exclude=audit.read,audit.fetch&limit=3&cursor=\(next)")
            #expect(Self.events(second) == ["sign.intent"] && second.json["next"] == .null)
            #expect(try await Self.ask(service, "limit=3&cursor=\(next)").problem == "invalid-parameter")
            #expect(
                try service.entries("audit.read").last?["for"].elements.contains(.text("exclude=audit.read")) == true
            )
        }
    }

    @Test func `finds refusals by their reason`() async throws {
        try await withService { service async throws in
            for _ in 0..<3 { _ = try await service.sign(offer: "once", #""customerId": "ada""#) }
            let code = try #require(try service.entries("sign.deny").first?["why"][0]["code"].text)
            let found = try await Self.ask(service, "reason=\(code)")
            #expect(Self.events(found) == Array(repeating: "sign.deny", count: try service.entries("sign.deny").count))
            #expect(Self.events(try await Self.ask(service, "reason=budget-spent")).isEmpty)
            #expect(Self.events(try await Self.ask(service, "reason=\(code)&exclude=sign.deny")).isEmpty)
        }
    }

    @Test func `names the conditions with a value that no entry has`() async throws {
        try await withService { service async throws in
            _ = try await service.sign(offer: "open", #""customerId": "ada""#)
            let unknown = { (query: String) async throws -> [String] in
                try await Self.ask(service, query).json["unknown"].elements.compactMap(\.text)
            }
            #expect(try await unknown("caller=nobody&key=ACTIVE0001") == ["caller"])
            #expect(try await unknown("rule=opne&offer=x&event=sign.intent") == ["offer", "rule"])
            #expect(
                try await unknown("caller=backend&event=sign.deny") == [],
                "there is something of each, not of both"
            )
            #expect(try await unknown("caller=backend") == [], "something was found")
        }
    }

    @Test func `reads days and spans before now, and goes on with them from page to page`() async throws {
        try await withService { service async throws in
            for _ in 0..<5 {
                _ = try await service.sign(offer: "open", #""customerId": "ada""#)
                service.clock.advance(hours: 12)
            }
            let count = { (query: String) async throws -> Int in
                Self.events(try await Self.ask(service, "event=sign.intent&\(query)")).count
            }
            #expect(try await count("from=-30h") == 2)
            #expect(try await count("until=-30h") == 3)
            let day = service.clock.now.rfc3339.prefix(10)
            let ofDay = try await count("from=\(day)T00:00:00Z")
            #expect(try await count("from=\(day)") == ofDay)
            #expect(try await count("from=today") == ofDay && ofDay < 5)
            let first = try await Self.ask(service, "event=sign.intent&from=-90h&limit=2")
            service.clock.advance(hours: 1)
            let cursor = try #require(first.json["next"].text)
            let second = try await Self.ask(service, "event=sign.intent&from=-90h&limit=2&cursor=\(cursor)")
            #expect(second.status == 200 && Self.events(second).count == 2, "\(second)")
            for call in ["summary", "reconciliation"] {
                let reply = try await service.get("/v1/audit/\(call)?from=-7d&until=now", as: "auditor")
                #expect(reply.status == 200, "\(reply)")
            }
        }
    }

    @Test(arguments: ["csv", "ndjson"], AuditQuery.Order.allCases)
    func `sends all that is found as one file, however much it is`(format: String, order: AuditQuery.Order) async throws
    {
        try await withService(.inProcess) { service async throws in
            try await service.committer.append((0..<2500).map { .records(.exported(from: $0, count: 1)) })
            _ = try await service.sign(offer: "open", #""customerId": "ada""#)
            let reply = try await Self.ask(service, "event=audit.export&format=\(format)&order=\(order.rawValue)")
            #expect(reply.status == 200 && reply.headers["link"] == nil)
            let lines = reply.body.split(whereSeparator: \.isNewline)
            #expect(lines.count == 2500 + (format == "csv" ? 1 : 0) && Set(lines).count == lines.count)
            if format == "csv" { #expect(lines.first.map(String.init) == AuditFormat.columns.joined(separator: ",")) }
            // Each part was recorded before it was sent, and none of these records is in the file.
            let reads = try service.entries("audit.read")
            #expect(reads.count == 3 && reads.compactMap(\.["count"].integer) == [1000, 1000, 500])
            let everything = try await Self.ask(service, "format=\(format)&order=\(order.rawValue)&caller=auditor")
            #expect(everything.body.split(whereSeparator: \.isNewline).count == 3 + (format == "csv" ? 1 : 0))
        }
    }

    @Test func `a file goes over the wire in chunks`() async throws {
        try await withService(.loopback) { service async throws in
            try await service.committer.append((0..<1200).map { .records(.exported(from: $0, count: 1)) })
            let reply = try await Self.ask(service, "event=audit.export&format=ndjson")
            #expect(reply.headers["transfer-encoding"] == "chunked")
            #expect(reply.body.split(separator: "\n").count == 1200)
            let short = try await Self.ask(service, "event=audit.export&format=ndjson&from=2100-01-01")
            #expect(short.status == 200 && short.body.isEmpty && short.headers["content-length"] == "0")
        }
    }

    @Test(.overSQLite) func `tells what keys, callers, apps and offers are called, to auditors and administrators`()
        async throws
    {
        try await withService { service async throws in
            let reply = try await service.get("/v1/audit/names", as: "auditor")
            #expect(reply.status == 200 && reply.headers["cache-control"] == "no-store", "\(reply)")
            #expect(reply.json.names == ["bundle", "caller", "key", "offer", "package", "product", "rule"])
            let names = { (field: String) in reply.json[field].elements.compactMap(\.text) }
            #expect(names("key").contains("ACTIVE0001") && names("caller").contains("backend"))
            #expect(names("rule").contains("open") && names("offer").contains("store_open"))
            #expect(names("bundle").contains("com.example.app") && names("product").contains("pro.monthly"))
            #expect(names("caller") == names("caller").sorted())
            for (caller, status) in ["admin": 200, "backend": 403, "app": 403, "nobody": 401] {
                #expect(try await service.get("/v1/audit/names", as: caller).status == status)
            }
            #expect(try await service.get("/v1/audit/names?x=y", as: "auditor").problem == "invalid-parameter")
            #expect(try service.entries("audit.read").isEmpty, "it is counted, like the state of keys")
        }
    }
}
