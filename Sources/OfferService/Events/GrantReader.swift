// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage

/// Finds a grant in the log, and what a store has reported of it.
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
        let entryIndex: Int64
    }

    /// `nil` if the log has no such grant, or the decision was a no.
    func grant(_ id: UniqueID) throws(AuditReadError) -> Grant? {
        var index = try issued(id)
        if index == nil { index = try firstEntry(of: id) }
        guard let index else { return nil }
        let events = try EventReader(connection: connection).page(from: index, limit: 1, mostEntries: 1).events
        guard let event = events.first, event.type == .offerGranted, event.details.grantID == id else { return nil }
        return Grant(event: event, use: try use(of: id))
    }

    /// The grant's first entry, if its use will be reported.
    private func issued(_ id: UniqueID) throws(AuditReadError) -> Int64? {
        try first(SQL("SELECT entry_index FROM issued_grants WHERE grant_id = ?", .blob(id.bytes))) { $0.integer(0) }
    }

    /// The same of any other grant, such as one of an introductory offer; its entry was written soon after its ID was made.
    private func firstEntry(of id: UniqueID) throws(AuditReadError) -> Int64? {
        let query = AuditQuery(
            from: id.timestamp.adding(hours: -1),
            until: id.timestamp.adding(hours: 1),
            fields: [.grant: id.description],
            limit: 1
        )
        var position: Int64?
        for _ in 0..<Self.mostPages {
            let page = try search.page(query, from: position)
            if let index = page.entries.first?.index { return index }
            guard let next = page.next else { return nil }
            position = next
        }
        return nil
    }

    private static let mostPages = 16

    private func use(of id: UniqueID) throws(AuditReadError) -> Use? {
        for statement in [Self.appStoreUse, Self.googlePlayUse] {
            if let use = try first(SQL(statement, .blob(id.bytes)), Self.use) { return use }
        }
        return nil
    }

    private static let appStoreUse: StaticString = """
        SELECT product_id, state, environment, matched_as, redeemed_at, settled_at, entry_index
        FROM app_store_redemptions WHERE grant_id = ? ORDER BY redeemed_at DESC LIMIT 1
        """

    private static let googlePlayUse: StaticString = """
        SELECT product_id, state, environment, matched_as, redeemed_at, settled_at, entry_index
        FROM google_play_redemptions WHERE grant_id = ? ORDER BY redeemed_at DESC LIMIT 1
        """

    private static func use(_ row: borrowing Row) -> Use {
        Use(
            productID: row.text(0),
            state: row.text(1),
            environment: row.text(2),
            match: row.text(3),
            redeemedAt: Timestamp(milliseconds: row.integer(4)),
            settledAt: row.optionalInteger(5).map(Timestamp.init(milliseconds:)),
            entryIndex: row.integer(6)
        )
    }

    private func first<Value>(
        _ sql: SQL,
        _ read: (borrowing Row) -> Value
    ) throws(AuditReadError) -> Value? {
        do { return try connection.first(sql, read) } catch { throw .database(error) }
    }
}
