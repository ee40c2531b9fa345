// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// What reports of stores and backends are filed under and compared with.
package struct EvidenceContext: Sendable {
    /// Has the apps, and the offers that redemptions use.
    package let catalog: Catalog
    /// Makes the keys that reports are filed under.
    package let pseudonyms: Pseudonyms
    /// The stores whose notifications are relayed.
    package let relayedStores: Set<Store>

    package init(catalog: Catalog, pseudonyms: Pseudonyms, relayedStores: Set<Store> = []) {
        self.catalog = catalog
        self.pseudonyms = pseudonyms
        self.relayedStores = relayedStores
    }
}

extension PlayContext {
    /// `nil` if the catalog has no app of that package.
    package init?(_ packageName: PackageName, in context: EvidenceContext) {
        guard let app = context.catalog.googlePlayApps[packageName] else { return nil }
        self.init(app, pseudonyms: context.pseudonyms, catalog: context.catalog)
    }
}
