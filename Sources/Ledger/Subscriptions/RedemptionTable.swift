// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain
package import Storage

/// The uses that customers made of promotional offers, each with the grant that it came from.
///
/// The rows of all chains that may have used the same grants are drawn anew together whenever one of them changes, so
/// the table follows the evidence and not the order in which it came. Used by one thread, inside an open transaction.
package struct RedemptionTable {
    private let subscriptions: SubscriptionTables
    private let drawing: RedemptionDrawing
    private var connection: any DatabaseConnection { subscriptions.connection }

    /// Grants are looked for among those of the customers of a chain, and of whoever is linked to them.
    package init(_ subscriptions: SubscriptionTables, links: CustomerLinks, _ grants: GrantTable) {
        self.subscriptions = subscriptions
        drawing = RedemptionDrawing(subscriptions: subscriptions, links: links, grants: grants)
    }

    /// A redemption and what it was matched to.
    package struct Entry: Hashable, Sendable {
        /// The use, as evidence shows it.
        package let redemption: Redemption
        /// `nil` if no grant of ours fits: it was made by somebody else's signature, or before this ledger.
        package let grantID: UniqueID?
        /// How the use compares with grants, for metrics, records and reports.
        package let match: RedemptionMatch
        /// What the ledger had before; `nil` of a redemption that is new to it.
        var earlier: EarlierUse?
        /// Whether nothing is new but times, as of a use of which an earlier period became known.
        var isCorrection = false
    }

    /// Brings the rows up to what the evidence shows; answers those that are new or have changed, oldest first.
    ///
    /// They are drawn as of the newest evidence and not as of now: when it arrived makes no difference.
    package func update(
        _ changed: Set<ChainKey>,
        of bundleID: BundleID,
        _ catalog: Catalog
    ) throws(StorageError) -> [Entry] {
        let drawn = try drawing.draw(changed) { catalog.offer(of: $0, in: bundleID) }
        var news: [Entry] = []
        for chain in drawn.chains {
            let known = try rows(of: chain)
            let current = drawn.entries.filter { $0.redemption.key.chain == chain }
                .sorted { $0.redemption.isBefore($1.redemption) }
            let lines = current.map(Line.init)
            // What a use was known as before is that of one use: of several, the oldest.
            var earlier = known
            for line in known where !lines.contains(line) { try remove(line, of: chain) }
            for (entry, line) in zip(current, lines) where !known.contains(line) {
                try insert(line, of: chain, bundleID)
                try count(entry)
                var entry = entry
                let predecessor = line.predecessor(among: earlier, followedBy: lines)
                earlier.removeAll { $0 == predecessor }
                entry.earlier = predecessor?.earlier
                entry.isCorrection = entry.earlier == line.earlier
                news.append(entry)
            }
        }
        return news.sorted { $0.redemption.isBefore($1.redemption) }
    }

    /// Keeps which entry of the audit log tells of a redemption as it is now.
    package func note(_ entryIndex: Int64, of key: RedemptionKey) throws(StorageError) {
        try connection.enqueue(
            SQL(
                "UPDATE app_store_redemptions SET entry_index = ? WHERE chain = ? AND first_transaction = ?",
                .integer(entryIndex),
                .blob(key.chain.bytes),
                .blob(key.firstTransaction?.bytes ?? [])
            )
        )
    }

    /// What a full recomputation finds otherwise than it is kept, by chains; `offer` names what was redeemed and the app
    /// that it is of.
    package func differences(
        _ offer: (Redemption) -> CatalogOffer?
    ) throws(StorageError) -> (compared: Int, differing: [ChainKey]) {
        var differing: [ChainKey] = []
        var seen: Set<ChainKey> = []
        var compared = 0
        for chain in try subscriptions.chainsWithPurchases() where !seen.contains(chain) {
            let drawn = try drawing.draw([chain], offer)
            for chain in drawn.chains where seen.insert(chain).inserted {
                let known = try rows(of: chain)
                let current = drawn.entries.filter { $0.redemption.key.chain == chain }
                compared += max(known.count, current.count)
                if Set(known) != Set(current.map(Line.init)) { differing.append(chain) }
            }
        }
        return (compared, differing)
    }

    /// The grants of an offer to whoever has a chain.
    func grants(of offer: CatalogOffer, to chain: ChainKey) throws(StorageError) -> Set<GrantCandidate> {
        try drawing.grants.candidates(of: [chain.bytes] + drawing.customers(of: chain), offerKey: offer.ledgerKey)
    }

    /// A grant that was used for a chain counts for the chain from then on, whoever will have it.
    private func count(_ entry: Entry) throws(StorageError) {
        guard let grantID = entry.grantID else { return }
        let chain = entry.redemption.key.chain
        for subject in try drawing.customers(of: chain) {
            try drawing.grants.settle(subject)
            drawing.grants.change(chain.bytes)
            let count = try connection.run(
                SQL(
                    """
                    INSERT INTO grants (subject, offer_key, grant_id, entry_index)
                    SELECT ?, offer_key, grant_id, entry_index FROM grants
                    WHERE subject = ? AND grant_id = ? ON CONFLICT DO NOTHING
                    """,
                    .blob(chain.bytes),
                    .blob(subject),
                    .blob(grantID.bytes)
                )
            )
            if count > 0 { return }
        }
    }

    // MARK: - Rows

    /// A row without its chain, the chain's app, and the entry that records it.
    fileprivate struct Line: Hashable {
        let firstTransaction: [UInt8]
        let offerID: String
        let productID: String
        let state: String
        let redeemedAt: Int64
        let settledAt: Int64?
        let refundedAt: Int64?
        let refundedMillipercent: Int64?
        let grantID: [UInt8]?
        let match: String
        let environment: String

        var earlier: EarlierUse {
            EarlierUse(
                state: state,
                refundedAt: refundedAt,
                refundedMillipercent: refundedMillipercent,
                grantID: grantID,
                match: match
            )
        }
    }

    private func rows(of chain: ChainKey) throws(StorageError) -> [Line] {
        try connection.all(
            SQL(
                """
                SELECT first_transaction, offer_id, product_id, state, redeemed_at, settled_at, grant_id, matched_as,
                    environment, refunded_at, refunded_millipercent
                FROM app_store_redemptions WHERE chain = ?
                """,
                .blob(chain.bytes)
            )
        ) { row in
            Line(
                firstTransaction: row.blob(0),
                offerID: row.text(1),
                productID: row.text(2),
                state: row.text(3),
                redeemedAt: row.integer(4),
                settledAt: row.optionalInteger(5),
                refundedAt: row.optionalInteger(9),
                refundedMillipercent: row.optionalInteger(10),
                grantID: row.optionalBlob(6),
                match: row.text(7),
                environment: row.text(8)
            )
        }
    }

    private func remove(_ line: Line, of chain: ChainKey) throws(StorageError) {
        try connection.enqueue(
            SQL(
                "DELETE FROM app_store_redemptions WHERE chain = ? AND first_transaction = ?",
                .blob(chain.bytes),
                .blob(line.firstTransaction)
            )
        )
    }

    private func insert(_ line: Line, of chain: ChainKey, _ bundleID: BundleID) throws(StorageError) {
        let row: [SQLValue] = [
            .blob(chain.bytes),
            .blob(line.firstTransaction),
            .text(line.offerID),
            .text(line.productID),
            .text(line.state),
            .integer(line.redeemedAt),
            line.settledAt.map(SQLValue.integer) ?? .null,
            line.grantID.map(SQLValue.blob) ?? .null,
            .text(line.match),
            .text(bundleID.text),
            .text(line.environment),
            line.refundedAt.map(SQLValue.integer) ?? .null,
            line.refundedMillipercent.map(SQLValue.integer) ?? .null,
        ]
        try connection.insert(row, into: Self.insertion)
    }

    private static let insertion = Insertion(
        into: "app_store_redemptions",
        columns: """
            chain, first_transaction, offer_id, product_id, state, redeemed_at, settled_at, grant_id, matched_as,
            bundle_id, environment, refunded_at, refunded_millipercent
            """
    )
}

extension RedemptionTable.Line {
    fileprivate init(_ entry: RedemptionTable.Entry) {
        let redemption = entry.redemption
        self.init(
            firstTransaction: redemption.key.firstTransaction?.bytes ?? [],
            offerID: redemption.offerID ?? "",
            productID: redemption.productID,
            state: redemption.state.name,
            redeemedAt: redemption.redeemedAt.milliseconds,
            settledAt: redemption.state.settledAt?.milliseconds,
            refundedAt: redemption.refund?.at.milliseconds,
            refundedMillipercent: redemption.refund?.millipercent.map(Int64.init),
            grantID: entry.grantID?.bytes,
            match: entry.match.rawValue,
            environment: redemption.environment.rawValue
        )
    }
}

extension RedemptionTable.Line {
    /// What the ledger had of the same redemption, also under another first transaction, as of a pending one.
    fileprivate func predecessor(among known: [Self], followedBy current: [Self]) -> Self? {
        known.first { $0.firstTransaction == firstTransaction }
            ?? known.first { line in
                line.offerID == offerID && !current.contains { $0.firstTransaction == line.firstTransaction }
            }
    }
}

extension RedemptionTable.Entry {
    /// Whether all that is new is that money was paid back.
    var isRefundAlone: Bool { earlier?.differsByRefund(redemption.refund, in: redemption.state.name) ?? false }
}

extension Redemption.State {
    /// As rows, records and metrics name it.
    package var name: String {
        switch self {
        case .pending: "pending"
        case .redeemed: "redeemed"
        case .converted: "converted"
        case .notConverted: "notConverted"
        case .undone: "undone"
        }
    }

    /// When it ended well or badly.
    package var settledAt: Timestamp? {
        switch self {
        case .pending, .redeemed: nil
        case .converted(let instant), .notConverted(let instant), .undone(let instant): instant
        }
    }
}

extension Catalog {
    /// The offer that was redeemed; `nil` if the catalog has none of that name.
    package func offer(of redemption: Redemption, in bundleID: BundleID) -> CatalogOffer? {
        guard let offerID = redemption.offerID.flatMap({ try? OfferID($0) }) else { return nil }
        return storeOffer(offerID, boughtWith: redemption.productID, in: bundleID)
    }
}
