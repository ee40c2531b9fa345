// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

extension SubscriptionReport {
    /// Files evidence; a transaction that names its buyer by an account token, or by the id that the store gave the
    /// buyer's account in the app, links the buyer to its chain.
    ///
    /// Another chain that the transaction names becomes a customer of both chains, which links the two.
    ///
    /// `customers` are names of a customer that a trusted caller vouches for; they are linked to every chain.
    package init(
        _ evidence: SubscriptionEvidence,
        keys: AppPseudonyms,
        bundleID: BundleID,
        catalog: Catalog,
        customers: [CustomerIdentity] = []
    ) {
        var links: Set<SubscriptionLink> = []
        for transaction in evidence.transactions {
            let chain = keys.chainKey(of: transaction.originalTransactionID)
            var names = customers
            if let token = transaction.appAccountToken { names.append(.appAccountToken(token)) }
            if let account = transaction.appTransactionID { names.append(.appTransaction(account)) }
            links.formUnion(names.map { SubscriptionLink(subject: keys.key(of: $0), subscription: chain.bytes) })
            for other in transaction.linkedOriginalTransactionIDs {
                links.formUnion(SubscriptionLink.links(between: chain.bytes, and: keys.chainKey(of: other).bytes))
            }
        }
        self.init(
            .appStore(evidence.history(keys: keys), bundleID),
            secretVersion: keys.secretVersion,
            catalog: catalog
        )
        self.links = links
        holders = Self.holders(evidence, keys, customers: customers)
        rotatedKeys = keys.rotatedKeys(of: evidence, customers)
    }

    /// For each chain, the customer that a caller names, and the account that its newest purchase names.
    private static func holders(
        _ evidence: SubscriptionEvidence,
        _ keys: AppPseudonyms,
        customers: [CustomerIdentity]
    ) -> [SubscriptionHolder] {
        let customer = customers.first { identity in
            switch identity {
            case .customer, .anonymous: true
            default: false
            }
        }.map(keys.key)
        var newest: [ChainKey: AppStoreTransaction] = [:]
        for transaction in evidence.transactions {
            let chain = keys.chainKey(of: transaction.originalTransactionID)
            guard let known = newest[chain], known.purchasedAt >= transaction.purchasedAt else {
                newest[chain] = transaction
                continue
            }
        }
        return newest.sorted { $0.key < $1.key }.flatMap { chain, transaction in
            let named = customer.map {
                SubscriptionHolder(subscription: chain.bytes, kind: .customer, subject: $0, since: nil)
            }
            let account = transaction.appAccountToken.map { token in
                SubscriptionHolder(
                    subscription: chain.bytes,
                    kind: .account,
                    subject: keys.key(of: .appAccountToken(token)),
                    since: transaction.purchasedAt
                )
            }
            return [named, account].compactMap(\.self)
        }
    }
}
