// SPDX-License-Identifier: Apache-2.0
import Configuration
package import OfferDomain
package import Storage

/// Reads the comparisons that were made when reports arrived; it computes none of them again.
///
/// Used by one thread.
package struct ReconciliationReader {
    private let connection: any DatabaseConnection

    /// Reads through a connection, which may be read-only.
    package init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// Reads one page of each list, and counts the uses of the whole span.
    package func report(
        _ query: ReconciliationQuery,
        at now: Timestamp
    ) throws(StorageError) -> ReconciliationReport {
        let settledUntil = min(query.until, now.adding(hours: -ReconciliationReport.settlingHours))
        var report = ReconciliationReport(query: query, settledUntil: settledUntil)
        report.uses = try uses(query)
        var next = query.position
        (report.withoutRecord, next.withoutRecord) = try page(.ungranted, query, from: next.withoutRecord)
        (report.byAnotherAccount, next.byAnotherAccount) = try page(.otherAccount, query, from: next.byAnotherAccount)
        (report.neverRedeemed, next.neverRedeemed) = try neverRedeemed(query, until: settledUntil)
        report.settled = try withNotified(settled(from: query.from, until: settledUntil))
        report.retention = try retention(query)
        report.next = next.isAtEnd ? nil : next
        return report
    }

    /// The answers that subscribers saw in the span when they were about to cancel.
    private func retention(_ query: ReconciliationQuery) throws(StorageError) -> [ReconciliationReport.Retention] {
        try connection.all(
            SQL(
                """
                SELECT answer, offer, count(*), sum(CASE WHEN EXISTS (
                        SELECT 1 FROM redemptions AS uses
                        WHERE uses.grant_id = request_id AND uses.state <> 'pending'
                    ) THEN 1 ELSE 0 END),
                    sum(CASE WHEN outcome = 'kept' THEN 1 ELSE 0 END),
                    sum(CASE WHEN outcome = 'canceled' THEN 1 ELSE 0 END)
                FROM retention_answers WHERE request_id >= ? AND request_id < ? AND environment = ?
                GROUP BY answer, offer ORDER BY answer DESC, offer
                """,
                .blob(UniqueID.first(at: query.from).bytes),
                .blob(UniqueID.first(at: query.until).bytes),
                .text(query.environment.rawValue)
            )
        ) { row in
            ReconciliationReport.Retention(
                answer: row.text(0),
                offer: row.text(1),
                shown: Int(row.integer(2)),
                redeemed: Int(row.integer(3)),
                kept: Int(row.integer(4)),
                canceled: Int(row.integer(5))
            )
        }
    }

    // MARK: - Uses

    private func uses(_ query: ReconciliationQuery) throws(StorageError) -> [RedemptionMatch: Int] {
        var uses: [RedemptionMatch: Int] = [:]
        try connection.rows(
            SQL(
                """
                SELECT matched_as, count(*) FROM redemptions
                WHERE redeemed_at >= ? AND redeemed_at < ? AND environment = ? GROUP BY matched_as
                """,
                .integer(query.from.milliseconds),
                .integer(query.until.milliseconds),
                .text(query.environment.rawValue)
            )
        ) { row in
            if let match = RedemptionMatch(rawValue: row.text(0)) { uses[match] = Int(row.integer(1)) }
        }
        return uses
    }

    private typealias Progress = ReconciliationQuery.Progress<ReconciliationQuery.Place>

    /// The next uses of one kind, and how far they are listed with them.
    private func page(
        _ match: RedemptionMatch,
        _ query: ReconciliationQuery,
        from progress: Progress
    ) throws(StorageError) -> ([ReconciliationReport.Use], Progress) {
        let from = SQLValue.integer(query.from.milliseconds)
        let bound: ReconciliationQuery.Place
        switch progress {
        case .start: bound = ReconciliationQuery.Place(redeemedAt: query.until, entryIndex: 0)
        case .after(let place): bound = place
        case .end: return ([], .end)
        }
        let values: [SQLValue] = [
            .text(match.rawValue), .text(query.environment.rawValue), from, .integer(bound.redeemedAt.milliseconds),
            .integer(bound.redeemedAt.milliseconds), .integer(bound.entryIndex), .integer(Int64(query.limit) + 1),
        ]
        let uses = try connection.all(SQL(Self.uses, values), Self.use)
        let page = Array(uses.prefix(query.limit))
        guard uses.count > page.count, let last = page.last else { return (page, .end) }
        return (page, .after(ReconciliationQuery.Place(redeemedAt: last.redeemedAt, entryIndex: last.entryIndex)))
    }

    private static let uses: StaticString = """
        SELECT store, store_app, product_id, base_plan_id, offer_id, state, redeemed_at, subscription, uses.grant_id,
            uses.entry_index, issued_grants.entry_index, account
        FROM redemptions AS uses LEFT JOIN issued_grants ON issued_grants.grant_id = uses.grant_id
        WHERE matched_as = ? AND environment = ? AND redeemed_at >= ?
            AND (redeemed_at < ? OR redeemed_at = ? AND uses.entry_index < ?)
        ORDER BY redeemed_at DESC, uses.entry_index DESC LIMIT ?
        """

    private static func use(_ row: borrowing Row) -> ReconciliationReport.Use {
        let isAtGooglePlay = row.text(0) == Store.googlePlay.recordName
        return ReconciliationReport.Use(
            place: ReconciliationReport.AppInStore(store: row.text(0), app: row.text(1)),
            productID: row.text(2),
            basePlanID: isAtGooglePlay ? row.text(3) : nil,
            offerID: row.text(4),
            state: row.text(5),
            redeemedAt: Timestamp(milliseconds: row.integer(6)),
            subscription: row.blob(7),
            grantID: row.optionalBlob(8).flatMap(UniqueID.init(bytes:)),
            entryIndex: row.integer(9),
            grantEntryIndex: row.optionalInteger(10),
            grantedTo: row.optionalBlob(11)
        )
    }

    // MARK: - Grants

    /// The smallest ID of the grants that count from an instant: the uses of earlier ones may be forgotten with a secret.
    private func firstGrant(from instant: Timestamp) throws(StorageError) -> [UInt8] {
        let forgottenUntil = try SecretVersionTable(connection: connection).forgottenUntil()
        return UniqueID.first(at: max(instant, forgottenUntil ?? instant)).bytes
    }

    /// The newest unused grants of apps about which the store has sent a notification since the grant.
    private func neverRedeemed(
        _ query: ReconciliationQuery,
        until: Timestamp
    ) throws(StorageError) -> ([ReconciliationReport.Grant], ReconciliationQuery.Progress<UniqueID>) {
        let last: UniqueID
        switch query.position.neverRedeemed {
        case .start: last = .first(at: until)
        case .after(let grantID): last = grantID
        case .end: return ([], .end)
        }
        let grants = try connection.all(
            SQL(
                Self.unusedGrants,
                .blob(try firstGrant(from: query.from)),
                .blob(last.bytes),
                .integer(Int64(query.limit) + 1)
            )
        ) { row in
            ReconciliationReport.Grant(
                place: ReconciliationReport.AppInStore(store: row.text(0), app: row.text(1)),
                productID: row.text(2),
                basePlanID: row.optionalText(3),
                offerID: row.text(4),
                rule: row.text(5),
                grantID: UniqueID(bytes: row.blob(6)) ?? last,
                grantedAt: Timestamp(milliseconds: row.integer(7)),
                account: row.optionalBlob(8),
                entryIndex: row.integer(9)
            )
        }
        let page = Array(grants.prefix(query.limit))
        guard grants.count > page.count, let grantID = page.last?.grantID else { return (page, .end) }
        return (page, .after(grantID))
    }

    private static let unusedGrants: StaticString = """
        SELECT offers.store, offers.store_app, product_id, base_plan_id, offer_id, rule, issued.grant_id, granted_at,
            account, entry_index
        FROM issued_grants AS issued
        JOIN granted_offers AS offers ON offers.offer_key = issued.offer_key
        JOIN notified_apps AS apps ON apps.store = offers.store AND apps.store_app = offers.store_app
        WHERE issued.grant_id >= ? AND issued.grant_id < ? AND granted_at <= last_report_at
            AND NOT EXISTS (SELECT 1 FROM redemptions AS uses WHERE uses.grant_id = issued.grant_id)
        ORDER BY issued.grant_id DESC LIMIT ?
        """

    /// The result of the grants of a span, by app: all grants, less those that were used.
    package func settled(
        from: Timestamp,
        until: Timestamp
    ) throws(StorageError) -> [ReconciliationReport.Settled] {
        let span: [SQLValue] = [.blob(try firstGrant(from: from)), .blob(UniqueID.first(at: until).bytes)]
        var settled: [ReconciliationReport.AppInStore: ReconciliationReport.Settled] = [:]
        for (sql, isRedeemed) in [(SQL(Self.issuedByApp, span), false), (SQL(Self.redeemedByApp, span), true)] {
            try connection.rows(sql) { row in
                let place = ReconciliationReport.AppInStore(store: row.text(0), app: row.text(1))
                let lastReportAt = row.optionalInteger(2).map(Timestamp.init(milliseconds:))
                let (all, reported) = (Int(row.integer(3)), Int(row.integer(4)))
                var app = settled[place] ?? ReconciliationReport.Settled(place: place, lastReportAt: lastReportAt)
                app.redeemed += isRedeemed ? all : 0
                app.neverRedeemed += isRedeemed ? -reported : reported
                app.notReported += isRedeemed ? reported - all : all - reported
                settled[place] = app
            }
        }
        return settled.values.sorted { ($0.place.store, $0.place.app) < ($1.place.store, $1.place.app) }
    }

    /// Adds every other app that a store has sent notifications about: it has no grants, but the store is not silent.
    private func withNotified(
        _ settled: [ReconciliationReport.Settled]
    ) throws(StorageError) -> [ReconciliationReport.Settled] {
        var all = settled
        try connection.rows(SQL("SELECT store, store_app, last_report_at FROM notified_apps")) { row in
            let place = ReconciliationReport.AppInStore(store: row.text(0), app: row.text(1))
            let lastReportAt = row.optionalInteger(2).map(Timestamp.init(milliseconds:))
            guard !settled.contains(where: { $0.place == place }) else { return }
            all.append(ReconciliationReport.Settled(place: place, lastReportAt: lastReportAt))
        }
        return all.sorted { ($0.place.store, $0.place.app) < ($1.place.store, $1.place.app) }
    }

    private static let issuedByApp: StaticString = """
        SELECT offers.store, offers.store_app, last_report_at, count(*),
            sum(CASE WHEN granted_at <= last_report_at THEN 1 ELSE 0 END)
        FROM issued_grants AS issued
        JOIN granted_offers AS offers ON offers.offer_key = issued.offer_key
        LEFT JOIN notified_apps AS apps ON apps.store = offers.store AND apps.store_app = offers.store_app
        WHERE issued.grant_id >= ? AND issued.grant_id < ?
        GROUP BY offers.store, offers.store_app, last_report_at
        """

    private static let redeemedByApp: StaticString = """
        SELECT offers.store, offers.store_app, last_report_at, count(*),
            sum(CASE WHEN granted_at <= last_report_at THEN 1 ELSE 0 END)
        FROM issued_grants AS issued
        JOIN granted_offers AS offers ON offers.offer_key = issued.offer_key
        LEFT JOIN notified_apps AS apps ON apps.store = offers.store AND apps.store_app = offers.store_app
        WHERE issued.grant_id IN (SELECT grant_id FROM redemptions WHERE grant_id >= ? AND grant_id < ?)
        GROUP BY offers.store, offers.store_app, last_report_at
        """
}

extension UniqueID {
    /// The smallest UUIDv7 of an instant.
    fileprivate static func first(at instant: Timestamp) -> UniqueID { version7(at: instant, 0, 0) }
}
