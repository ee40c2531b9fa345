// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// Something that Google Play told, ready for the ledger: filed under keys, with nothing personal in the clear.
package struct GooglePlayReport: Sendable {
    package let app: AppName
    package let packageName: PackageName
    package let history: GooglePlayHistory
    /// Which customer has which purchase.
    package let links: Set<GooglePlayLink>
    /// Tells a genuine mark of a grant.
    package let keys: GooglePlayPseudonyms
    /// For the offers that redemptions are of.
    package let offers: any GooglePlayOffers
    /// The message that it came in; `nil` of what was asked for, or sent along.
    package let message: GooglePlayMessage?

    package init(
        app: AppName,
        packageName: PackageName,
        history: GooglePlayHistory,
        links: Set<GooglePlayLink>,
        keys: GooglePlayPseudonyms,
        offers: any GooglePlayOffers,
        message: GooglePlayMessage? = nil
    ) {
        self.app = app
        self.packageName = packageName
        self.history = history
        self.links = links
        self.keys = keys
        self.offers = offers
        self.message = message
    }
}

/// A customer has a purchase.
package struct GooglePlayLink: Hashable, Sendable {
    /// The key of a pseudonym, 16 bytes.
    package let subject: [UInt8]
    package let purchase: PurchaseKey

    package init(subject: [UInt8], purchase: PurchaseKey) {
        self.subject = subject
        self.purchase = purchase
    }
}

/// What of the catalogue Google Play's purchases are compared with.
package protocol GooglePlayOffers: Sendable {
    /// The app of that package; `nil` if the catalogue has none.
    func app(of packageName: PackageName) -> AppName?
    /// The key in the ledger of the offer that the store calls so; `nil` if the catalogue has none.
    func ledgerKey(of offer: GooglePlayOfferPath, in packageName: PackageName) -> Int64?
}

/// Which message of the store it was.
package struct GooglePlayMessage: Hashable, Sendable {
    /// As Pub/Sub numbers it within its topic; the same however often it is delivered.
    package let id: String
    /// As Google names the type of the notification; of one that nobody knows, its number.
    package let type: String
    package let sentAt: Timestamp
    /// Of the purchase that it is about, if it is about one.
    package let environment: StoreEnvironment?

    package init(id: String, type: String, sentAt: Timestamp, environment: StoreEnvironment?) {
        self.id = id
        self.type = type
        self.sentAt = sentAt
        self.environment = environment
    }
}
