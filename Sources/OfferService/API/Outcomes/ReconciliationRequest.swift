// SPDX-License-Identifier: Apache-2.0
import Ledger
import OfferDomain

/// The parameters of ``ReconciliationCall``.
enum ReconciliationRequest {
    /// Without `from` and `until`, the last 30 days.
    static func query(_ text: [UInt8]?, at now: Timestamp) throws(Refusal) -> ReconciliationQuery {
        var parameters = QueryParameters(text)
        let until = parameters.time("until", at: now)?.instant ?? now
        let from = parameters.time("from", at: now)?.instant
        var query = ReconciliationQuery(from: from ?? until.adding(days: -ReconciliationQuery.usualDays), until: until)
        if query.from > until { parameters.note("from", "must not be after until") }
        if let environment = parameters.value(
            "environment",
            expecting: "production or sandbox",
            StoreEnvironment.init(rawValue:)
        ) {
            query.environment = environment
        }
        if let limit = parameters.value("limit", expecting: "a whole number from 1 to 500", limit) {
            query.limit = limit
        }
        if let position = parameters.value(
            "cursor",
            expecting: "what next was in the answer before",
            ReconciliationQuery.Position.init
        ) {
            query.position = position
        }
        try parameters.finish()
        return query
    }

    private static func limit(_ text: String) -> Int? {
        guard text.utf8.count <= 3, let limit = Int(text), (1...500).contains(limit) else { return nil }
        return limit
    }
}

extension ReconciliationQuery.Position {
    /// One word for each list, in their order, with `~` between: empty at the start, `-` at the end.
    var text: String {
        [Self.word(withoutRecord), Self.word(byAnotherAccount), Self.word(neverRedeemed)].joined(separator: "~")
    }

    init?(_ text: String) {
        let words = text.split(separator: "~", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 3, let uses = Self.place(words[0]), let others = Self.place(words[1]),
            let grants = Self.grant(words[2])
        else { return nil }
        self.init()
        (withoutRecord, byAnotherAccount, neverRedeemed) = (uses, others, grants)
    }

    private static func word<Place: CursorWord>(_ progress: ReconciliationQuery.Progress<Place>) -> String {
        switch progress {
        case .start: ""
        case .after(let place): place.cursorWord
        case .end: "-"
        }
    }

    private static func place(_ word: String) -> ReconciliationQuery.Progress<ReconciliationQuery.Place>? {
        if word.isEmpty { return .start }
        if word == "-" { return .end }
        let numbers = word.split(separator: ".").compactMap { Int64($0) }
        guard numbers.count == 2 else { return nil }
        return .after(.init(redeemedAt: Timestamp(milliseconds: numbers[0]), entryIndex: numbers[1]))
    }

    private static func grant(_ word: String) -> ReconciliationQuery.Progress<UniqueID>? {
        if word.isEmpty { return .start }
        return word == "-" ? .end : UniqueID(word).map { .after($0) }
    }
}

/// Where a list was left, as a cursor writes it.
private protocol CursorWord: Hashable, Sendable {
    var cursorWord: String { get }
}

extension ReconciliationQuery.Place: CursorWord {
    fileprivate var cursorWord: String { "\(redeemedAt.milliseconds).\(entryIndex)" }
}

extension UniqueID: CursorWord {
    fileprivate var cursorWord: String { description }
}
