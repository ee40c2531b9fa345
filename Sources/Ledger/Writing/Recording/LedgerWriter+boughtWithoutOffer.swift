// SPDX-License-Identifier: Apache-2.0
import Configuration
import JSON
import OfferDomain
import Storage

extension LedgerWriter {
    /// A purchase that the ledger does not have yet.
    struct NewPurchase {
        let chain: ChainKey
        let record: TransactionRecord
    }

    /// Older purchases are skipped: a whole history has many, and they show nothing about the app's present version.
    private static let newestHours = 48

    /// The reported purchases that are new, recent and carry no offer at all; ask before the report is merged.
    func purchasesWithoutOffer(in history: SubscriptionHistory) throws(LedgerError) -> [NewPurchase] {
        var found: [NewPurchase] = []
        let earliest = recordedAt.adding(hours: -Self.newestHours)
        for (chain, known) in history.chains {
            for (key, record) in known.transactions where record.offerType == nil && record.purchasedAt > earliest {
                guard record.mayLackOffer else { continue }
                let isKnown = try isAnyRow(
                    SQL(
                        "SELECT 1 FROM transaction_records WHERE subscription = ? AND transaction_key = ?",
                        .blob(chain.bytes),
                        .blob(key.bytes)
                    )
                )
                if !isKnown { found.append(NewPurchase(chain: chain, record: record)) }
            }
        }
        return found
    }

    /// Records purchases within minutes of a grant for the same product, if the grant's offer was not redeemed.
    ///
    /// An app may have several offers of a product signed at once. A purchase gives one finding, for the newest grant.
    func noteBoughtWithoutOffer(
        _ purchases: [NewPurchase],
        of bundleID: BundleID,
        _ catalog: Catalog
    ) throws(LedgerError) {
        for purchase in purchases {
            guard let missed = try newestUnusedGrant(before: purchase, of: bundleID, catalog) else { continue }
            let finding = BoughtWithoutOffer(
                grantID: missed.grantID,
                chain: purchase.chain,
                bundleID: bundleID,
                productID: purchase.record.productID,
                offerID: missed.offerID,
                rule: missed.rule,
                environment: purchase.record.environment,
                purchasedAt: purchase.record.purchasedAt,
                client: try client(of: missed.grantID)
            )
            _ = try append(.boughtWithoutOffer(finding, namesGrant: try isOfNewestVersion(missed.grantID)))
            boughtWithoutOffer.append(finding)
        }
    }

    /// A grant that was not used, and the names of its offer.
    private struct UnusedGrant {
        let grantID: UniqueID
        let offerID: String
        let rule: String
    }

    /// The newest unused grant of the minutes before a purchase, among all offers of the product.
    private func newestUnusedGrant(
        before purchase: NewPurchase,
        of bundleID: BundleID,
        _ catalog: Catalog
    ) throws(LedgerError) -> UnusedGrant? {
        let redemptions = AppStoreRedemptions(grants, links: links, of: bundleID, catalog)
        var newest: UnusedGrant?
        for offer in catalog.offers {
            guard let listing = offer.appStore, let offerID = listing.offerID, listing.bundleID == bundleID,
                listing.productID.text == purchase.record.productID,
                let grantID = try unusedGrant(of: offer, before: purchase, redemptions)
            else { continue }
            if let newest, newest.grantID > grantID { continue }
            newest = UnusedGrant(grantID: grantID, offerID: offerID.text, rule: offer.id.text)
        }
        return newest
    }

    /// The newest grant of an offer to the customers of a purchase, of the minutes before it.
    private func unusedGrant(
        of offer: CatalogOffer,
        before purchase: NewPurchase,
        _ redemptions: AppStoreRedemptions
    ) throws(LedgerError) -> UniqueID? {
        let latest = purchase.record.purchasedAt
        let earliest = latest.adding(minutes: -BoughtWithoutOffer.purchaseMinutes)
        let grants = try database(redemptions.grants(of: offer, to: purchase.chain).map(\.id))
        for grantID in grants.sorted(by: >) where grantID.timestamp >= earliest && grantID.timestamp <= latest {
            let isUsed = try isAnyRow(SQL("SELECT 1 FROM redemptions WHERE grant_id = ?", .blob(grantID.bytes)))
            if !isUsed { return grantID }
        }
        return nil
    }

    private func isAnyRow(_ sql: SQL) throws(LedgerError) -> Bool {
        try database(connection.first(sql) { _ in true } ?? false)
    }

    /// Notes the clients that newly redeemed offers were signed for, whatever became of the redemptions since.
    func noteClients(
        of uses: [MatchedRedemption],
        _ catalog: Catalog,
        in bundleID: BundleID
    ) throws(LedgerError) {
        for matched in uses where matched.isNewAsRedeemed {
            guard let grantID = matched.grantID, let offer = catalog.appStoreOffer(of: matched.use, in: bundleID) else {
                continue
            }
            let redemption = ClientRedemption(
                rule: offer.id.text,
                environment: matched.use.environment,
                client: try client(of: grantID)
            )
            redeemedClients.append(redemption)
        }
    }

    /// Library and version that the request for a grant named, as the grant's entry has them.
    private func client(of grantID: UniqueID) throws(LedgerError) -> String? {
        let entry = try database(
            connection.first(
                SQL(
                    """
                    SELECT entry FROM audit_entries JOIN issued_grants ON issued_grants.entry_index = audit_entries.entry_index
                    WHERE grant_id = ?
                    """,
                    .blob(grantID.bytes)
                )
            ) { $0.blob(0) }
        )
        let object = entry.flatMap { (try? JSONDocument($0))?.root.object }
        return ReportedClient(recorded: object?["client"]?.object)?.name
    }

    /// Reports to the observer what a transaction found, once it is durable.
    package func report(to observer: some CommitObserver) {
        for use in newRedemptions where !use.isRefundAlone && !use.isCorrection { observer.recorded(use) }
        for finding in boughtWithoutOffer { observer.recorded(finding) }
        for redemption in redeemedClients { observer.recorded(redemption) }
        for outcome in retentionOutcomes { observer.recorded(outcome) }
    }
}
