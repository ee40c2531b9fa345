// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

@testable import Ledger

/// `GET /v1/audit/entries`.
@Suite(.overBothEngines) struct AuditEntriesCallTests {
    private static func ask(
        _ service: TestService,
        _ query: String,
        as caller: String = "auditor"
    ) async throws -> Reply {
        try await service.get("/v1/audit/entries\(query.isEmpty ? "" : "?\(query)")", as: caller)
    }

    private static func indices(_ reply: Reply) -> [Int64] {
        reply.json["entries"].elements.compactMap(\.["index"].integer)
    }

    /// Signs for several customers, an hour apart.
    private static func sign(_ service: TestService, _ count: Int) async throws {
        for number in 0..<count {
            _ = try await service.sign(offer: number % 3 == 0 ? "spaced" : "open", #""customerId": "c\#(number % 4)""#)
            service.clock.advance(hours: 1)
        }
    }

    @Test(arguments: Wire.allCases)
    func `tells entries with their indices, the newest first, as they are recorded`(wire: Wire) async throws {
        try await withService(wire) { service async throws in
            try await Self.sign(service, 6)
            let recorded = try service.entries().map(Tree.init)
            let reply = try await Self.ask(service, "")
            #expect(reply.status == 200 && reply.headers["content-type"] == "application/json")
            #expect(reply.headers["cache-control"] == "no-store")
            #expect(Self.indices(reply) == recorded.indices.reversed().map(Int64.init))
            #expect(reply.json["entries"].elements.map(\.["entry"]) == recorded.reversed())
            #expect(reply.json["next"] == .null && reply.json["size"].integer == Int64(recorded.count))
            #expect(
                reply.json.names == ["entries", "next", "size", "unknown"] && reply.json["unknown"].elements.isEmpty
            )
        }
    }

    @Test(.overSQLite, arguments: ["auditor": 200, "admin": 200, "backend": 403, "app": 403, "nobody": 401])
    func `answers auditors and administrators alone`(caller: String, status: Int) async throws {
        try await withService { service async throws in
            let reply = try await Self.ask(service, "", as: caller)
            #expect(reply.status == status)
            #expect(reply.problem == [403: "role-not-allowed", 401: "unauthenticated"][status])
        }
    }

    @Test func `holds conditions and time together, and answers what the command's query does`() async throws {
        try await withService { service async throws in
            let from = service.clock.now.adding(hours: 2)
            try await Self.sign(service, 9)
            let until = from.adding(hours: 4)
            let reply = try await Self.ask(
                service,
                "event=sign.intent&offer=store_open&from=\(from.rfc3339)&until=\(until.rfc3339)&order=oldest"
            )
            var expected: [Int64] = []
            let query = AuditQuery(from: from, until: until, fields: [.event: "sign.intent", .offer: "store_open"])
            try AuditReader(connection: try service.ledger.openForReading()).entries(matching: query) { index, _ in
                expected.append(index)
            }
            #expect(Self.indices(reply) == expected && expected.count == 3, "\(reply)")
        }
    }

    @Test(arguments: AuditQuery.Order.allCases)
    func `tells every entry once, page by page, while the log grows`(order: AuditQuery.Order) async throws {
        try await withService(index: AuditIndexFormat(entriesPerRun: 64)) { service async throws in
            try await Self.sign(service, 40)
            let first = try service.entries().count
            var found: [Int64] = []
            var cursor: String?
            repeat {
                let more = cursor.map { "&cursor=\($0)" } ?? ""
                let reply = try await Self.ask(service, "event=sign.intent&limit=7&order=\(order.rawValue)\(more)")
                #expect(reply.status == 200, "\(reply)")
                found += Self.indices(reply)
                cursor = reply.json["next"].text
                if found.count < 60 { try await Self.sign(service, 2) }
            } while cursor != nil
            let intents = try service.entries().map(Tree.init).enumerated()
                .filter { $1["ev"] == .text("sign.intent") }.map { Int64($0.offset) }
            #expect(Set(found).count == found.count)
            switch order {
            case .newest: #expect(found == intents.filter { $0 < first }.reversed())
            case .oldest: #expect(found == Array(intents.prefix(found.count)) && found.count > first / 2)
            }
        }
    }

    /// A query, the parameter that its problem names, and something that it says of it.
    static let refused: [(query: String, parameter: String, detail: String)] = [
        ("colour=red", "colour", "not a known parameter"), ("evnt=x", "evnt", "did you mean “event”"),
        ("event=a&event=a", "event", "given 2 times"), ("event=", "event", "is empty"),
        ("event=sign.intnt", "event", "did you mean “sign.intent”?"), ("event=SIGN", "event", "docs/audit-log.md"),
        ("outcome=granted", "outcome", "expected eligible, notEligible, undecided, found"),
        ("limit=0", "limit", "from 1 to 500"), ("limit=501", "limit", "from 1 to 500"), ("limit=+5", "limit", "whole"),
        ("limit=5.0", "limit", "whole"), ("limit=١", "limit", "whole"), ("order=Newest", "order", "newest or oldest"),
        ("format=xml", "format", "json, csv or ndjson"), ("from=tomorrow", "from", "RFC 3339"),
        ("until=2026-02-30T00:00:00Z", "until", "RFC 3339"),
        ("from=2026-02-02T00:00:00Z&until=2026-02-01T00:00:00Z", "from", "not be after until"),
        ("reason=cooldown", "reason", "docs/rules.md"), ("exclude=audit.raed", "exclude", "did you mean “audit.read”?"),
        ("user=customer-42", "user", "POST /v1/audit/customers"), ("user=hmac:1:ada", "user", "hmac:EPOCH:CODE"),
        ("cursor=AAAA", "cursor", "answered with"), ("cursor=%", "cursor", "percent-encoded"),
        ("user=%ff", "user", "percent-encoded"), ("user=a%00b", "user", "percent-encoded"),
        ("user=\(String(repeating: "a", count: 513))", "user", "512"), ("event", "The query", "not name=value"),
        ("a=1&&b=2", "The query", "not name=value"), ("=x", "The query", "not name=value"),
        ("%ff=x", "The query", "not name=value"), ("%0a=x", "The query", "not name=value"),
    ]

    @Test(.overSQLite, arguments: refused.indices)
    func `refuses a query that is not as expected, and names the parameter`(row: Int) async throws {
        let (query, parameter, detail) = Self.refused[row]
        try await withService { service async throws in
            let reply = try await Self.ask(service, query)
            #expect(reply.problem == "invalid-parameter" && reply.status == 400, "\(reply)")
            let errors = reply.json["errors"].elements
            #expect(
                errors.contains { $0["parameter"].text == parameter && $0["detail"].text?.contains(detail) == true }
            )
            #expect(reply.json["detail"].text?.contains(detail) == true || errors.count > 1, "\(reply)")
        }
    }

    @Test func `takes a cursor for the query that it was given for, unchanged, and no other`() async throws {
        try await withService { service async throws in
            try await Self.sign(service, 5)
            let query = "event=sign.intent&order=oldest"
            let cursor = try #require(try await Self.ask(service, "\(query)&limit=2").json["next"].text)
            #expect(try await Self.ask(service, "\(query)&limit=3&cursor=\(cursor)").status == 200)
            for other in [
                "event=sign.deny&order=oldest", "event=sign.intent", "\(query)&key=K",
                "\(query)&from=1970-01-01T00:00:00Z", "\(query)&until=2100-01-01T00:00:00Z",
            ] {
                #expect(
                    try await Self.ask(service, "\(other)&cursor=\(cursor)").problem == "invalid-parameter",
                    "\(other)"
                )
            }
            let characters = Array(cursor)
            for place in characters.indices {
                for character in "AZz9-_" where character != characters[place] {
                    var changed = characters
                    changed[place] = character
                    let reply = try await Self.ask(service, "\(query)&cursor=\(String(changed))")
                    #expect(reply.problem == "invalid-parameter", "\(place) \(character)")
                }
            }
            for text in [String(cursor.dropLast()), cursor + "A", cursor + "="] {
                #expect(try await Self.ask(service, "\(query)&cursor=\(text)").problem == "invalid-parameter")
            }
        }
    }

    @Test(arguments: ["csv", "ndjson"])
    func `gives a page as a file, with the way to the next one`(format: String) async throws {
        try await withService { service async throws in
            try await Self.sign(service, 7)
            var rows: [String] = []
            var query: String? = "event=sign.intent&order=oldest&limit=2&format=\(format)"
            while let current = query {
                let reply = try await Self.ask(service, current)
                #expect(reply.status == 200 && reply.headers["cache-control"] == "no-store")
                #expect(reply.headers["content-disposition"] == "attachment; filename=\"audit-entries.\(format)\"")
                #expect(reply.headers["x-content-type-options"] == "nosniff")
                let lines = reply.body.split(whereSeparator: \.isNewline).map(String.init)
                if format == "csv" {
                    #expect(reply.headers["content-type"]?.hasPrefix("text/csv") == true)
                    #expect(lines.first == AuditFormat.columns.joined(separator: ","))
                } else {
                    #expect(reply.headers["content-type"] == "application/x-ndjson")
                }
                rows += lines.dropFirst(format == "csv" ? 1 : 0)
                query = reply.headers["link"].flatMap { link in
                    guard link.hasPrefix("</v1/audit/entries?"), link.hasSuffix(">; rel=\"next\"") else { return nil }
                    return String(link.dropFirst("</v1/audit/entries?".count).dropLast(">; rel=\"next\"".count))
                }
            }
            #expect(rows.count == (try service.entries("sign.intent").count) && rows.count == 7)
            #expect(Set(rows).count == 7)
        }
    }

    @Test func `goes on answering after a restart with the cursors that were given before`() async throws {
        try await withService { service async throws in
            try await Self.sign(service, 5)
            let cursor = try #require(try await Self.ask(service, "limit=2").json["next"].text)
            let ledger = service.ledger
            let search = try AuditSearch(connection: try ledger.openForReading())
            let query = AuditQuery(order: .newest, limit: 2)
            #expect(AuditCursor.position(cursor, of: query, search.cursorKey) == 3)
        }
    }

    @Test func `knows when a key was used last`() async throws {
        try await withService(index: AuditIndexFormat(entriesPerRun: 64)) { service async throws in
            let key = try KeyID("ACTIVE0001")
            #expect(service.index.lastUse(ofKey: key) == nil)
            for count in [3, 100] {
                try await Self.sign(service, count)
                let last = service.clock.now.adding(hours: -1)
                #expect(try await eventually { service.index.lastUse(ofKey: key) == last })
            }
        }
    }
}
