// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
import OfferDomain

/// `GET /v1/audit/summary`: uses of keys, decisions and refusals of a span of time.
struct AuditSummaryCall: Sendable {
    let desk: AuditDesk

    func respond(
        to request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request, at: now).requireReading()
        let asked = try AuditSummaryRequest(request.query, at: now)
        let summary = try await desk.read { connection, index throws(AuditReadError) in
            try LogSummary(
                from: asked.from,
                until: asked.until,
                connection: connection,
                format: index.format,
                tail: index.tail
            )
        }
        let query = AuditQuery(from: asked.from, until: asked.until)
        await desk.note(AuditReading(caller: caller.id, route: .auditSummary, query: query, count: 0))
        return .json(AuditSummaryAnswer(asked, summary, desk.index.lastUses).bytes)
    }
}

/// What a caller of `GET /v1/audit/summary` asks for.
struct AuditSummaryRequest: Sendable {
    /// The length of what is counted together.
    enum Step: String, CaseIterable, Sendable {
        case hour, day

        var milliseconds: Int64 { self == .hour ? 3_600_000 : 86_400_000 }
        /// How many are told if nobody says how far back.
        var standardCount: Int64 { self == .hour ? 24 : 30 }
    }

    /// At most so many steps are told at once.
    static let mostSteps: Int64 = 800

    let step: Step
    /// Whole steps, with everything that was asked for in them.
    let from: Timestamp
    let until: Timestamp

    init(_ text: [UInt8]?, at now: Timestamp) throws(Refusal) {
        var parameters = QueryParameters(text)
        let step = parameters.value("step", "hour or day", Step.init(rawValue:)) ?? .hour
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

    init(_ asked: AuditSummaryRequest, _ summary: LogSummary, _ lastUses: [String: Int64]) {
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

    var bytes: [UInt8] {
        var writer = JSONWriter(reserving: 4096)
        writer.beginObject()
        writer.name("from")
        writer.string(asked.from.rfc3339)
        writer.name("until")
        writer.string(asked.until.rfc3339)
        writer.name("step")
        writer.string(asked.step.rawValue)
        writer.name("isComplete")
        writer.boolean(isComplete)
        writeKeys(&writer)
        writeDecisions(&writer)
        writeRefusals(&writer)
        writer.endObject()
        return writer.bytes
    }

    private func writeKeys(_ writer: inout JSONWriter) {
        writer.name("keys")
        writer.beginArray()
        for (key, counts) in keys.sorted(by: { $0.key < $1.key }) {
            writer.beginObject()
            writer.name("key")
            writer.string(key)
            writer.name("lastUsedAt")
            writer.string(Timestamp(milliseconds: lastUses[key] ?? 0).rfc3339)
            writer.name("counts")
            writer.beginArray()
            for (at, count) in counts.sorted(by: { $0.key < $1.key }) {
                writer.beginObject()
                writer.name("at")
                writer.string(Timestamp(milliseconds: at).rfc3339)
                writer.name("count")
                writer.integer(count)
                writer.endObject()
            }
            writer.endArray()
            writer.endObject()
        }
        writer.endArray()
    }

    private func writeDecisions(_ writer: inout JSONWriter) {
        writer.name("decisions")
        writer.beginArray()
        for (rule, counts) in decisions.sorted(by: { $0.key < $1.key }) {
            writer.beginObject()
            writer.name("rule")
            writer.string(rule)
            for decision in LogUsage.Decision.allCases {
                writer.name(text: decision.rawValue)
                writer.integer(counts[decision] ?? 0)
            }
            writer.endObject()
        }
        writer.endArray()
    }

    /// The most frequent first.
    private func writeRefusals(_ writer: inout JSONWriter) {
        writer.name("refusals")
        writer.beginArray()
        for (refused, count) in refusals.sorted(by: {
            ($1.value, $0.key.rule, $0.key.code) < ($0.value, $1.key.rule, $1.key.code)
        }) {
            writer.beginObject()
            writer.name("rule")
            writer.string(refused.rule)
            writer.name("code")
            writer.string(refused.code)
            writer.name("count")
            writer.integer(count)
            writer.endObject()
        }
        writer.endArray()
    }
}
