// SPDX-License-Identifier: Apache-2.0
import OfferDomain

/// What a caller of `GET /v1/audit/entries` asks for.
struct AuditEntriesRequest: Sendable {
    let query: AuditQuery
    /// Where an earlier answer ended.
    let cursor: String?
    let format: AuditFormat

    /// As many entries are told as are not asked for otherwise.
    static let standardLimit = 100
    /// Every limit of a page.
    static let limits = 1...500

    init(_ text: [UInt8]?) throws(Refusal) {
        var parameters = QueryParameters(text)
        var query = AuditQuery(order: .newest, limit: Self.standardLimit)
        for field in AuditQuery.Field.allCases {
            let value = parameters.value(field.rawValue)
            query.fields[field] = value
            guard let value, !value.isEmpty, let fault = AuditQuery.fault(of: value, in: field) else { continue }
            parameters.note(field.rawValue, fault)
        }
        let instant = "a time as RFC 3339 writes it, like 2026-11-21T08:00:00Z"
        query.from = parameters.value("from", instant, Timestamp.init(rfc3339:))
        query.until = parameters.value("until", instant, Timestamp.init(rfc3339:))
        if let from = query.from, let until = query.until, from > until {
            parameters.note("from", "must not be after until")
        }
        if let order = parameters.value("order", "newest or oldest", AuditQuery.Order.init(rawValue:)) {
            query.order = order
        }
        let expected = "a whole number from \(Self.limits.lowerBound) to \(Self.limits.upperBound)"
        if let limit = parameters.value("limit", expected, { wholeNumber($0, in: Self.limits) }) { query.limit = limit }
        cursor = parameters.value("cursor")
        format = parameters.value("format", "json, csv or ndjson", AuditFormat.init(rawValue:)) ?? .json
        try parameters.finish()
        self.query = query
    }
}

/// A number in decimal digits alone.
private func wholeNumber(_ text: String, in range: ClosedRange<Int>) -> Int? {
    guard text.utf8.count <= 6, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text) else {
        return nil
    }
    return range.contains(number) ? number : nil
}
