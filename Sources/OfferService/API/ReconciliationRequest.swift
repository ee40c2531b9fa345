// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain

/// The parameters of ``ReconciliationCall``.
enum ReconciliationRequest {
    private static let names = ["from", "until", "environment", "limit", "cursor"]

    /// Without `from` and `until`, the last 30 days.
    static func query(_ text: [UInt8], at now: Timestamp) throws(Refusal) -> ReconciliationQuery {
        var mistakes: [Mismatch] = []
        func wrong(_ name: String, _ message: String) {
            mistakes.append(Mismatch(pointer: "/\(name)", offset: 0, message: message))
        }
        func value<Value>(_ name: String, _ expected: String, _ parse: (String) -> Value?) -> Value? {
            guard let text = values[name] else { return nil }
            if let value = parse(text) { return value }
            wrong(name, "must be \(expected)")
            return nil
        }
        var values: [String: String] = [:]
        for (name, value) in QueryText.pairs(text) {
            if !names.contains(name) { wrong(name, "is not a parameter of this call") }
            if values.updateValue(value, forKey: name) != nil { wrong(name, "is given twice") }
        }
        let instant = "a time as RFC 3339 writes it, like 2026-11-21T08:00:00Z"
        let until = value("until", instant, Timestamp.init(rfc3339:)) ?? now
        let from =
            value("from", instant, Timestamp.init(rfc3339:)) ?? until.adding(days: -ReconciliationQuery.usualDays)
        if from > until { wrong("from", "must not be after until") }
        var query = ReconciliationQuery(from: from, until: until)
        query.environment = value("environment", "production or sandbox", StoreEnvironment.init) ?? query.environment
        query.limit =
            value("limit", "a whole number from 1 to 500") { Int($0).flatMap { (1...500) ~= $0 ? $0 : nil } } ?? 100
        query.position =
            value("cursor", "what next was in the answer before", ReconciliationQuery.Position.init) ?? query.position
        guard mistakes.isEmpty else { throw .request(.invalid(mistakes)) }
        return query
    }
}

/// The part of an address behind the `?`, taken apart.
enum QueryText {
    /// Names and values, their percent encoding undone; a plus stays one, and what is no UTF-8 has U+FFFD in it.
    static func pairs(_ query: [UInt8]) -> [(name: String, value: String)] {
        query.split(separator: UInt8(ascii: "&")).map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return (decoded(parts[0]), parts.count == 2 ? decoded(parts[1]) : "")
        }
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> String {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), let code = hexadecimal(rest.prefix(2)) else {
                bytes.append(byte)
                continue
            }
            bytes.append(code)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt8? {
        let text = String(decoding: digits, as: UTF8.self)
        return digits.count == 2 && text.allSatisfy(\.isHexDigit) ? UInt8(text, radix: 16) : nil
    }
}

extension ReconciliationQuery.Position {
    /// One word for each list, in their order, with `~` between: empty at the start, `-` at the end.
    var text: String {
        [Self.word(withoutRecord), Self.word(byAnotherAccount), Self.word(neverRedeemed)].joined(separator: "~")
    }

    /// Nothing is the start of all lists.
    init?(_ text: String) {
        if text.isEmpty {
            self.init()
            return
        }
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
