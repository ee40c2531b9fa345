// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import Storage

/// Every grant whose use a store will report, in the order of time; used by one thread, inside an open transaction.
struct IssuedGrantTable {
    private let connection: any DatabaseConnection

    init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// Adds a grant; `account` is the key of the account that it is given to.
    func add(
        _ grantID: UniqueID,
        of offer: CatalogOffer,
        to account: [UInt8]?,
        at instant: Timestamp,
        entry: Int64
    ) throws(StorageError) {
        let row: [SQLValue] = [
            .blob(grantID.bytes), .integer(offer.ledgerKey), .integer(instant.milliseconds),
            account.map(SQLValue.blob) ?? .null, .integer(entry),
        ]
        try connection.insert(row, into: Self.grants)
    }

    private static let grants = Insertion(
        into: "issued_grants",
        columns: "grant_id, offer_key, granted_at, account, entry_index"
    )

    /// Keeps what an offer is called, as it is called now, beside what it was called before.
    func describe(_ offer: CatalogOffer) throws(StorageError) {
        let name = StoreOfferName(offer.listing)
        let (store, app) = (SQLValue.text(offer.listing.store.recordName), SQLValue.text(name.app ?? ""))
        let row: [SQLValue] = [
            .integer(offer.ledgerKey), store, .text(offer.app.text), app, .text(name.product), SQLValue(name.plan),
            .text(name.offer), .text(offer.id.text),
        ]
        try connection.insert(row, into: Self.offers)
        let names: [SQLValue] = [
            store, .text(name.product), .text(name.plan ?? ""), .text(name.offer), app, .integer(offer.ledgerKey),
        ]
        try connection.insert(names, into: Self.names)
    }

    private static let offers = Insertion(
        into: "granted_offers",
        columns: "offer_key, store, app, store_app, product_id, base_plan_id, offer_id, rule",
        onConflict: .updates(
            keyColumns: 1,
            """
            store_app = excluded.store_app, product_id = excluded.product_id, base_plan_id = excluded.base_plan_id,
            offer_id = excluded.offer_id
            """
        )
    )
    private static let names = Insertion(
        into: "granted_names",
        columns: "store, product_id, base_plan_id, offer_id, store_app, offer_key",
        onConflict: .keeps
    )

    /// The keys of the offers that were granted under that name in a store, even if the catalog no longer has them
    /// under it: a grant stays valid.
    ///
    /// `app` is the bundle ID or the package name; `nil` means all apps, if the caller's subjects differ by app.
    func formerKeys(
        _ store: Store,
        app: String? = nil,
        productID: String,
        basePlanID: String? = nil,
        offerID: String
    ) throws(StorageError) -> [Int64] {
        try connection.all(
            SQL(
                """
                SELECT offer_key, store_app FROM granted_names
                WHERE store = ? AND product_id = ? AND base_plan_id = ? AND offer_id = ? ORDER BY offer_key
                """,
                .text(store.recordName),
                .text(productID),
                .text(basePlanID ?? ""),
                .text(offerID)
            )
        ) { (key: $0.integer(0), app: $0.text(1)) }.filter { app == nil || $0.app == app }.map(\.key)
    }

    /// One grant, of any account; `nil` if it was never given.
    func candidate(_ grantID: UniqueID) throws(StorageError) -> GrantCandidate? {
        try connection.first(
            SQL("SELECT account FROM issued_grants WHERE grant_id = ?", .blob(grantID.bytes))
        ) { GrantCandidate(id: grantID, account: $0.optionalBlob(0)) }
    }

    /// The grants that are on record, each with the index of its entry.
    func entries(of grantIDs: [UniqueID]) throws(StorageError) -> [UniqueID: Int64] {
        var found: [UniqueID: Int64] = [:]
        try connection.rows(
            "SELECT entry_index FROM issued_grants WHERE grant_id = ?",
            forEach: grantIDs.map { [.blob($0.bytes)] }
        ) { place, row in found[grantIDs[place]] = row.integer(0) }
        return found
    }

    /// Records that a store has sent a notification about an app.
    func noteReport(_ app: StoreApp, at instant: Timestamp) throws(StorageError) {
        let time = SQLValue.integer(instant.milliseconds)
        try connection.insert([.text(app.store.recordName), .text(app.name), time, time], into: Self.apps)
    }

    private static let apps = Insertion(
        into: "notified_apps",
        columns: "store, store_app, first_report_at, last_report_at",
        onConflict: .updates(keyColumns: 2, "last_report_at = excluded.last_report_at")
    )
}

extension GrantTable {
    /// The grants of an offer that count under any of these names, each with the account that it was given to.
    func candidates(of subjects: [[UInt8]], offerKey: Int64) throws(StorageError) -> Set<GrantCandidate> {
        var candidates: Set<GrantCandidate> = []
        let issued = IssuedGrantTable(connection: connection)
        for subject in subjects {
            for id in try grants(of: offerKey, to: subject) {
                candidates.insert(try issued.candidate(id) ?? GrantCandidate(id: id, account: nil))
            }
        }
        return candidates
    }
}
