// SPDX-License-Identifier: Apache-2.0
import Ledger
import OfferDomain

/// What a caller of `GET /v1/audit/entries` asks for.
struct AuditEntriesRequest: Sendable {
    let query: AuditQuery
    /// The same for the same parameters whenever they are sent: what cursors are given out for.
    let cursorQuery: AuditQuery
    /// Where an earlier answer ended.
    let cursor: String?
    let format: AuditFormat
    /// Whether all that is found is wanted, however much it is, instead of a page.
    let isWhole: Bool

    /// The number of entries in a page if the request has no `limit`.
    static let standardLimit = 100
    /// Every limit of a page.
    static let limits = 1...500

    init(_ text: [UInt8]?, at now: Timestamp) throws(Refusal) {
        var parameters = QueryParameters(text)
        var query = AuditQuery(order: .newest, limit: Self.standardLimit)
        for field in AuditQuery.Field.allCases {
            let value = parameters.value(field.rawValue)
            query.fields[field] = value
            guard let value, !value.isEmpty, let fault = AuditQuery.fault(of: value, in: field) else { continue }
            parameters.note(field.rawValue, fault)
        }
        let (from, until) = (parameters.time("from", at: now), parameters.time("until", at: now))
        (query.from, query.until) = (from?.instant, until?.instant)
        if let from = query.from, let until = query.until, from > until {
            parameters.note("from", "must not be after until")
        }
        query.reason = parameters.value(
            "reason",
            expecting: "a code of docs/rules.md, like cooldown-running",
            FindingCode.init
        )
        query.excludedEvents = Self.excludedEvents(&parameters)
        if let order = parameters.value("order", expecting: "newest or oldest", AuditQuery.Order.init(rawValue:)) {
            query.order = order
        }
        let expected = "a whole number from \(Self.limits.lowerBound) to \(Self.limits.upperBound)"
        let limit = parameters.value("limit", expecting: expected) { wholeNumber($0, in: Self.limits) }
        if let limit { query.limit = limit }
        cursor = parameters.value("cursor")
        format = parameters.value("format", expecting: "json, csv or ndjson", AuditFormat.init(rawValue:)) ?? .json
        try parameters.finish()
        isWhole = format != .json && limit == nil
        if isWhole { query.limit = Self.wholeLimit }
        self.query = query
        (query.from, query.until) = (from?.identity, until?.identity)
        cursorQuery = query
    }

    /// How many entries of a whole answer are read at once.
    private static let wholeLimit = 1000

    /// The events of a list with commas.
    private static func excludedEvents(_ parameters: inout QueryParameters) -> Set<AuditEventName> {
        guard let text = parameters.value("exclude"), !text.isEmpty else { return [] }
        var events: Set<AuditEventName> = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            if let fault = AuditEventName.fault(of: name) { parameters.note("exclude", fault) }
            if let event = AuditEventName(rawValue: name) { events.insert(event) }
        }
        return events
    }
}

/// A number in decimal digits alone.
private func wholeNumber(_ text: String, in range: ClosedRange<Int>) -> Int? {
    guard text.utf8.count <= 6, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text) else {
        return nil
    }
    return range.contains(number) ? number : nil
}
