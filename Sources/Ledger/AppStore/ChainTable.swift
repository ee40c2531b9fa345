// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
package import Storage

/// What the ledger keeps of the App Store's evidence: chains of purchases with their transactions.
package typealias ChainTable = SubscriptionTable<SubscriptionChain>

extension SubscriptionTable<SubscriptionChain> {
    /// The history of the customers with these names, of the given chains, and of the store accounts that have them.
    ///
    /// `subjects` are pseudonym keys of customers, and of any transaction of theirs. If there are more chains than
    /// ``SubscriptionCustomers/mostSubscriptions``, for example under a name that an app gives to all users, only the
    /// given chains are returned.
    package func history(
        of subjects: [[UInt8]],
        chains: some Sequence<ChainKey>
    ) throws(StorageError) -> SubscriptionHistory {
        let named = Set(chains)
        var history = SubscriptionHistory()
        let keys = try reached(from: named, subjects, &history)
        history.isCutShort = keys.count > SubscriptionCustomers.mostSubscriptions
        for key in history.isCutShort ? named : keys {
            guard let chain = try record(of: key) else { continue }
            history.chains[key] = chain
            history.statusesReadAt = [history.statusesReadAt, chain.statusesReadAt].compactMap(\.self).max()
            history.historyReadAt = [history.historyReadAt, chain.historyCompleteAt].compactMap(\.self).max()
        }
        return history
    }

    /// Some of the chains, and more than ``SubscriptionCustomers/mostSubscriptions``, if there are that many; adds the
    /// links between them.
    private func reached(
        from named: Set<ChainKey>,
        _ subjects: [[UInt8]],
        _ history: inout SubscriptionHistory
    ) throws(StorageError) -> Set<ChainKey> {
        let most = SubscriptionCustomers.mostSubscriptions
        var keys = named
        for subject in subjects { keys.formUnion(try chains(ofCustomerOrTransaction: subject)) }
        // Links are followed to their end; a customer leads to chains, and no chain from there to other customers.
        var (waiting, asked) = (Array(keys), keys)
        while let chain = waiting.popLast(), keys.count <= most {
            // Each may be there twice.
            for (key, isLinked) in try customers.siblings(of: chain.bytes, limit: 2 * (most + 1)) {
                let sibling = ChainKey(key)
                keys.insert(sibling)
                guard isLinked else { continue }
                history.link(chain, sibling)
                if asked.insert(sibling).inserted { waiting.append(sibling) }
            }
        }
        return keys
    }

    /// Whether one of the chains has one of these names, or a transaction of that name.
    package func hasChain(
        of subjects: [[UInt8]],
        among history: SubscriptionHistory
    ) throws(StorageError) -> Bool {
        for subject in subjects {
            let keys = try chains(ofCustomerOrTransaction: subject)
            if keys.contains(where: { history.chains[$0] != nil }) { return true }
        }
        return false
    }

    private func chains(ofCustomerOrTransaction key: [UInt8]) throws(StorageError) -> [ChainKey] {
        try subscriptions(of: key)
            + keys(SQL("SELECT subscription FROM transaction_records WHERE transaction_key = ?", .blob(key)))
    }
}
