// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage

extension LedgerWriter {
    /// Links an anonymous customer to the known one that it became; a second time changes nothing.
    package func transfer(_ transfer: CustomerTransfer) throws(LedgerError) -> TransferOutcome {
        let (from, to) = (transfer.from.ledgerKey, transfer.to.ledgerKey)
        if let earlier = try database({ () throws(StorageError) in try links.linkedAt(from, to) }) {
            return .transferred(at: earlier, isRepeated: true)
        }
        if try isAtLimit(from) { return .tooManyLinks(.from) }
        if try isAtLimit(to) { return .tooManyLinks(.to) }
        let entry = try append(.customerTransferred(transfer))
        try database { () throws(StorageError) in try links.add(from, to, at: recordedAt, entry: entry) }
        // Grants of the one may be those that redemptions of the other came from.
        let history = try database { () throws(StorageError) in try subscriptions.history(of: [from, to], chains: []) }
        try drawRedemptions(of: history.chains, transfer.bundleID, transfer.catalog)
        return .transferred(at: recordedAt, isRepeated: false)
    }

    private func isAtLimit(_ subject: [UInt8]) throws(LedgerError) -> Bool {
        try database { () throws(StorageError) in try links.isAtLimit(subject) }
    }

    // MARK: - Subscriptions that appear under another account

    /// Takes note of whose chains are, before the links of the report are added.
    func note(_ holders: [SubscriptionHolder], _ bundleID: BundleID) throws(LedgerError) {
        // Where a caller names the customer that it named before, a new account token is not another customer's: there
        // may be a new one for each purchase.
        var unmoved: Set<ChainKey> = []
        for holder in holders {
            let earlier = try database { () throws(StorageError) in
                try self.holders.replace(with: holder, at: recordedAt)
            }
            switch earlier {
            case .none, .later: continue
            case .same: if holder.kind == .customer { unmoved.insert(holder.chain) }
            case .other(let subject):
                if unmoved.contains(holder.chain) { continue }
                try recordTransfer(of: holder.chain, from: subject, to: holder.subject, bundleID)
            }
        }
    }

    /// Records it unless it is known: the two are one customer, or the chain was under that account before.
    ///
    /// What was granted for the chain counts for who has it now, also where a request tells nothing of the chain.
    private func recordTransfer(
        of chain: ChainKey,
        from: [UInt8],
        to: [UInt8],
        _ bundleID: BundleID
    ) throws(LedgerError) {
        let isKnown = try database { () throws(StorageError) in
            if try links.areLinked(from, to) { return true }
            return try subscriptions.isLinked(to, chain)
        }
        if isKnown { return }
        let entry = try append(.subscriptionTransferred(chain, from: from, to: to, bundleID))
        if try isAtLimit(to) { return }
        try database { () throws(StorageError) in try links.add(chain.bytes, to, at: recordedAt, entry: entry) }
    }
}
