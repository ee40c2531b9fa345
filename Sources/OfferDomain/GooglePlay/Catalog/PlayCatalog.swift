// SPDX-License-Identifier: Apache-2.0

/// Everything that Google Play lists for an app: its subscriptions, and the offers of all their base plans.
///
/// It marks entries that can't be understood as unusable, so that they are neither lost nor treated as missing. The
/// order in which entries are added does not matter.
package struct PlayCatalog: Hashable, Sendable {
    /// The app that the service asked about.
    package let packageName: PackageName
    /// When the store was asked; nothing in here is older.
    package let readAt: Timestamp
    /// By the product id that names them in the list.
    package private(set) var subscriptions: [GooglePlayProductID: Listed<GooglePlaySubscription>] = [:]
    /// By the IDs in the answer, except the package name, which is from the request.
    package private(set) var offers: [GooglePlayOfferKey: Listed<GooglePlayOffer>] = [:]
    /// Entries that are too malformed to be named.
    package let strays: [ListingFault]

    /// An empty catalog, to which what an answer lists is added.
    package init(packageName: PackageName, readAt: Timestamp, strays: [ListingFault] = []) {
        self.packageName = packageName
        self.readAt = readAt
        self.strays = strays.sorted()
    }

    /// A catalog of entries that can be used, except those that are listed twice and differ.
    package init(
        packageName: PackageName,
        readAt: Timestamp,
        subscriptions: [GooglePlaySubscription],
        offers: [GooglePlayOffer]
    ) {
        self.init(packageName: packageName, readAt: readAt)
        for subscription in subscriptions { add(.usable(subscription), as: subscription.productID) }
        for offer in offers {
            add(.usable(offer), as: offer.key.offerID, of: offer.key.basePlanID, in: offer.key.productID)
        }
    }

    /// Adds an entry; a second one of the same name that differs makes both unusable.
    package mutating func add(_ subscription: Listed<GooglePlaySubscription>, as productID: GooglePlayProductID) {
        subscriptions[productID] = subscriptions[productID]?.merged(with: subscription) ?? subscription
    }

    /// Adds an entry; a second one of the same ids that differs makes both unusable.
    package mutating func add(
        _ offer: Listed<GooglePlayOffer>,
        as offerID: GooglePlayOfferID,
        of basePlanID: BasePlanID,
        in productID: GooglePlayProductID
    ) {
        let key = GooglePlayOfferKey(
            packageName: packageName,
            productID: productID,
            basePlanID: basePlanID,
            offerID: offerID
        )
        offers[key] = offers[key]?.merged(with: offer) ?? offer
    }

    /// How many entries can't be used, including entries with an unreadable name.
    package var unusableCount: Int {
        subscriptions.values.count { $0.fault != nil } + offers.values.count { $0.fault != nil } + strays.count
    }
}

/// An entry of a list, or why it can't be used.
package enum Listed<Value: Hashable & Sendable>: Hashable, Sendable {
    case usable(Value)
    case unusable(ListingFault)

    /// The entry, if it can be used.
    package var value: Value? {
        if case .usable(let value) = self { value } else { nil }
    }

    /// Why it can't be used; nil if it can.
    package var fault: ListingFault? {
        if case .unusable(let fault) = self { fault } else { nil }
    }

    /// One entry for two of the same name: a list that changes while its pages are read may name an entry twice.
    ///
    /// If the two differ, neither is used, because it is unknown which one is current.
    fileprivate func merged(with other: Listed) -> Listed {
        self == other ? self : .unusable(.listedTwice)
    }
}

/// Why an entry of a list can't be used.
package struct ListingFault: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// RFC 6901 pointer to what is wrong, from the entry on; empty for the whole entry.
    package let place: String
    /// A sentence without its subject and its full stop.
    package let reason: String

    package init(place: String, reason: String) {
        self.place = place
        self.reason = reason
    }

    /// Two entries of one name differ, so neither holds.
    package static let listedTwice = ListingFault(place: "", reason: "is listed twice, and not the same both times")

    /// A sentence without its full stop; its subject is the place, or “it”.
    package var description: String { "\(place.isEmpty ? "it" : place) \(reason)" }

    /// By place, then by reason.
    package static func < (one: ListingFault, other: ListingFault) -> Bool {
        (one.place, one.reason) < (other.place, other.reason)
    }
}
