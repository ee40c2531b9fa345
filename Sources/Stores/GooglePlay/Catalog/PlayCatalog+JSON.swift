// SPDX-License-Identifier: Apache-2.0
package import JSON
package import Ledger
package import OfferDomain

extension PlayCatalog {
    /// Reads what Google Play lists of an app, all pages of both lists.
    ///
    /// The catalog lists an invalid entry as unusable; unknown members are ignored. A page without a list is an empty
    /// one, which is how Google Play says so.
    ///
    /// Source: Google, [subscriptions.list](https://developers.google.com/android-publisher/api-ref/rest/v3/monetization.subscriptions/list)
    /// and [offers.list](https://developers.google.com/android-publisher/api-ref/rest/v3/monetization.subscriptions.basePlans.offers/list).
    ///
    /// - Throws: `StoreError.badAnswer(reason:)` if a page is no page of such a list; then nothing is known.
    package init(
        of packageName: PackageName,
        subscriptions: [JSONDocument],
        offers: [JSONDocument],
        readAt: Timestamp
    ) throws(StoreError) {
        let subscriptions = try Self.entries("subscriptions", of: subscriptions).map(ListedEntry.subscription)
        let offers = try Self.entries("subscriptionOffers", of: offers).map(ListedEntry.offer)
        self.init(
            packageName: packageName,
            readAt: readAt,
            strays: subscriptions.compactMap(\.stray) + offers.compactMap(\.stray)
        )
        for case .named(let id, let subscription) in subscriptions { add(subscription, as: id) }
        for case .named(let id, let offer) in offers {
            add(offer, as: id.offerID, of: id.basePlanID, in: id.productID)
        }
    }

    private static func entries(_ name: String, of pages: [JSONDocument]) throws(StoreError) -> [JSONValue] {
        var entries: [JSONValue] = []
        for page in pages {
            guard let page = page.root.object else { throw .badAnswer(reason: "a page of \(name) is no object") }
            guard let list = page[name], !list.isNull else { continue }
            guard let list = list.array else { throw .badAnswer(reason: "\(name) is no array") }
            entries += list
        }
        return entries
    }
}

/// What became of one entry of a list.
private enum ListedEntry<Name, Value: Hashable & Sendable> {
    case named(Name, Listed<Value>)
    /// Its IDs can't be read, so it can't be reported to a caller that asks for one.
    case stray(ListingFault)

    var stray: ListingFault? {
        if case .stray(let fault) = self { fault } else { nil }
    }

    init(name: Name?, value: Value?, entry: JSONValue, mismatches: Mismatches) {
        let fault = mismatches.all.first.map { ListingFault($0, in: entry) }
        switch (name, value, fault) {
        case (let name?, let value?, nil): self = .named(name, .usable(value))
        case (let name?, _, let fault): self = .named(name, .unusable(fault ?? .contradiction))
        case (nil, _, let fault): self = .stray(fault ?? .contradiction)
        }
    }
}

extension ListedEntry where Name == GooglePlayProductID, Value == GooglePlaySubscription {
    static func subscription(_ entry: JSONValue) -> ListedEntry {
        let mismatches = Mismatches()
        var reader = PlayCatalogEntryReader(entry, into: mismatches)
        let name = reader.id("productId", as: GooglePlayProductID.self)
        return ListedEntry(
            name: name,
            value: reader.subscription(name),
            entry: entry,
            mismatches: mismatches
        )
    }
}

/// The ids of an offer that lie within its app.
struct OfferPlace {
    let productID: GooglePlayProductID
    let basePlanID: BasePlanID
    let offerID: GooglePlayOfferID
}

extension ListedEntry where Name == OfferPlace, Value == GooglePlayOffer {
    static func offer(_ entry: JSONValue) -> ListedEntry {
        let mismatches = Mismatches()
        var reader = PlayCatalogEntryReader(entry, into: mismatches)
        let ids = (
            reader.id("productId", as: GooglePlayProductID.self),
            reader.id("basePlanId", as: BasePlanID.self),
            reader.id("offerId", as: GooglePlayOfferID.self)
        )
        guard let productID = ids.0, let basePlanID = ids.1, let offerID = ids.2 else {
            return ListedEntry(name: nil, value: nil, entry: entry, mismatches: mismatches)
        }
        let place = OfferPlace(productID: productID, basePlanID: basePlanID, offerID: offerID)
        return ListedEntry(name: place, value: reader.offer(at: place), entry: entry, mismatches: mismatches)
    }
}

extension ListingFault {
    /// A mismatch in an entry, with its location relative to the entry.
    fileprivate init(_ mismatch: Mismatch, in entry: JSONValue) {
        self.init(place: String(mismatch.pointer.dropFirst(entry.pointer.count)), reason: mismatch.message)
    }

    /// Never reported as long as every reader that gives up says why.
    fileprivate static let contradiction = ListingFault(place: "", reason: "contradicts itself")
}
