// SPDX-License-Identifier: Apache-2.0
import Configuration
package import OfferDomain
package import Storage

/// A grant whose use no store has reported in time.
package struct UnredeemedGrant: Hashable, Sendable {
    package let grantID: UniqueID
    let grantedAt: Timestamp
    let place: ReconciliationReport.AppInStore
    let productID: String
    let basePlanID: String?
    let offerID: String
    let rule: String
}

/// Finds grants that were never redeemed, each once; stores for each app how far it has looked.
///
/// Used by one thread.
package struct UnredeemedGrantTable {
    private let connection: any DatabaseConnection

    package init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// An app that its store reports about, and how far its grants were looked at.
    package struct Scan: Hashable, Sendable {
        package let place: ReconciliationReport.AppInStore
        package let lastReportAt: Timestamp
        /// The result of earlier grants is unknown: the store had reported nothing, or its reports were forgotten.
        package let earliest: Timestamp
        /// The next scan begins after this grant; `nil` before the first scan.
        package var after: [UInt8]?
    }

    package func scans() throws(StorageError) -> [Scan] {
        try connection.all(
            SQL(
                """
                SELECT apps.store, apps.store_app, last_report_at, first_report_at, last_grant,
                    (SELECT max(forgotten_until) FROM secret_versions)
                FROM notified_apps AS apps
                LEFT JOIN unredeemed_scans AS scans ON scans.store = apps.store AND scans.store_app = apps.store_app
                ORDER BY apps.store, apps.store_app
                """
            )
        ) { row in
            let firstReportAt = row.integer(3)
            return Scan(
                place: ReconciliationReport.AppInStore(store: row.text(0), app: row.text(1)),
                lastReportAt: Timestamp(milliseconds: row.integer(2)),
                earliest: Timestamp(milliseconds: max(firstReportAt, row.optionalInteger(5) ?? firstReportAt)),
                after: row.optionalBlob(4)
            )
        }
    }

    /// The first grants of an app without a known use, in a span of IDs without both ends.
    ///
    /// A pending use does not count yet: it can be withdrawn, and no store reports that.
    package func grants(
        of place: ReconciliationReport.AppInStore,
        after first: [UInt8],
        before end: [UInt8],
        limit: Int
    ) throws(StorageError) -> [UnredeemedGrant] {
        let grants = try connection.all(
            SQL(
                Self.unused,
                .text(place.store),
                .text(place.app),
                .blob(first),
                .blob(end),
                .integer(Int64(limit))
            )
        ) { row in
            UniqueID(bytes: row.blob(0)).map {
                UnredeemedGrant(
                    grantID: $0,
                    grantedAt: Timestamp(milliseconds: row.integer(1)),
                    place: place,
                    productID: row.text(2),
                    basePlanID: row.optionalText(3),
                    offerID: row.text(4),
                    rule: row.text(5)
                )
            }
        }
        return grants.compactMap(\.self)
    }

    private static let unused: StaticString = """
        SELECT issued.grant_id, granted_at, product_id, base_plan_id, offer_id, rule
        FROM issued_grants AS issued JOIN granted_offers AS offers ON offers.offer_key = issued.offer_key
        WHERE offers.store = ? AND offers.store_app = ? AND issued.grant_id > ? AND issued.grant_id < ?
            AND NOT EXISTS (
                SELECT 1 FROM redemptions AS uses
                WHERE uses.grant_id = issued.grant_id AND uses.state <> 'pending'
            )
        ORDER BY issued.grant_id LIMIT ?
        """

    /// Whether a use of the grant is known and not only pending.
    package func isUsed(_ grantID: UniqueID) throws(StorageError) -> Bool {
        let sql = SQL("SELECT 1 FROM redemptions WHERE grant_id = ? AND state <> 'pending'", .blob(grantID.bytes))
        return try connection.first(sql) { _ in true } ?? false
    }

    /// Keeps how far an app's grants were looked at.
    package func note(_ scan: Scan, upTo last: [UInt8]) throws(StorageError) {
        try connection.run(
            SQL(
                """
                INSERT INTO unredeemed_scans (store, store_app, last_grant) VALUES (?, ?, ?)
                ON CONFLICT (store, store_app) DO UPDATE SET last_grant = excluded.last_grant
                """,
                .text(scan.place.store),
                .text(scan.place.app),
                .blob(last)
            )
        )
    }
}
