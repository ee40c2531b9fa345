// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import ServiceRuntime
import Storage

/// When the catalog first had each offer, by the store's name for the offer.
///
/// The name is the store's, not the team's own. So a use without a grant is still reported after an entry is renamed.
struct CatalogNameTable {
    private let connection: any DatabaseConnection

    init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// Whether a use is older than the offer's entry in the catalog, or than this ledger if the catalog never had the offer.
    ///
    /// False if nothing is known: then a use without a grant is reported.
    func isEarlier(_ instant: Timestamp, than name: StoreOfferName) throws(StorageError) -> Bool {
        var bound = try firstSeen(name)
        if bound == nil { bound = try first(SQL("SELECT min(first_seen_at) FROM catalog_names")) }
        return bound.map { instant < $0 } ?? false
    }

    private func firstSeen(_ name: StoreOfferName) throws(StorageError) -> Timestamp? {
        let values: [SQLValue] = [
            .text(name.store.recordName), .text(name.product), .text(name.plan ?? ""), .text(name.offer),
        ]
        guard let app = name.app else { return try first(SQL(Self.ofAnyApp, values)) }
        return try first(SQL(Self.ofApp, values + [.text(app)]))
    }

    private func first(_ sql: SQL) throws(StorageError) -> Timestamp? {
        let milliseconds = try connection.first(sql) { $0.optionalInteger(0) }
        return milliseconds.flatMap(\.self).map(Timestamp.init(milliseconds:))
    }

    private static let ofAnyApp: StaticString = """
        SELECT min(first_seen_at) FROM catalog_names
        WHERE store = ? AND product_id = ? AND base_plan_id = ? AND offer_id = ?
        """

    private static let ofApp: StaticString = """
        SELECT first_seen_at FROM catalog_names
        WHERE store = ? AND product_id = ? AND base_plan_id = ? AND offer_id = ? AND store_app = ?
        """

    /// Those that are kept.
    private func known() throws(StorageError) -> Set<[String]> {
        let sql = SQL("SELECT store, product_id, base_plan_id, offer_id, store_app FROM catalog_names")
        let rows = try connection.all(sql) { row in
            [row.text(0), row.text(1), row.text(2), row.text(3), row.text(4)]
        }
        return Set(rows)
    }

    /// Adds the names that are not kept yet.
    ///
    /// It writes only if there are any, so an ordinary start or reload waits for no other writer. In the order of names:
    /// two instances must not wait for each other.
    func note(_ names: [StoreOfferName], at instant: Timestamp) throws(StorageError) {
        let rows = Set(names.map { [$0.store.recordName, $0.product, $0.plan ?? "", $0.offer, $0.app ?? ""] })
        let new = rows.subtracting(try known()).sorted { $0.lexicographicallyPrecedes($1) }
        if new.isEmpty { return }
        try connection.transaction { () throws(StorageError) in
            for row in new {
                let values = row.map(SQLValue.text) + [.integer(instant.milliseconds)]
                try connection.insert(values, into: Self.insertion)
            }
        }
    }

    private static let insertion = Insertion(
        into: "catalog_names",
        columns: "store, product_id, base_plan_id, offer_id, store_app, first_seen_at",
        onConflict: .keeps
    )
}
