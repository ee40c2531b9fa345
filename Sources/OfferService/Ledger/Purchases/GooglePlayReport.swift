// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// An app at Google Play, with what its purchases are filed under and compared with.
package struct GooglePlayApp: Sendable {
    /// The name under which the ledger knows it.
    package let name: AppName
    package let packageName: PackageName
    /// Makes keys of tokens, and tells a genuine mark of a grant.
    package let keys: GooglePlayPseudonyms
    /// For the offers that redemptions are of.
    package let offers: any GooglePlayOffers

    /// `nil` if the catalogue has no app of that package.
    package init?(_ packageName: PackageName, _ offers: any GooglePlayOffers, _ pseudonyms: Pseudonyms) {
        guard let name = offers.app(of: packageName) else { return nil }
        self.name = name
        self.packageName = packageName
        self.offers = offers
        keys = GooglePlayPseudonyms(pseudonyms, in: name)
    }
}

/// Something that Google Play told, ready for the ledger: filed under keys, with nothing personal in the clear.
package struct GooglePlayReport: Sendable {
    package let app: GooglePlayApp
    package let history: GooglePlayHistory
    /// Which customer has which purchase.
    package let links: Set<GooglePlayLink>
    /// The message that it came in; `nil` of what was asked for, or sent along.
    package let message: GooglePlayMessage?

    package init(
        app: GooglePlayApp,
        history: GooglePlayHistory,
        links: Set<GooglePlayLink>,
        message: GooglePlayMessage? = nil
    ) {
        self.app = app
        self.history = history
        self.links = links
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
