// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
import OfferDomain
import OfferService
import ServiceRuntime
import Storage
import TestSupport
import Testing

@testable import Ledger

/// A database with a log of entries at random, in a directory of its own; values repeat often, so that queries find some.
final class RandomLog {
    let directory: TemporaryDirectory
    let ledger: LedgerAccess
    let connection: any DatabaseConnection
    private(set) var size: Int64 = 0
    private(set) var time: Int64 = 1_000_000
    var random: SplitMix

    init(seed: UInt64) throws {
        directory = try TemporaryDirectory()
        let location = try #require(DatabaseLocation(directory.database("ledger.db")))
        ledger = LedgerAccess(location: location, clock: SettableClock().wallClock)
        connection = try ledger.openPatiently()
        random = SplitMix(seed: seed)
    }

    /// Adds entries, in one transaction.
    func grow(by count: Int) throws {
        try connection.transaction { () throws(StorageError) in
            for _ in 0..<count {
                if random.chance(in: 3) { time += Int64.random(in: 0...4_000_000, using: &random) }
                try connection.run(
                    SQL("INSERT INTO audit_entries VALUES (?, ?)", .integer(size), .blob(entry()))
                )
                size += 1
            }
        }
    }

    /// What was recorded there.
    func entry(at index: Int64) throws -> [UInt8] {
        let sql = SQL("SELECT entry FROM audit_entries WHERE entry_index = ?", .integer(index))
        return try #require(try connection.first(sql) { $0.blob(0) })
    }

    static let users = (0..<6).map { seed in
        "hmac:1:" + String(decoding: Base64.encodeURL(Array(repeating: UInt8(seed), count: 32)), as: UTF8.self)
    }

    private static func key(ofUser user: String) -> String {
        let code = Base64.decodeURL(Array(user.utf8.split(separator: UInt8(ascii: ":"))[2])) ?? []
        return String(decoding: Base64.encodeURL(Array(code.prefix(16))), as: UTF8.self)
    }

    static let members: [AuditQuery.Field: (member: String, values: [String])] = [
        .key: ("kid", ["KEY0000001", "KEY0000002", "KEY0000003"]),
        .caller: ("caller", ["backend", "app", "one \"quoted\"\n"]),
        .bundle: ("bundle", ["com.example.app", "com.example.other"]),
        .package: ("package", ["com.example.app", "com.example.play"]),
        .product: ("product", ["monthly", "yearly", "com.example.app"]),
        .offer: ("offer", ["winback", "summer", "monthly"]),
        .rule: ("rule", ["winback", "summer"]),
        .outcome: ("outcome", ["notEligible", "undecided", "eligible"]),
        .grant: ("grant", (0..<40).map { "grant-\($0)" }),
        .nonce: ("nonce", (0..<400).map { "nonce-\($0)" }),
        .digest: ("digest", (0..<4000).map { "\($0)" }),
        .request: ("rid", (0..<400).map { "nonce-\($0)" }),
    ]
    static let events = [
        "sign.intent", "sign.deny", "authorize.intent", "authorize.deny", "customer.transferred", "store.token",
        "subscription.transferred", "audit.export", "audit.fetch", "service.start",
    ]

    private func entry() -> [UInt8] {
        let event = random.pick(Self.events)
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("ev")
        writer.string(event)
        for (_, (member, values)) in Self.members.sorted(by: { $0.value.member < $1.value.member })
        where !random.chance(in: 3) {
            writer.name(text: member)
            writer.string(random.pick(values))
        }
        writeEnds(of: event, &writer)
        writer.name("t")
        writer.integer(time)
        if random.chance(in: 2) {
            writer.name("users")
            writer.beginArray()
            for _ in 0..<Int.random(in: 0...3, using: &random) { writer.string(random.pick(Self.users)) }
            writer.endArray()
        }
        writeReasons(&writer)
        if event == "audit.fetch" { writeCounts(&writer) }
        writer.endObject()
        return writer.bytes
    }

    private func writeEnds(of event: String, _ writer: inout JSONWriter) {
        for end in ["from", "to"] {
            switch event {
            case "customer.transferred":
                writer.name(text: end)
                writer.string(random.pick(Self.users))
            case "subscription.transferred":
                writer.name(text: end)
                writer.string(Self.key(ofUser: random.pick(Self.users)))
            case "audit.export" where end == "from":
                writer.name(text: end)
                writer.integer(3)
            default: break
            }
        }
    }

    private func writeCounts(_ writer: inout JSONWriter) {
        writer.name("counts")
        writer.beginArray()
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            writer.beginObject()
            if let callers = Self.members[.caller]?.values, !random.chance(in: 4) {
                writer.name("caller")
                writer.string(random.pick(callers))
            }
            writer.name("count")
            writer.integer(1)
            writer.endObject()
        }
        writer.endArray()
    }

    private func writeReasons(_ writer: inout JSONWriter) {
        writer.name("why")
        writer.beginArray()
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            writer.beginObject()
            writer.name("code")
            writer.string(random.pick(["lapsed-too-short", "grants-cap-reached", "window-closed"]))
            writer.endObject()
        }
        writer.endArray()
    }

    /// A query at random; some ask for what is nowhere.
    func query() -> AuditQuery {
        var query = AuditQuery(
            order: random.pick(AuditQuery.Order.allCases),
            limit: Int.random(in: 1...40, using: &random)
        )
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let field = random.pick(AuditQuery.Field.allCases)
            switch field {
            case .event: query.fields[field] = random.pick(Self.events)
            case .user:
                let user = random.pick(Self.users)
                query.fields[field] = random.chance(in: 4) ? Self.key(ofUser: user) : user
            default: query.fields[field] = random.pick(Self.members[field]?.values ?? [])
            }
            if random.chance(in: 20) { query.fields[field] = "nowhere" }
        }
        if random.chance(in: 2) { query.from = instant() }
        if random.chance(in: 2) { query.until = instant() }
        return query
    }

    private func instant() -> Timestamp {
        Timestamp(milliseconds: Int64.random(in: 900_000...time + 100_000, using: &random))
    }

    /// The indices that looking at every entry finds, in the query's order.
    func scanned(_ query: AuditQuery) throws -> [Int64] {
        var query = query
        query.limit = .max
        var found: [Int64] = []
        try AuditReader(connection: try ledger.openForReading()).entries(matching: query) { index, _ in
            found.append(index)
        }
        return query.order == .oldest ? found : found.reversed()
    }
}

/// The committer and the indexer of a log, running for the length of a closure.
func withIndex<Value>(
    over log: RandomLog,
    _ format: AuditIndexFormat,
    until isDone: (AuditIndex) throws -> Bool,
    _ body: (AuditIndex) throws -> Value
) async throws -> Value {
    let metrics = Metrics()
    let clock = SettableClock()
    let recorder = LogRecorder()
    let output = Log(level: .debug, clock: clock.wallClock, sink: recorder.sink)
    let committer = Committer(clock: clock.wallClock, observer: metrics, open: log.ledger.open)
    committer.start(on: try log.ledger.openPatiently())
    let index = AuditIndex(format: format)
    let indexer = AuditIndexer(index: index, committer: committer, log: output, open: log.ledger.openForReading)
    indexer.start()
    let result: Result<Value, any Error>
    do {
        #expect(try await eventually { try isDone(index) })
        result = .success(try body(index))
    } catch {
        result = .failure(error)
    }
    await mayBlock {
        indexer.stop()
        committer.stop()
    }
    return try result.get()
}
