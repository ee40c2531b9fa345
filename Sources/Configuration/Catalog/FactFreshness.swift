// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// How old the facts may be that an offer is decided on, and what is done when the store can't be asked for newer ones.
package struct FactFreshness: Hashable, Sendable {
    /// Hours for every fact; `nil` is 24 for signed transactions and API answers, and no limit for the store's
    /// notifications, which hold until the store reports something else.
    package let maximumAgeHours: Int?
    /// Hours to which known facts are good enough while the store doesn't answer; `nil` refuses.
    package let knownAgeHours: Int?

    package init(maximumAgeHours: Int? = nil, knownAgeHours: Int? = nil) {
        self.maximumAgeHours = maximumAgeHours
        self.knownAgeHours = knownAgeHours
    }

    /// The hours that a fact out of this source may be old; `nil` is any number.
    package func limit(for source: FactSource, isStoreDown: Bool) -> Int? {
        let limit: Int? =
            switch source {
            case .statedByCaller, .ledger: nil
            case .notification: maximumAgeHours
            case .signedTransaction, .storeAPI: maximumAgeHours ?? 24
            }
        guard isStoreDown, let limit, let knownAgeHours else { return limit }
        return max(limit, knownAgeHours)
    }
}
