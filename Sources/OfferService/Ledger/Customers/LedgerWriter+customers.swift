// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage

extension LedgerWriter {
    /// Reads what is to be known of all links and new grants, if it isn't known; else the first request would wait for it.
    func readLinks() throws(LedgerError) {
        try database { () throws(StorageError) in
            try links.refresh()
            try grants.refresh()
        }
    }

    /// Links an anonymous customer to the known one that it became; a second time changes nothing.
    package func transfer(_ transfer: CustomerTransfer) throws(LedgerError) -> TransferOutcome {
        let successions = [transfer.from, transfer.to].compactMap(KeySuccession.init)
        try apply(successions)
        try noteInForce(Set(successions.map(\.current)))
        let (from, to) = (transfer.from.ledgerKey, transfer.to.ledgerKey)
        let earlier = try database { () throws(StorageError) in try links.link(from: from, to: to) }
        if let earlier, earlier.isVouched || !transfer.isVouched {
            return .transferred(at: earlier.linkedAt, isRepeated: true)
        }
        if earlier == nil {
            if try isAtLimit(from, transfer.mostCustomers) { return .tooManyLinks(.from) }
            if try isAtLimit(to) { return .tooManyLinks(.to) }
        }
        let entry = try append(.customerTransferred(transfer))
        let link = CustomerLinks.Link(subject: to, isVouched: transfer.isVouched)
        try database { () throws(StorageError) in try links.add(from, to: link, at: recordedAt, entry: entry) }
        // Grants of the one may be those that redemptions of the other came from.
        if let bundleID = transfer.app.bundleID {
            let chains = try database { () throws(StorageError) in
                try subscriptions.chainKeys(of: from).union(subscriptions.chainKeys(of: to))
            }
            try drawRedemptions(of: chains, bundleID, transfer.catalog)
        }
        if let place = transfer.googlePlayPlace {
            let purchases = try database { () throws(StorageError) in
                try googlePlay.purchases(of: from) + googlePlay.purchases(of: to)
            }
            try drawRedemptions(of: Set(purchases), place)
        }
        return .transferred(at: recordedAt, isRepeated: false)
    }

    func isAtLimit(_ subject: [UInt8], _ limit: Int = CustomerLinks.limit) throws(LedgerError) -> Bool {
        try database { () throws(StorageError) in try links.isAtLimit(subject, limit) }
    }

    // MARK: - Subscriptions that appear under another account

    /// Takes note of whose subscriptions are, before the links of the report are added.
    func note(_ holders: [SubscriptionHolder], at store: SubscriptionTransfer.StoreApp) throws(LedgerError) {
        // Where a caller names the customer that it named before, a new account is not another customer's: there may be
        // a new token for each purchase.
        var unmoved: Set<[UInt8]> = []
        for holder in holders {
            let earlier = try database { () throws(StorageError) in
                try self.holders.replace(with: holder, at: recordedAt)
            }
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

    /// Records it unless it is known: the two are one customer, or the subscription was under that account before.
    ///
    /// What was granted for the subscription counts for who has it now, also where a request tells nothing of it.
    private func record(_ transfer: SubscriptionTransfer) throws(LedgerError) {
        let isKnown = try database { () throws(StorageError) in
            if try links.areLinked(transfer.from, transfer.to) { return true }
            return switch transfer.store {
            case .appStore: try subscriptions.isLinked(transfer.to, ChainKey(transfer.subscription))
            case .googlePlay:
                try googlePlay.subjects(of: PurchaseKey(transfer.subscription)).contains(transfer.to)
            }
        }
        if isKnown { return }
        let entry = try append(.subscriptionTransferred(transfer))
        if try isAtLimit(transfer.to) { return }
        try database { () throws(StorageError) in
            let link = CustomerLinks.Link(subject: transfer.to, isVouched: true)
            try links.add(transfer.subscription, to: link, at: recordedAt, entry: entry)
        }
    }
}
