// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// What purchases of one app at Google Play are filed under and compared with.
package struct PlayContext: Sendable {
    /// The app's package, and the ledger's name of it.
    package let app: GooglePlayApp
    /// Makes keys of tokens, and tells a genuine mark of a grant.
    package let keys: GooglePlayPseudonyms
    /// For the offers that redemptions are of.
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

/// Something that Google Play told, ready for the ledger: filed under keys, with nothing personal in the clear.
package struct GooglePlayPurchaseReport: Sendable {
    /// Which app it is of, and the keys that it is filed under.
    package let place: PlayContext
    /// The purchases, by their keys.
    package let history: GooglePlayHistory
    /// Which customer has which purchase, as a caller says who is vouched for.
    package let links: Set<SubscriptionLink>
    /// Which account each purchase names in the form of ours.
    package let accounts: Set<SubscriptionLink>
    /// Whose each purchase is now, as far as this tells; the customer whom a caller names comes before the account.
    package let holders: [SubscriptionHolder]
    /// The message that it came in; `nil` of what was asked for, or sent along.
    package let message: GooglePlayMessage?
    /// What the ledger may have of all that under earlier secrets.
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

/// Which message of the store it was.
package struct GooglePlayMessage: Hashable, Sendable {
    /// As Pub/Sub numbers it within its topic; the same however often it is delivered.
    package let id: String
    /// As Google names the type of the notification; of one that nobody knows, its number.
    package let type: String
    /// When Google Play sent it: `eventTimeMillis`.
    package let sentAt: Timestamp
    /// Of the purchase that it is about, if it is about one.
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
