// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// An event for callers, derived from one entry of the audit log; deriving it again gives the same event.
package struct ServiceEvent: Hashable, Sendable {
    package let type: EventType
    package let position: EventPosition
    /// When the entry was written.
    package let recordedAt: Timestamp
    /// The first 8 bytes, in hexadecimal, of the entry's leaf hash: another log's entry of that index gives another ID.
    package let entryHash: String
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
    private static let mostPerEntry: Int64 = 4

    /// The index of the entry.
    package let index: Int64
    /// Which of the entry's events it is, from 0.
    package let ordinal: Int64

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

    package static func < (one: EventPosition, other: EventPosition) -> Bool { one.number < other.number }
}

/// What an event says beside its type and time, as the entry has it.
package struct EventDetails: Hashable, Sendable {
    package var grantID: UniqueID?
    /// `promotional`, `introductory` or `developerDetermined`.
    package var offerType: String?
    package var store: Store?
    /// The bundle ID of an app in the App Store; of a use at Google Play the ledger's name of the app.
    package var bundleID: String?
    package var packageName: String?
    package var productID: String?
    package var basePlanID: String?
    /// The store's ID of the offer.
    package var offerID: String?
    /// The catalog's own ID of the offer.
    package var rule: String?
    package var environment: String?
    package var state: String?
    package var match: String?
    /// The key of the chain or of the purchase.
    package var subscription: String?
    /// Pseudonyms of the customer.
    package var customers: [String] = []
    package var grantedAt: Timestamp?
    package var redeemedAt: Timestamp?
    package var settledAt: Timestamp?
    package var keyID: String?
    package var cause: String?

    package init() {}

    /// The app as the catalog and callers' scopes name it.
    package func appName(in catalog: Catalog) -> AppName? {
        if let bundleID { return try? AppName(bundleID) }
        guard let package = packageName.flatMap({ try? PackageName($0) }) else { return nil }
        return catalog.ledgerName(of: package)
    }
}
