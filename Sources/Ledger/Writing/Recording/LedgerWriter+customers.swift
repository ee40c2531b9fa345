// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import Storage

extension LedgerWriter {
    /// Reads all links and new grants that are not known yet, so that the first request does not wait for that.
    func readLinks() throws(LedgerError) {
        try database(links.refresh())
        try database(grants.log?.refresh())
    }

    /// Links an anonymous customer to the known one that it became; a second time changes nothing.
    package func transfer(_ transfer: CustomerTransfer) throws(LedgerError) -> TransferOutcome {
        try apply([transfer.from, transfer.to].compactMap(RotatedKey.init))
        let (from, to) = (transfer.from.ledgerKey, transfer.to.ledgerKey)
        let earlier = try database(links.link(from: from, to: to))
        if let earlier, earlier.isVouched || !transfer.isVouched {
            return .transferred(at: earlier.linkedAt, isRepeated: true)
        }
        let link = CustomerLinks.Link(subject: to, isVouched: transfer.isVouched)
        if try isAtLimit(from, beside: link, transfer.mostCustomers) { return .tooManyLinks(.from) }
        if try isAtLimit(to, beside: link) { return .tooManyLinks(.to) }
        let entry = try append(.customerTransferred(transfer))
        try database(links.add(from, to: link, at: recordedAt, entry: entry))
        // A redemption of one customer may come from a grant to the other.
        if let bundleID = transfer.app.bundleID {
            let keys = try database(chains.subscriptions(of: from) + chains.subscriptions(of: to))
            try matchRedemptions(of: Set(keys), bundleID, transfer.catalog)
        }
        if let place = transfer.playContext {
            let keys = try database(purchases.subscriptions(of: from) + purchases.subscriptions(of: to))
            try matchRedemptions(of: Set(keys), place)
        }
        return .transferred(at: recordedAt, isRepeated: false)
    }

    /// Whether the subject has reached its limit of links that are vouched for, or not, as this one is.
    ///
    /// Links from users' tokens have their own limit, so they never keep out a backend's link.
    func isAtLimit(
        _ subject: [UInt8],
        beside link: CustomerLinks.Link,
        _ limit: Int = CustomerPolicy.mostLinks
    ) throws(LedgerError) -> Bool {
        try database(links.count(of: subject, isVouched: link.isVouched) >= limit)
    }

    // MARK: - Subscriptions that appear under another account

    /// Notes which customers have the subscriptions, before the links of the report are added.
    func note(_ holders: [SubscriptionHolder], at store: StoreApp) throws(LedgerError) {
        // If a caller names the same customer as before, a new account does not mean another customer: each purchase
        // may have a new token.
        var unmoved: Set<[UInt8]> = []
        for holder in holders {
            let earlier = try database(self.holders.replace(with: holder, at: recordedAt))
            switch earlier {
            case .none, .later: continue
            case .same: if holder.kind == .customer { unmoved.insert(holder.subscription) }
            case .other(let subject, let subscription):
                if unmoved.contains(holder.subscription) { continue }
                try record(
                    SubscriptionTransfer(subscription: subscription, from: subject, to: holder.subject, store: store)
                )
            }
        }
    }

    /// Records the transfer, unless the two are one customer or the subscription was under that account before.
    ///
    /// Grants for the subscription count for the account that has it now, even if a request does not name it.
    private func record(_ transfer: SubscriptionTransfer) throws(LedgerError) {
        if try database(links.areVouched(transfer.from, transfer.to)) { return }
        let customers = SubscriptionCustomers(store: transfer.store.store, connection: connection)
        let isKnown = try database(
            customers.has(SubscriptionLink(subject: transfer.to, subscription: transfer.subscription))
        )
        if isKnown { return }
        let entry = try append(.subscriptionTransferred(transfer))
        let link = CustomerLinks.Link(subject: transfer.to, isVouched: true)
        if try isAtLimit(transfer.to, beside: link) { return }
        try database(links.add(transfer.subscription, to: link, at: recordedAt, entry: entry))
    }
}
