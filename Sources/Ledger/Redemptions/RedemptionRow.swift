// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import Storage

/// A row of `redemptions` without its subscription, and the entry that records it.
struct RedemptionRow: Hashable {
    let name: StoreRedemption.Name
    var app: String
    let offerKey: Int64?
    let state: String
    let redeemedAt: Int64
    let settledAt: Int64?
    let refundedAt: Int64?
    let refundedMillipercent: Int64?
    let grantID: [UInt8]?
    let matchedBy: String?
    let match: String
    let environment: String

    init(_ matched: MatchedRedemption) {
        let use = matched.use
        (name, app, offerKey) = (use.name, use.app, matched.offerKey)
        (state, redeemedAt) = (use.state.name, use.redeemedAt.milliseconds)
        settledAt = use.state.settledAt?.milliseconds
        refundedAt = use.refund?.at.milliseconds
        refundedMillipercent = use.refund?.millipercent.map(Int64.init)
        (grantID, matchedBy) = (matched.grantID?.bytes, matched.way?.rawValue)
        (match, environment) = (matched.match.rawValue, use.environment.rawValue)
    }

    fileprivate init(_ row: borrowing Row) {
        name = StoreRedemption.Name(
            firstTransaction: row.blob(0),
            productID: row.text(1),
            basePlanID: row.text(2),
            offerID: row.text(3)
        )
        (app, offerKey, state) = (row.text(4), row.optionalInteger(5), row.text(6))
        (redeemedAt, settledAt) = (row.integer(7), row.optionalInteger(8))
        (refundedAt, refundedMillipercent) = (row.optionalInteger(9), row.optionalInteger(10))
        (grantID, matchedBy) = (row.optionalBlob(11), row.optionalText(12))
        (match, environment) = (row.text(13), row.text(14))
    }

    /// This row without its app: evidence of the App Store does not say which app a chain belongs to.
    var withoutApp: RedemptionRow {
        var row = self
        row.app = ""
        return row
    }

    var earlier: EarlierUse {
        EarlierUse(
            state: state,
            refundedAt: refundedAt,
            refundedMillipercent: refundedMillipercent,
            grantID: grantID,
            match: match
        )
    }

    /// The earlier row of the same use; in the App Store, its first transaction may differ, as for a pending use.
    func predecessor(among known: [Self], followedBy current: [Self], in store: Store) -> Self? {
        if let same = known.first(where: { $0.name == name }) { return same }
        guard store == .appStore else { return nil }
        return known.first { $0.name.firstTransaction == name.firstTransaction }
            ?? known.first { row in
                row.name.offerID == name.offerID
                    && !current.contains { $0.name.firstTransaction == row.name.firstTransaction }
            }
    }
}

/// The table `redemptions`: uses of offers in either store, each with the grant that it was matched to.
struct RedemptionRows {
    let connection: any DatabaseConnection

    func all(of subscription: [UInt8]) throws(StorageError) -> [RedemptionRow] {
        try connection.all(
            SQL(
                """
                SELECT first_transaction, product_id, base_plan_id, offer_id, store_app, offer_key, state, redeemed_at,
                    settled_at, refunded_at, refunded_millipercent, grant_id, matched_by, matched_as, environment
                FROM redemptions WHERE subscription = ?
                """,
                .blob(subscription)
            )
        ) { RedemptionRow($0) }
    }

    /// The subscriptions with a use that is matched to the grant.
    func subscriptions(matchedTo grant: UniqueID) throws(StorageError) -> [[UInt8]] {
        try connection.all(
            SQL("SELECT subscription FROM redemptions WHERE grant_id = ? ORDER BY subscription", .blob(grant.bytes))
        ) { $0.blob(0) }
    }

    func insert(_ row: RedemptionRow, of subscription: [UInt8], in store: Store) throws(StorageError) {
        let rest: [SQLValue] = [
            .text(store.recordName),
            .text(row.app),
            row.offerKey.map(SQLValue.integer) ?? .null,
            .text(row.state),
            .integer(row.redeemedAt),
            row.settledAt.map(SQLValue.integer) ?? .null,
            row.refundedAt.map(SQLValue.integer) ?? .null,
            row.refundedMillipercent.map(SQLValue.integer) ?? .null,
            row.grantID.map(SQLValue.blob) ?? .null,
            SQLValue(row.matchedBy),
            .text(row.match),
            .text(row.environment),
        ]
        try connection.insert(Self.key(row.name, of: subscription) + rest, into: Self.insertion)
    }

    private static let insertion = Insertion(
        into: "redemptions",
        columns: """
            subscription, first_transaction, product_id, base_plan_id, offer_id, store, store_app, offer_key, state,
            redeemed_at, settled_at, refunded_at, refunded_millipercent, grant_id, matched_by, matched_as, environment
            """
    )

    func remove(_ name: StoreRedemption.Name, of subscription: [UInt8]) throws(StorageError) {
        try connection.enqueue(
            SQL(
                """
                DELETE FROM redemptions WHERE subscription = ? AND first_transaction = ? AND product_id = ?
                    AND base_plan_id = ? AND offer_id = ?
                """,
                Self.key(name, of: subscription)
            )
        )
    }

    /// Stores the index of the entry that records the present state of the use.
    func note(_ entryIndex: Int64, of use: StoreRedemption) throws(StorageError) {
        try connection.enqueue(
            SQL(
                """
                UPDATE redemptions SET entry_index = ? WHERE subscription = ? AND first_transaction = ?
                    AND product_id = ? AND base_plan_id = ? AND offer_id = ?
                """,
                [.integer(entryIndex)] + Self.key(use.name, of: use.subscription)
            )
        )
    }

    private static func key(_ name: StoreRedemption.Name, of subscription: [UInt8]) -> [SQLValue] {
        [.blob(subscription), .blob(name.firstTransaction)]
            + [name.productID, name.basePlanID, name.offerID].map(SQLValue.text)
    }
}
