// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import Ledger
import OfferDomain
import ServiceRuntime
import TransparencyLog

/// `GET /v1/audit/summary`: uses of keys, decisions and refusals of a span of time.
struct AuditSummaryCall: Sendable {
    let searches: LogSearches

    func respond(
        to request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request, at: now).requireReading()
        let asked = try AuditSummaryRequest(request.query, at: now)
        let summary = try await searches.read { connection, index throws(AuditReadError) in
            try LogSummary(
                from: asked.from,
                until: asked.until,
                connection: connection,
                format: index.format,
                tail: index.tail
            )
        }
        let query = AuditQuery(from: asked.from, until: asked.until)
        await searches.note(AuditQueryUse(caller: caller.id, call: .summary, query: query, count: 0))
        return .json(AuditSummaryAnswer(asked, summary, lastUses: searches.index.lastUses).json)
    }
}

/// What a caller of `GET /v1/audit/summary` asks for.
struct AuditSummaryRequest: Sendable {
    /// The length of what is counted together.
    enum Step: String, CaseIterable, Sendable {
        case hour, day

        var milliseconds: Int64 { self == .hour ? 3_600_000 : 86_400_000 }
        /// The number of steps if the request has no `from`.
        var standardCount: Int64 { self == .hour ? 24 : 30 }
    }

    /// The maximum number of steps in one answer.
    static let mostSteps: Int64 = 800

    let step: Step
    /// Whole steps, with everything that was asked for in them.
    let from: Timestamp
    let until: Timestamp

    init(_ text: [UInt8]?, at now: Timestamp) throws(Refusal) {
        var parameters = QueryParameters(text)
        let step = parameters.value("step", expecting: "hour or day", Step.init(rawValue:)) ?? .hour
        let last = parameters.time("until", at: now)?.instant ?? now
        let length = step.milliseconds
        let until = floored(last.milliseconds + length - 1, length)
        let first = parameters.time("from", at: now)?.instant.milliseconds
        let from = first.map { floored($0, length) } ?? until - step.standardCount * length
        if from >= until { parameters.note("from", "must be before until") }
        if until - from > Self.mostSteps * length {
            parameters.note("from", "must be at most \(Self.mostSteps) steps before until; take a longer step")
        }
        try parameters.finish()
        self.step = step
        self.from = Timestamp(milliseconds: from)
        self.until = Timestamp(milliseconds: until)
    }
}

/// The largest multiple of `length` that is not beyond `value`.
private func floored(_ value: Int64, _ length: Int64) -> Int64 {
    let remainder = value % length
    return value - (remainder < 0 ? remainder + length : remainder)
}

/// The body of an answer of `GET /v1/audit/summary`.
struct AuditSummaryAnswer: Sendable {
    private let asked: AuditSummaryRequest
    private let isComplete: Bool
    /// By key, then by the beginning of a step.
    private var keys: [String: [Int64: Int64]] = [:]
    private var decisions: [String: [LogUsage.Decision: Int64]] = [:]
    private var refusals: [Refused: Int64] = [:]
    private var lastUses: [String: Int64]

    private struct Refused: Hashable {
        let rule: String
        let code: String
    }

    init(_ asked: AuditSummaryRequest, _ summary: LogSummary, lastUses: [String: Int64]) {
        self.asked = asked
        isComplete = summary.isComplete
        self.lastUses = lastUses
        for key in lastUses.keys { keys[key] = [:] }
        for (item, tally) in summary.usage.items {
            switch item.kind {
            case .key:
                let at = floored(item.hour * 3_600_000, asked.step.milliseconds)
                keys[item.name, default: [:]][at, default: 0] += tally.count
                self.lastUses[item.name] = max(self.lastUses[item.name] ?? .min, tally.lastAt)
            case .decision:
                guard let decision = LogUsage.Decision(rawValue: item.detail) else { continue }
                decisions[item.name, default: [:]][decision, default: 0] += tally.count
            case .refusal: refusals[Refused(rule: item.name, code: item.detail), default: 0] += tally.count
            }
        }
    }

    var json: JSONTree {
        [
            "from": .instant(asked.from),
            "until": .instant(asked.until),
            "step": .text(asked.step.rawValue),
            "isComplete": .boolean(isComplete),
            "keys": .array(keys.sorted { $0.key < $1.key }.map(usage)),
            "decisions": .array(decisions.sorted { $0.key < $1.key }.map(Self.decisions)),
            "refusals": .array(sortedRefusals),
        ]
    }

    private func usage(_ key: String, _ counts: [Int64: Int64]) -> JSONTree {
        [
            "key": .text(key),
            "lastUsedAt": .instant(Timestamp(milliseconds: lastUses[key] ?? 0)),
            "counts": .array(
                counts.sorted { $0.key < $1.key }.map { at, count in
                    ["at": .instant(Timestamp(milliseconds: at)), "count": .integer(count)]
                }
            ),
        ]
    }

    private static func decisions(_ rule: String, _ counts: [LogUsage.Decision: Int64]) -> JSONTree {
        .object([("rule", .text(rule))] + LogUsage.Decision.allCases.map { ($0.rawValue, .integer(counts[$0] ?? 0)) })
    }

    /// The most frequent first.
    private var sortedRefusals: [JSONTree] {
        let sorted = refusals.sorted { ($1.value, $0.key.rule, $0.key.code) < ($0.value, $1.key.rule, $1.key.code) }
        return sorted.map { refused, count in
            ["rule": .text(refused.rule), "code": .text(refused.code), "count": .integer(count)]
        }
    }
}
