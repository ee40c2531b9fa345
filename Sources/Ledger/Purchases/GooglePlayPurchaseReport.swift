// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// What purchases of one app at Google Play are filed under and compared with.
package struct PlayContext: Sendable {
    /// The app's package, and the ledger's name of it.
    package let app: GooglePlayApp
    /// Makes keys from tokens, and recognizes a genuine mark of a grant.
    package let keys: GooglePlayPseudonyms
    /// Has the offers that redemptions use.
    package let catalog: Catalog

    package init(_ app: GooglePlayApp, _ pseudonyms: Pseudonyms, _ catalog: Catalog) {
        self.app = app
        self.catalog = catalog
        keys = GooglePlayPseudonyms(pseudonyms, in: app.name)
    }

    /// The offer that the store calls so; `nil` if the catalog has none.
    package func offer(_ path: GooglePlayOfferPath) -> CatalogOffer? {
        guard let offerID = try? GooglePlayOfferID(path.offerID), let basePlanID = try? BasePlanID(path.basePlanID),
            let productID = try? GooglePlayProductID(path.productID)
        else { return nil }
        return catalog.googlePlayStoreOffer(offerID, of: productID, basePlan: basePlanID, in: app.packageName)
    }
}

/// A report of Google Play, ready for the ledger: filed under keys, with nothing personal in the clear.
package struct GooglePlayPurchaseReport: Sendable {
    /// Which app it is of, and the keys that it is filed under.
    package let place: PlayContext
    /// The purchases, by their keys.
    package let history: GooglePlayHistory
    /// Which customer has which purchase, as stated by a caller that the service trusts for this.
    package let links: Set<SubscriptionLink>
    /// Which account each purchase names, in the form of a ``GooglePlayAccountID``.
    package let accounts: Set<SubscriptionLink>
    /// The present holders of purchases, as this report shows them; the customer that a caller names comes first.
    package let holders: [SubscriptionHolder]
    /// The message that it came in; `nil` if the service asked for it, or a request sent it.
    package let message: GooglePlayMessage?
    /// What the ledger may have of this report under earlier secrets.
    package let rotatedKeys: [RotatedKey]

    /// All keys must be made with the secret that `place` has.
    package init(
        place: PlayContext,
        history: GooglePlayHistory,
        links: Set<SubscriptionLink>,
        accounts: Set<SubscriptionLink> = [],
        holders: [SubscriptionHolder] = [],
        message: GooglePlayMessage? = nil,
        rotatedKeys: [RotatedKey] = []
    ) {
        self.place = place
        self.history = history
        self.links = links
        self.accounts = accounts
        self.holders = holders
        self.message = message
        self.rotatedKeys = rotatedKeys
    }
}

extension GooglePlayPurchaseReport {
    /// The same with these keys of customers in place of those of accounts, and without any other account.
    func naming(_ customers: [[UInt8]: [UInt8]]) -> GooglePlayPurchaseReport {
        with(
            history: history,
            accounts: Set(
                accounts.compactMap { account in
                    customers[account.subject].map { SubscriptionLink(subject: $0, subscription: account.subscription) }
                }
            ),
            holders: holders.compactMap { holder in
                guard holder.kind == .account else { return holder }
                return customers[holder.subject].map(holder.named)
            }
        )
    }

    func with(
        history: GooglePlayHistory,
        accounts: Set<SubscriptionLink>,
        holders: [SubscriptionHolder]
    ) -> GooglePlayPurchaseReport {
        GooglePlayPurchaseReport(
            place: place,
            history: history,
            links: links,
            accounts: accounts,
            holders: holders,
            message: message,
            rotatedKeys: rotatedKeys
        )
    }
}

/// Identifies a message of the store.
package struct GooglePlayMessage: Hashable, Sendable {
    /// Pub/Sub's ID of the message within its topic; every delivery has the same one.
    package let id: String
    /// Google's name for the type of the notification; its number if the service does not know the type.
    package let type: String
    /// When Google Play sent it: `eventTimeMillis`.
    package let sentAt: Timestamp
    /// The environment of the purchase that it is about, if any.
    package let environment: StoreEnvironment?
    /// What is relayed of it, byte for byte; `nil` if nothing is.
    package var relayedBody: [UInt8]?

    package init(id: String, type: String, sentAt: Timestamp, environment: StoreEnvironment?) {
        self.id = id
        self.type = type
        self.sentAt = sentAt
        self.environment = environment
    }
}

extension GooglePlayPurchaseReport {
    /// The keys that were made of names for it; none where there is but one epoch.
    ///
    /// An account is named by the purchase itself, as it was called when it was bought, and is not among them.
    var keysInForce: Set<[UInt8]> {
        guard place.keys.hasEarlierEpochs else { return [] }
        return Set(rotatedKeys.map(\.current) + links.map(\.subject))
    }
}
