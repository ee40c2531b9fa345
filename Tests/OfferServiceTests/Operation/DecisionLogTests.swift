// SPDX-License-Identifier: Apache-2.0
import OfferService
import ServiceRuntime
import TestSupport
import Testing

/// One line for each decision and refusal: who, what, what came of it, why, and how long it took.
struct DecisionLogTests {
    private static let members: Set<String> = ["caller", "outcome", "reason", "milliseconds", "request", "level"]

    private static func lines(_ service: TestService) throws -> [Tree] {
        try service.log.lines.map(Tree.init).filter { $0["level"] == .text("info") && $0["outcome"].text != nil }
    }

    @Test func `logs grants, refusals by a rule, and undecided requests`() async throws {
        try await withService { service async throws in
            _ = try await service.sign(offer: "store_once", #""customerId": "needle""#)
            _ = try await service.sign(offer: "store_once", #""customerId": "needle""#)
            _ = try await service.sign(offer: "store_gold", #""customerId": "needle""#)
            _ = try await service.sign(offer: "store_none", #""customerId": "needle""#)
            let lines = try Self.lines(service)
            #expect(lines.map { $0["outcome"].text } == ["eligible", "notEligible", "undecided", "unknown-offer"])
            #expect(lines.map { $0["offer"].text } == ["store_once", "store_once", "store_gold", "store_none"])
            for line in lines {
                #expect(line.names.isSuperset(of: Self.members), "\(line)")
                #expect(line["caller"] == .text("backend"))
            }
            #expect(lines[1]["reason"].text?.hasPrefix("grants: 1 grant so far, at most 1 allowed") == true)
            #expect(lines[2]["reason"].text?.contains("attributes.tier") == true)
            #expect(!service.log.lines.contains { $0.contains("needle") })
        }
    }

    @Test func `logs each request of a batch`() async throws {
        try await withService { service async throws in
            let bodies = ["store_open", "store_none"].map { offerBody($0, #""customerId": "ada""#) }
            var call = service.call(#"{"requests": [\#(bodies.joined(separator: ","))]}"#)
            call.path = "/v1/app-store/promotional-offers/signatures/batch"
            _ = try await service.send(call)
            #expect(try Self.lines(service).map { $0["outcome"].text } == ["eligible", "unknown-offer"])
        }
    }

    @Test func `logs requests without a key and malformed ones, without their content`() async throws {
        try await withService { service async throws in
            _ = try await service.sign(as: "nobody", offer: "store_open")
            _ = try await service.send(service.call(#"{"bundleId": "needle needle"}"#))
            _ = try await service.sign(as: "app", offer: "store_open")
            let lines = try Self.lines(service)
            let outcomes = ["unauthenticated", "invalid-request", "assertion-not-allowed"]
            #expect(lines.map { $0["outcome"].text } == outcomes)
            #expect(lines.map { $0["caller"].text } == ["unknown", "backend", "app"])
            #expect(lines[1]["reason"] == .text("/bundleId is not as expected"))
            #expect(!service.log.lines.contains { $0.contains("needle") })
        }
    }

    @Test func `unauthenticated requests cannot fill the log`() async throws {
        try await withService { service async throws in
            for _ in 0..<120 { _ = try await service.get("/v1/seal", as: "nobody") }
            #expect(try Self.lines(service).count == 50)
        }
    }
}

/// How lines are written.
struct LogStyleTests {
    private static func line(_ style: LogStyle, _ reason: String, tone: LogTone = .refused) -> String {
        let clock = SettableClock()
        let recorder = LogRecorder()
        let log = Log(level: .info, style: style, clock: clock.wallClock, sink: recorder.sink)
        log(.info, "refused", with: ["caller": "shop", "reason": .text(reason), "milliseconds": 3], tone: tone)
        log(.debug, "left out")
        return recorder.lines.joined()
    }

    @Test func `text is one line of words, with quotes where a value needs them`() {
        let line = Self.line(LogStyle(.text), "grants: \"1\" of\n1\u{1B}[31m")
        let reason = ##"reason="grants: \"1\" of\u000a1\u001b[31m""##
        #expect(line.hasSuffix("INFO    refused  caller=shop  \(reason)  milliseconds=3\n"), "\(line)")
        #expect(line.count(where: \.isNewline) == 1)
    }

    @Test func `colors are there only where they are wanted`() {
        #expect(!Self.line(LogStyle(.text), "x").contains("\u{1B}"))
        #expect(Self.line(LogStyle(.text, isColored: true), "x").contains("\u{1B}[33mrefused\u{1B}[0m"))
        #expect(Self.line(LogStyle(.text, isColored: true), "x", tone: .good).contains("\u{1B}[32m"))
        #expect(!Self.line(LogStyle(.json, isColored: true), "x").contains("\u{1B}"))
    }

    @Test func `standard error that is no terminal gets JSON without colors, unless text is asked for`() {
        #expect(LogStyle.standardError(nil, environment: [:]) == LogStyle(.json))
        #expect(LogStyle.standardError(.text, environment: [:]) == LogStyle(.text))
    }
}
