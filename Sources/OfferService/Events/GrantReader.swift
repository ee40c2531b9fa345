// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain
import Storage
import TransparencyLog

/// Finds a grant in the log, and what a store has reported about it.
struct GrantReader {
    let connection: any DatabaseConnection
    let search: AuditSearch

    /// A grant as its first entry has it.
    struct Grant: Sendable {
        let event: ServiceEvent
        /// `nil` while no store has reported a use.
        let use: Use?
    }

    /// A use of a grant.
    struct Use: Sendable {
        let productID: String
        let state: String
        let environment: String
        let match: String
        let redeemedAt: Timestamp
        let settledAt: Timestamp?
        let refundedAt: Timestamp?
        let refundedMillipercent: Int64?
        let entryIndex: Int64
    }

    /// What came of a search.
    enum Outcome<Value: Sendable>: Sendable {
        case found(Value)
        /// The log has no such grant, the decision was a refusal, or its data is forgotten.
        case unknown
        /// There were more entries than one question may examine.
        case unfinished
    }

    func grant(_ id: UniqueID) throws(AuditReadError) -> Outcome<Grant> {
        switch try entryIndex(of: id) {
        case .found(let index): try grant(id, at: index)
        case .unknown: .unknown
        case .unfinished: .unfinished
        }
    }

    private func grant(_ id: UniqueID, at index: Int64) throws(AuditReadError) -> Outcome<Grant> {
        guard let entry = try AuditReader(connection: connection).entry(index) else { return .unknown }
        var derivation = EventDerivation()
        guard let event = try derivation.events(of: entry, at: index).first, event.type == .offerGranted,
            event.details.grantID == id
        else { return .unknown }
        let use = try use(of: id)
        // Whether it was used may have been forgotten with its secret version.
        if use == nil, try isForgotten(event) { return .unknown }
        return .found(Grant(event: event, use: use))
    }

    private func isForgotten(_ event: ServiceEvent) throws(AuditReadError) -> Bool {
        guard let until = try reading(SecretVersionTable(connection: connection).forgottenUntil()) else { return false }
        return (event.details.grantedAt ?? event.recordedAt) < until
    }

    private func entryIndex(of id: UniqueID) throws(AuditReadError) -> Outcome<Int64> {
        if let index = try issued(id) { return .found(index) }
        return try firstEntry(of: id)
    }

    /// The grant's first entry, if its use will be reported.
    private func issued(_ id: UniqueID) throws(AuditReadError) -> Int64? {
        try first(SQL("SELECT entry_index FROM issued_grants WHERE grant_id = ?", .blob(id.bytes))) { $0.integer(0) }
    }

    /// The same for any other grant, as of an introductory offer: its entry was written soon after its ID was made.
    private func firstEntry(of id: UniqueID) throws(AuditReadError) -> Outcome<Int64> {
        let query = AuditQuery(
            from: id.timestamp.adding(hours: -1),
            until: id.timestamp.adding(hours: 1),
            fields: [.grant: id.description],
            limit: 1
        )
        var position: Int64?
        for _ in 0..<Self.mostPages {
            let page = try search.page(query, from: position)
            if let index = page.entries.first?.index { return .found(index) }
            guard let next = page.next else { return .unknown }
            position = next
        }
        return .unfinished
    }

    private static let mostPages = 16

    private func use(of id: UniqueID) throws(AuditReadError) -> Use? {
        try first(SQL(Self.newestUse, .blob(id.bytes)), Self.use)
    }

    private static let newestUse: StaticString = """
        SELECT product_id, state, environment, matched_as, redeemed_at, settled_at, entry_index, refunded_at,
            refunded_millipercent
        FROM redemptions WHERE grant_id = ? ORDER BY redeemed_at DESC LIMIT 1
        """

    private static func use(_ row: borrowing Row) -> Use {
        Use(
            productID: row.text(0),
            state: row.text(1),
            environment: row.text(2),
            match: row.text(3),
            redeemedAt: Timestamp(milliseconds: row.integer(4)),
            settledAt: row.optionalInteger(5).map(Timestamp.init(milliseconds:)),
            refundedAt: row.optionalInteger(7).map(Timestamp.init(milliseconds:)),
            refundedMillipercent: row.optionalInteger(8),
            entryIndex: row.integer(6)
        )
    }

    private func first<Value>(
        _ sql: SQL,
        _ read: (borrowing Row) -> Value
    ) throws(AuditReadError) -> Value? {
        try reading(connection.first(sql, read))
    }
}
