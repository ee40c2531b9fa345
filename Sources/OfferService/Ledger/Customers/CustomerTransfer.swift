// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// An anonymous customer has become a known one: what one was granted counts for the other from now on.
package struct CustomerTransfer: Sendable {
    package let from: Pseudonym
    package let to: Pseudonym
    package let bundleID: BundleID
    package let callerID: CallerID
    /// For the offers that redemptions are of.
    package let catalog: Catalog

    /// `nil` if the two names are one customer's already: they differ in nothing, or in spelling alone.
    package init?(
        from anonymousID: AnonymousID,
        to customerID: CustomerID,
        bundleID: BundleID,
        callerID: CallerID,
        pseudonyms: Pseudonyms,
        catalog: Catalog
    ) {
        from = pseudonyms.pseudonym(of: .anonymous(anonymousID), in: AppName(bundleID))
        to = pseudonyms.pseudonym(of: .customer(customerID), in: AppName(bundleID))
        guard from != to else { return nil }
        self.bundleID = bundleID
        self.callerID = callerID
        self.catalog = catalog
    }
}

/// What came of a ``CustomerTransfer``, durable if anything was changed.
package enum TransferOutcome: Hashable, Sendable {
    /// They are linked since that instant; `isRepeated` says that they had been linked before.
    case transferred(at: Timestamp, isRepeated: Bool)
    /// One of the two has as many links as anybody may have; nothing was changed.
    case tooManyLinks(CustomerTransfer.Side)
}

extension CustomerTransfer {
    /// One of the two customers.
    package enum Side: Hashable, Sendable {
        case from, to
    }
}
