// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import Storage
import TestSupport
import Testing

/// `GET /v1/audit/summary`.
@Suite(.overBothEngines) struct AuditSummaryCallTests {
    private static func ask(
        _ service: TestService,
        _ query: String,
        as caller: String = "auditor"
    ) async throws -> Reply {
        try await service.get("/v1/audit/summary\(query.isEmpty ? "" : "?\(query)")", as: caller)
    }

    /// Customers with a grant, with a refusal, and with too few facts for a decision.
    private static func live(_ service: TestService, hours: Int) async throws {
        for hour in 0..<hours {
            for number in 0..<(hour % 3 + 1) {
                _ = try await service.sign(offer: "open", #""customerId": "c\#(number)", "formats": ["v1", "jws"]"#)
                _ = try await service.sign(offer: "once", #""customerId": "c\#(number)""#)
                let nobody = offerBody("once").replacing(#""subscribedBefore": true"#, with: "")
                _ = try await service.send(service.call(nobody))
            }
            service.clock.advance(hours: 1)
        }
    }

    /// The same, counted from the entries themselves.
    private static func counted(
        _ service: TestService,
        _ from: Timestamp,
        _ until: Timestamp
    ) throws -> (uses: Int64, decisions: [String: Int64], refusals: [String: Int64]) {
        var (uses, decisions, refusals): (Int64, [String: Int64], [String: Int64]) = (0, [:], [:])
        var lastGrant = Tree.null
        for entry in try service.entries().map(Tree.init) {
            defer { lastGrant = entry["grant"] }
            guard let time = entry["t"].integer, (from.milliseconds..<until.milliseconds).contains(time) else {
                continue
            }
            let rule = entry["rule"].text ?? ""
            switch entry["ev"].text {
            case "sign.intent":
                uses += 1
                if entry["grant"] != lastGrant { decisions["\(rule) granted", default: 0] += 1 }
            case "sign.deny":
                let outcome = entry["outcome"].text == "undecided" ? "undecided" : "refused"
                decisions["\(rule) \(outcome)", default: 0] += 1
                for finding in entry["why"].elements {
                    refusals["\(rule) \(finding["code"].text ?? "")", default: 0] += 1
                }
            default: break
            }
        }
        return (uses, decisions, refusals)
    }

    private static func shown(_ reply: Reply) -> (uses: Int64, decisions: [String: Int64], refusals: [String: Int64]) {
        var (uses, decisions, refusals): (Int64, [String: Int64], [String: Int64]) = (0, [:], [:])
        for key in reply.json["keys"].elements {
            uses += key["counts"].elements.compactMap(\.["count"].integer).reduce(0, +)
        }
        for decision in reply.json["decisions"].elements {
            for name in ["granted", "refused", "undecided"] {
                guard let count = decision[name].integer, count > 0 else { continue }
                decisions["\(decision["rule"].text ?? "") \(name)"] = count
            }
        }
        for refusal in reply.json["refusals"].elements {
            refusals["\(refusal["rule"].text ?? "") \(refusal["code"].text ?? "")"] = refusal["count"].integer
        }
        return (uses, decisions, refusals)
    }

    @Test(arguments: [64, 16_384])
    func `counts what the entries of whole hours say, in runs and among the newest`(entriesPerRun: Int) async throws {
        try await withService(index: AuditIndexFormat(entriesPerRun: entriesPerRun)) { service async throws in
            try await Self.live(service, hours: 24)
            let size = Int64(try service.entries().count)
            #expect(size > 150)
            #expect(try await eventually { service.index.tail?.nextEntry == size })
            let now = service.clock.now
            for (first, last) in [(24, 0), (20, 10), (3, 2), (30, 25)] {
                let (from, until) = (now.adding(hours: -first), now.adding(hours: -last))
                let reply = try await Self.ask(service, "from=\(from.rfc3339)&until=\(until.rfc3339)")
                #expect(reply.status == 200 && reply.json["isComplete"] == .boolean(true), "\(reply)")
                let start = try #require(reply.json["from"].text.flatMap(Timestamp.init(rfc3339:)))
                let end = try #require(reply.json["until"].text.flatMap(Timestamp.init(rfc3339:)))
                #expect(start <= from && end >= until && start.milliseconds % 3_600_000 == 0)
                #expect(end.milliseconds - start.milliseconds <= Int64(first - last + 1) * 3_600_000)
                let (shown, counted) = (Self.shown(reply), try Self.counted(service, start, end))
                #expect(shown.uses == counted.uses && shown.decisions == counted.decisions)
                #expect(shown.refusals == counted.refusals)
            }
        }
    }

    @Test func `tells uses of a key hour by hour and day by day, and its last use of all`() async throws {
        try await withService { service async throws in
            try await Self.live(service, hours: 30)
            let last = try #require(try service.entries("sign.intent").last?["t"].integer)
            let hourly = try await Self.ask(service, "")
            let daily = try await Self.ask(service, "step=day")
            #expect(hourly.json["step"] == .text("hour") && daily.json["step"] == .text("day"))
            for (reply, length) in [(hourly, Int64(3_600_000)), (daily, 86_400_000)] {
                let key = try #require(reply.json["keys"].elements.first)
                #expect(key["key"] == .text("ACTIVE0001"))
                #expect(key["lastUsedAt"].text.flatMap(Timestamp.init(rfc3339:))?.milliseconds == last)
                for count in key["counts"].elements {
                    let at = try #require(count["at"].text.flatMap(Timestamp.init(rfc3339:))?.milliseconds)
                    let end = Timestamp(milliseconds: at + length)
                    let counted = try Self.counted(service, Timestamp(milliseconds: at), end)
                    #expect(at % length == 0 && count["count"].integer == counted.uses)
                }
            }
        }
    }

    @Test func `tells the last use of a key that was not used within the span`() async throws {
        try await withService { service async throws in
            try await Self.live(service, hours: 2)
            let size = Int64(try service.entries().count)
            #expect(try await eventually { service.index.tail?.nextEntry == size })
            service.clock.advance(days: 3)
            let reply = try await Self.ask(service, "")
            #expect(reply.json["keys"].elements.map(\.["counts"].elements) == [[]])
            #expect(reply.json["keys"][0]["lastUsedAt"].text?.isEmpty == false)
        }
    }

    @Test func `says so when the index is too far behind to count all`() async throws {
        let format = AuditIndexFormat(entriesPerRun: 64)
        let log = try RandomLog(seed: 11)
        try log.grow(by: 64 * 12)
        let until = Timestamp(milliseconds: (log.time / 3_600_000 + 1) * 3_600_000)
        func summary() throws -> LogSummary {
            try LogSummary(
                from: Timestamp(milliseconds: 0),
                until: until,
                connection: log.connection,
                format: format,
                tail: nil
            )
        }
        #expect(try !summary().isComplete)
        try await withIndex(over: log, format, until: { $0.tail?.nextEntry == log.size }) { _ in }
        let whole = try summary()
        #expect(whole.isComplete && !whole.usage.items.isEmpty)
        try log.connection.run(SQL("DELETE FROM audit_index_runs WHERE run IN (2, 7)"))
        let counted = try summary()
        #expect(counted.isComplete && counted.usage.items == whole.usage.items)
    }

    /// A query, and the parameter that is wrong.
    static let refused = [
        ("step=minute", "step"), ("from=x", "from"), ("until=x", "until"), ("colour=red", "colour"),
        ("from=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", "from"),
        ("from=2026-01-01T00:00:00Z&until=2026-07-01T00:00:00Z", "from"), ("step=day&step=day", "step"),
    ]

    @Test(arguments: refused.indices)
    func `refuses a span that is none, or too long for its steps`(row: Int) async throws {
        let (query, parameter) = Self.refused[row]
        try await withService { service async throws in
            let reply = try await Self.ask(service, query)
            #expect(reply.problem == "invalid-parameter", "\(reply)")
            #expect(reply.json["errors"].elements.map(\.["parameter"].text).contains(parameter))
        }
    }

    @Test(.overSQLite, arguments: ["backend": 403, "app": 403, "nobody": 401, "admin": 200])
    func `answers auditors and administrators alone`(caller: String, status: Int) async throws {
        try await withService { service async throws in
            #expect(try await Self.ask(service, "", as: caller).status == status)
        }
    }
}
