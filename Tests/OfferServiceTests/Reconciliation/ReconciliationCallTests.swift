// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

@Suite(.overBothEngines) struct ReconciliationCallTests {
    @Test(.overSQLite, arguments: Wire.allCases)
    func `is for auditors and administrators alone`(wire: Wire) async throws {
        try await withService(wire) { service in
            for (caller, status, problem) in [
                ("auditor", 200, nil), ("admin", 200, nil), ("app", 403, "role-not-allowed"),
                ("backend", 403, "role-not-allowed"), ("nobody", 401, "unauthenticated"),
            ] {
                let reply = try await service.send(service.reconciliationCall(as: caller))
                #expect(reply.status == status && reply.problem == problem, "\(caller): \(reply)")
            }
            var call = service.reconciliationCall()
            call.method = "POST"
            #expect(try await service.send(call).problem == "method-not-allowed")
        }
    }

    @Test(
        .overSQLite,
        arguments: [
            ("?from=tomorrow", ["from"]), ("?until=1", ["until"]), ("?limit=0", ["limit"]), ("?limit=501", ["limit"]),
            ("?limit=5&limit=6", ["limit"]), ("?cursor=x", ["cursor"]), ("?cursor=1.2~~~", ["cursor"]),
            ("?cursor=", ["cursor"]),
            ("?environment=Xcode", ["environment"]), ("?since=1", ["since"]),
            ("?from=2026-11-21T08:00:00Z&until=2026-11-20T08:00:00Z", ["from"]),
            ("?limit=a&from=b", ["from", "limit"]),
        ]
    )
    func `refuses parameters that it does not know, all at once`(parameters: String, names: [String]) async throws {
        try await withService { service in
            let reply = try await service.send(service.reconciliationCall(parameters))
            let named = reply.json["errors"].elements.compactMap(\.["parameter"].text)
            #expect(reply.problem == "invalid-parameter" && named == names, "\(reply)")
        }
    }

    @Test(
        .overSQLite,
        arguments: [
            "", "?from=2026-06-01T00:00:00Z&until=2026-07-01T00:00:00Z",
            "?from=2026-06-01T02%3A00%3A00%2B02%3A00&until=2026-07-01T00:00:00Z",
            "?environment=sandbox",
        ]
    )
    func `answers for the span that is asked for`(parameters: String) async throws {
        try await withService { service in
            let report = try await service.reconciliation(parameters)
            #expect(report["redeemedWithoutRecord"] == .array([]) && report["redeemedByAnotherAccount"] == .array([]))
            #expect(report["neverRedeemed"] == .object(["count": .number(0), "entries": .array([])]))
            #expect(report["redeemed"].integer == 0 && report["next"] == .null && report["apps"] == .array([]))
            #expect(report["environment"].text == (parameters.contains("sandbox") ? "sandbox" : "production"))
            let from =
                parameters.contains("from") ? "2026-06-01T00:00:00Z" : service.clock.now.adding(days: -30).rfc3339
            #expect(report["from"].text == from)
        }
    }

    @Test func `gives long lists in pages, each use once, the newest first`() async throws {
        try await withPlayService { world in
            for number in 0..<7 {
                // Two at a time have one instant.
                let daysAgo = Double(2 + number / 2)
                let grant = try number < 3 ? nil : world.grant(to: "bert", daysAgo: daysAgo + 0.5)
                let account = try world.accountID("anna")
                let mark = try grant.map { try world.mark($0) }
                try world.play.answer(
                    "token-\(number)",
                    PlaySample("ACTIVE", .init { $0.offer = "winback-50" }) {
                        ($0.startedDaysAgo, $0.accountID, $0.profileID) = (daysAgo, account, mark)
                    }
                )
                try await world.deliver(PlayService.change(4, "token-\(number)"), id: "message-\(number)")
            }
            var uses: [String: [Int64]] = [:]
            var next: String? = "?limit=1"
            var pages = 0
            while let parameters = next, pages < 9 {
                let report = try await world.service.reconciliation(parameters)
                for list in ["redeemedWithoutRecord", "redeemedByAnotherAccount"] {
                    #expect(report[list].elements.count <= 1)
                    uses[list, default: []] += report[list].elements.compactMap(\.["index"].integer)
                }
                #expect(report["counts"]["redeemedByAnotherAccount"].integer == 4)
                next = report["next"].text.map { "?limit=1&cursor=\($0)" }
                pages += 1
            }
            let whole = try await world.service.reconciliation()
            for (list, count) in [("redeemedWithoutRecord", 3), ("redeemedByAnotherAccount", 4)] {
                let indices = whole[list].elements.compactMap(\.["index"].integer)
                #expect(uses[list] == indices && Set(indices).count == count, "\(list) \(uses)")
                let times = whole[list].elements.compactMap(\.["redeemedAt"].text)
                #expect(times == times.sorted(by: >))
            }
            #expect(pages == 4)
        }
    }

    @Test func `each look is on record, with what was asked for`() async throws {
        try await withService { service in
            _ = try await service.reconciliation("?from=2025-01-01T00:00:00Z&environment=sandbox")
            let entry = try #require(try service.entries("audit.read").last)
            #expect(entry["call"] == .text("/v1/audit/reconciliation") && entry["caller"] == .text("auditor"))
            #expect(
                entry["for"][0] == .text("from=2025-01-01T00:00:00Z") && entry["for"][2] == .text("environment=sandbox")
            )
        }
    }

    @Test func `looks at the span alone`() async throws {
        try await withPlayService { world in
            for (number, daysAgo) in [1.0, 5, 9].enumerated() {
                try world.play.answer(
                    "token-\(number)",
                    PlaySample("ACTIVE", .init { $0.offer = "winback-50" }) { $0.startedDaysAgo = daysAgo }
                )
                try await world.deliver(PlayService.change(4, "token-\(number)"), id: "message-\(number)")
            }
            func time(_ daysAgo: Int) -> String { PlaySample.now.adding(days: -daysAgo).rfc3339 }
            for (from, until, count) in [(30, 0, 3), (6, 0, 2), (30, 1, 2), (5, 1, 1), (4, 1, 0), (9, 5, 1)] {
                let report = try await world.service.reconciliation("?from=\(time(from))&until=\(time(until))")
                #expect(report["redeemedWithoutRecord"].elements.count == count, "\(from) \(until)")
                #expect(report["counts"]["redeemedWithoutRecord"].integer == Int64(count))
            }
        }
    }

    @Test func `shows no customer's name`() async throws {
        try await withPlayService { world in
            let grant = try world.grant(to: "needle-of-anna", daysAgo: 3)
            let account = try world.accountID("needle-of-bert")
            let mark = try world.mark(grant)
            try world.play.answer(
                "needle-token",
                PlaySample("ACTIVE", .init { $0.offer = "winback-50" }) {
                    ($0.startedDaysAgo, $0.accountID, $0.profileID) = (2, account, mark)
                }
            )
            try await world.deliver(PlayService.change(4, "needle-token"), id: "message")
            let reply = try await world.service.send(world.service.reconciliationCall())
            let use = reply.json["redeemedByAnotherAccount"][0]
            #expect(use["grantId"] == .text(grant.description) && use["grantedTo"].text?.utf8.count == 22, "\(reply)")
            for needle in ["needle", account, mark] { #expect(!reply.body.contains(needle)) }
        }
    }
}
