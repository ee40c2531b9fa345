// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// A report of the App Store, ready for the ledger: filed under keys, with nothing personal in the clear.
package struct SubscriptionReport: Sendable {
    /// The app that the report is about.
    package let bundleID: BundleID
    /// The epoch of the secret that made the keys.
    package let epoch: String
    /// The chains, by their keys.
    package let history: SubscriptionHistory
    /// Which customer has which chain.
    package let links: Set<SubscriptionLink>
    /// The present holders of chains, as this report shows them; the customer that a caller names precedes the account.
    package let holders: [SubscriptionHolder]
    /// Has the offers that redemptions use.
    package let catalog: Catalog
    /// The notification that it came in; `nil` if the service asked for it, or a request sent it.
    package let notification: NotificationReceipt?
    /// What the ledger may have of this report under earlier secrets.
    package let rotatedKeys: [RotatedKey]

    /// All keys must be made with the secret of `epoch`.
    package init(
        bundleID: BundleID,
        epoch: String,
        history: SubscriptionHistory,
        links: Set<SubscriptionLink>,
        holders: [SubscriptionHolder] = [],
        catalog: Catalog,
        notification: NotificationReceipt? = nil,
        rotatedKeys: [RotatedKey] = []
    ) {
        self.bundleID = bundleID
        self.epoch = epoch
        self.history = history
        self.links = links
        self.holders = holders
        self.catalog = catalog
        self.notification = notification
        self.rotatedKeys = rotatedKeys
    }

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
        customers: [CustomerIdentity] = [],
        notification: NotificationReceipt? = nil
    ) {
        var links: Set<SubscriptionLink> = []
        for transaction in evidence.transactions {
            let chain = keys.chainKey(of: transaction.originalTransactionID)
            var names = customers
            if let token = transaction.appAccountToken { names.append(.appAccountToken(token)) }
            if let account = transaction.appTransactionID { names.append(.appTransaction(account)) }
            links.formUnion(names.map { SubscriptionLink(subject: keys.key(of: $0), subscription: chain.bytes) })
            for other in transaction.linkedOriginalTransactionIDs {
                let other = keys.chainKey(of: other)
                links.formUnion([chain, other].map { SubscriptionLink(subject: other.bytes, subscription: $0.bytes) })
            }
        }
        self.init(
            bundleID: bundleID,
            epoch: keys.epoch,
            history: evidence.history(keys: keys),
            links: links,
            holders: Self.holders(evidence, keys, customers),
            catalog: catalog,
            notification: notification,
            rotatedKeys: keys.rotatedKeys(of: evidence, customers)
        )
    }

    /// For each chain, the customer that a caller names, and the account that its newest purchase names.
    private static func holders(
        _ evidence: SubscriptionEvidence,
        _ keys: AppPseudonyms,
        _ customers: [CustomerIdentity]
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

/// Identifies a notification of the store.
package struct NotificationReceipt: Hashable, Sendable {
    /// `notificationUUID`; every delivery has the same one.
    package let id: UniqueID
    /// As Apple writes them.
    package let type: String
    /// As Apple writes it; `nil` for a notification without one.
    package let subtype: String?
    /// `signedDate` of the notification.
    package let signedAt: Timestamp
    /// As Apple writes it.
    package let environment: String
    /// What is relayed of it, byte for byte; `nil` if nothing is.
    package var relayedBody: [UInt8]?

    package init(id: UniqueID, type: String, subtype: String?, signedAt: Timestamp, environment: String) {
        self.id = id
        self.type = type
        self.subtype = subtype
        self.signedAt = signedAt
        self.environment = environment
    }
}

/// The result of a report.
package enum Absorption: Hashable, Sendable {
    /// It is on record now.
    case recorded
    /// A notification that was on record already.
    case repeated
}

extension SubscriptionReport {
    /// The keys that were made of names for it; none where there is but one epoch.
    var keysInForce: Set<[UInt8]> { Set(rotatedKeys.map(\.current)) }
}
