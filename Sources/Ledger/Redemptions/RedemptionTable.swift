// SPDX-License-Identifier: Apache-2.0
import OfferDomain
package import Storage

/// The uses that customers made of offers, each with the grant that it came from.
///
/// Google Play shows a developer-determined offer to every device, and a key may be used elsewhere: this service finds
/// the uses without a grant. If a subscription changes, the rows of all subscriptions that may use the same grants are
/// computed again. So the table depends on the evidence, not on its order. Used by one thread, inside an open
/// transaction.
package struct RedemptionTable {
    private let grants: GrantTable
    private let rows: RedemptionRows
    private var matcher: RedemptionMatcher { RedemptionMatcher(rows: rows) }

    /// The table in the database with those grants.
    package init(_ grants: GrantTable) {
        self.grants = grants
        rows = RedemptionRows(connection: grants.connection)
    }

    /// Updates the rows to what the evidence shows; returns the new and the changed uses, oldest first.
    ///
    /// The rows are current as of the newest evidence, not as of now: the time when it arrived makes no difference.
    func update(
        _ changed: some Sequence<[UInt8]>,
        _ source: some RedemptionSource
    ) throws(StorageError) -> [MatchedRedemption] {
        let (subscriptions, uses) = try matcher.matched(changed, source)
        var news: [MatchedRedemption] = []
        for subscription in subscriptions {
            let known = try rows.all(of: subscription)
            let current = uses.filter { $0.use.subscription == subscription }
            let currentRows = current.map(RedemptionRow.init)
            // Each earlier row belongs to one use only: if several uses fit, to the oldest.
            var earlier = known
            for row in known where !currentRows.contains(row) { try rows.remove(row.name, of: subscription) }
            for (var matched, row) in zip(current, currentRows) where !known.contains(row) {
                try rows.insert(row, of: subscription, in: matched.use.store)
                if source.isSure(matched) { try count(matched, source) }
                let predecessor = row.predecessor(among: earlier, followedBy: currentRows, in: matched.use.store)
                earlier.removeAll { $0 == predecessor }
                matched.earlier = predecessor?.earlier
                matched.isCorrection = matched.earlier == row.earlier
                news.append(matched)
            }
        }
        return news.sorted { $0.use.isBefore($1.use) }
    }

    /// Stores the index of the entry that records the present state of the use.
    func note(_ entryIndex: Int64, of use: StoreRedemption) throws(StorageError) { try rows.note(entryIndex, of: use) }

    /// The keys of subscriptions for which a full recomputation differs from the stored rows.
    package func differences(
        _ source: some RedemptionSource
    ) throws(StorageError) -> (compared: Int, differing: [[UInt8]]) {
        var differing: [[UInt8]] = []
        var seen: Set<[UInt8]> = []
        var compared = 0
        for subscription in try source.subscriptions() where !seen.contains(subscription) {
            let (subscriptions, uses) = try matcher.matched([subscription], source)
            for subscription in subscriptions where seen.insert(subscription).inserted {
                // A subscription of another app has no uses here, and rows of that app alone.
                let known = try rows.all(of: subscription).filter { source.app.isEmpty || $0.app == source.app }
                let current = uses.filter { $0.use.subscription == subscription }.map(RedemptionRow.init)
                compared += max(known.count, current.count)
                if Set(known.map(\.withoutApp)) != Set(current.map(\.withoutApp)) { differing.append(subscription) }
            }
        }
        return (compared, differing)
    }

    /// A grant that was used for a subscription counts for it from then on, also if it gets another customer.
    private func count(_ matched: MatchedRedemption, _ source: some RedemptionSource) throws(StorageError) {
        guard let grantID = matched.grantID else { return }
        let subscription = matched.use.subscription
        for subject in try source.subjects(of: subscription) {
            try grants.settle(subject)
            grants.change(subscription)
            let count = try connection.run(
                SQL(
                    """
                    INSERT INTO grants (subject, offer_key, grant_id, entry_index)
                    SELECT ?, offer_key, grant_id, entry_index FROM grants
                    WHERE subject = ? AND grant_id = ? ON CONFLICT DO NOTHING
                    """,
                    .blob(subscription),
                    .blob(subject),
                    .blob(grantID.bytes)
                )
            )
            if count > 0 { return }
        }
    }

    private var connection: any DatabaseConnection { rows.connection }
}
