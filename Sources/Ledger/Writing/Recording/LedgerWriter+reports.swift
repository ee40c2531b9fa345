// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import Storage

extension LedgerWriter {
    /// Merges a store's report into the ledger; each notification only once.
    package func absorb(_ report: SubscriptionReport) throws(LedgerError) -> Absorption {
        if let notification = report.notification {
            guard try database(notifications.remember(notification, of: report.app)) else { return .repeated }
            let index = try append(.notificationReceived(notification, report.app, report.appName))
            try relay(notification.relayedBody, of: report.app.store, entry: index)
            try noteReport(report.app)
            try noteCancellation(report)
        }
        try merge(report)
        return .recorded
    }

    /// Merges stores' reports as a part of another change.
    func merge(_ reports: [Store: SubscriptionReport]) throws(LedgerError) {
        for store in Store.allCases {
            if let report = reports[store] { try merge(report) }
        }
    }

    /// Merges a store's report as a part of another change.
    package func merge(_ report: SubscriptionReport) throws(LedgerError) {
        try apply(report.rotatedKeys)
        switch report.content {
        case .appStore(let history, let bundleID): try merge(history, of: bundleID, report)
        case .googlePlay(let history, let accounts, let place):
            try merge(try withoutForgottenMarks(history), naming: accounts, at: place, report)
        }
    }

    /// After a secret was destroyed, the history without marks of deleted grants, which Google Play keeps reporting.
    private func withoutForgottenMarks(_ history: GooglePlayHistory) throws(LedgerError) -> GooglePlayHistory {
        guard hasForgotten else { return history }
        let known = try database(issued.entries(of: history.purchases.values.compactMap(\.markedGrant)))
        var kept = history
        for (purchase, record) in history.purchases where record.markedGrant.flatMap({ known[$0] }) == nil {
            kept.purchases[purchase]?.mark = nil
        }
        return kept
    }

    private func merge(
        _ history: SubscriptionHistory,
        of bundleID: BundleID,
        _ report: SubscriptionReport
    ) throws(LedgerError) {
        try note(report.holders, at: report.app)
        let purchases = try purchasesWithoutOffer(in: history)
        let changed = try database(chains.merge(history.chains, report.links))
        try matchRedemptions(of: changed, bundleID, report.catalog)
        try noteBoughtWithoutOffer(purchases, of: bundleID, report.catalog)
    }

    /// Accounts that this service did not give out are left out.
    private func merge(
        _ history: GooglePlayHistory,
        naming accounts: Set<SubscriptionLink>,
        at place: PlayContext,
        _ report: SubscriptionReport
    ) throws(LedgerError) {
        let customers = try database(googlePlayAccounts.customers(of: Set(accounts.map(\.subject))))
        let holders = report.holders.compactMap { holder in
            holder.kind == .account ? customers[holder.subject].map(holder.named) : holder
        }
        let links = accounts.compactMap { account in
            customers[account.subject].map { SubscriptionLink(subject: $0, subscription: account.subscription) }
        }
        try note(holders, at: report.app)
        let changed = try database(purchases.merge(history.purchases, report.links.union(links)))
        try matchRedemptions(of: changed, place)
    }

    // MARK: - Redemptions

    /// Updates the redemptions of chains, and others that may come from the same grants, to what is known now.
    func matchRedemptions(
        of chains: Set<ChainKey>,
        _ bundleID: BundleID,
        _ catalog: Catalog
    ) throws(LedgerError) {
        guard !chains.isEmpty else { return }
        let source = AppStoreRedemptions(grants, links: links, of: bundleID, catalog)
        let uses = try matchRedemptions(of: chains.map(\.bytes), source, in: AppName(bundleID))
        try noteClients(of: uses, catalog, in: bundleID)
    }

    /// The same for subscriptions in either store; returns what is new.
    @discardableResult
    func matchRedemptions(
        of subscriptions: [[UInt8]],
        _ source: some RedemptionSource,
        in app: AppName
    ) throws(LedgerError) -> [MatchedRedemption] {
        let uses = try database(redemptions.update(subscriptions, source))
        for matched in uses {
            let index = try append(.redemption(matched, app, namesGrant: try isOfNewestVersion(matched.grantID)))
            try database(redemptions.note(index, of: matched.use))
        }
        newRedemptions += uses
        return uses
    }

    /// Updates the redemptions of purchases, and others that may come from the same grants, to what is known now.
    func matchRedemptions(of purchases: Set<PurchaseKey>, _ place: PlayContext) throws(LedgerError) {
        guard !purchases.isEmpty else { return }
        let source = GooglePlayRedemptions(grants, links: links, at: place)
        try matchRedemptions(of: purchases.map(\.bytes), source, in: place.app.name)
    }
}
