// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// An event for callers, derived from one entry of the audit log; deriving it again gives the same event.
package struct ServiceEvent: Hashable, Sendable {
    /// What happened.
    package let type: EventType
    /// Where the event is in the order of all.
    package let position: EventPosition
    /// When the entry was written.
    package let recordedAt: Timestamp
    /// The first 8 bytes, in hexadecimal, of the entry's leaf hash: another log's entry of that index gives another ID.
    package let entryHash: String
    /// What happened to what.
    package var details: EventDetails

    /// The same each time, so a caller recognizes a repetition by it.
    package var id: String {
        let entry = "evt_\(position.index)_\(entryHash)"
        return position.ordinal == 0 ? entry : "\(entry)_\(position.ordinal)"
    }
}

/// Where an event is in the order of all.
package struct EventPosition: Hashable, Comparable, Sendable {
    /// More than an entry makes.
    static let mostPerEntry: Int64 = 4

    /// The index of the entry.
    package let index: Int64
    /// Which of the entry's events it is, from 0.
    package let ordinal: Int64

    /// `ordinal` must be below the number of events that an entry may have.
    package init(index: Int64, ordinal: Int64 = 0) {
        self.index = index
        self.ordinal = ordinal
    }

    /// Reads what ``number`` has written.
    package init(number: Int64) {
        self.init(index: number / Self.mostPerEntry, ordinal: number % Self.mostPerEntry)
    }

    /// As one number, in the same order.
    package var number: Int64 { index * Self.mostPerEntry + ordinal }

    /// The order of the log.
    package static func < (one: EventPosition, other: EventPosition) -> Bool { one.number < other.number }
}

/// What an event says beside its type and time, as the entry has it.
package struct EventDetails: Hashable, Sendable {
    /// The grant; `nil` of a use that no grant fits, and of events of the service.
    package var grantID: UniqueID?
    /// `promotional`, `introductory` or `developerDetermined`.
    package var offerType: String?
    /// The store that the offer is in; `nil` of events of the service.
    package var store: Store?
    /// The bundle ID of an app in the App Store; of a use at Google Play the ledger's name of the app.
    package var bundleID: String?
    /// The app at Google Play.
    package var packageName: String?
    /// The store's ID of the product.
    package var productID: String?
    /// The base plan at Google Play; `nil` in the App Store.
    package var basePlanID: String?
    /// The store's ID of the offer.
    package var offerID: String?
    /// The catalog's own ID of the offer.
    package var rule: String?
    /// The store's environment that a use was made in, as the store names it.
    package var environment: String?
    /// What came of a use, by the name that records have for it, such as `pending` or `redeemed`.
    package var state: String?
    /// How a use compares with grants: `RedemptionMatch` as records have it.
    package var match: String?
    /// The key of the chain or of the purchase.
    package var subscription: String?
    /// Pseudonyms of the customer.
    package var customers: [String] = []
    /// When the grant was given; `nil` of other events.
    package var grantedAt: Timestamp?
    /// When the offer was used; of a pending use, since when it is pending.
    package var redeemedAt: Timestamp?
    /// When it was known what came of a use; `nil` before.
    package var settledAt: Timestamp?
    /// When money was first paid back without undoing the use.
    package var refundedAt: Timestamp?
    /// How much of the price, in thousandths of a percent.
    package var refundedMillipercent: Int64?
    /// The key that was disabled.
    package var keyID: String?
    /// The cause of a seal: `SealCause` as records have it.
    package var cause: String?

    /// Nothing is known; an event has only some of the members.
    package init() {}

    /// The app as the catalog and callers' scopes name it.
    package func appName(in catalog: Catalog) -> AppName? {
        if let bundleID { return try? AppName(bundleID) }
        guard let package = packageName.flatMap({ try? PackageName($0) }) else { return nil }
        return catalog.ledgerName(of: package)
    }
}
