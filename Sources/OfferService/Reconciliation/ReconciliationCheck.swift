// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Ledger
import OfferDomain
package import Storage

/// Recomputes the stored redemptions, from all evidence and all grants.
///
/// It reports stored results that differ; changes nothing. Another catalog may give other results. Used by one thread.
package struct ReconciliationCheck {
    private let connection: any DatabaseConnection
    private let catalog: Catalog
    private let pseudonyms: Pseudonyms

    /// Reads through a connection that may be read-only.
    package init(connection: any DatabaseConnection, catalog: Catalog, pseudonyms: Pseudonyms) {
        self.connection = connection
        self.catalog = catalog
        self.pseudonyms = pseudonyms
    }

    /// What was compared, and what differs.
    package struct Outcome: Hashable, Sendable {
        /// How many redemptions there are.
        package internal(set) var compared = 0
        /// The keys of chains and purchases with stored redemptions that differ from the computed ones, as the audit
        /// log writes them.
        package internal(set) var differing: [String] = []
    }

    /// Compares the whole ledger; blocks the thread meanwhile.
    package func run() throws(StorageError) -> Outcome {
        let (grants, links) = (GrantTable(connection: connection), CustomerLinks(connection: connection))
        let table = RedemptionTable(grants)
        var outcome = Outcome()
        func add(_ found: (compared: Int, differing: [[UInt8]])) {
            outcome.compared += found.compared
            outcome.differing += found.differing.map { AuditEntry.text(ofKey: $0) }
        }
        add(try table.differences(AppStoreRedemptions(grants, links: links, ofAll: catalog)))
        for app in catalog.googlePlayApps.values.sorted(by: { $0.packageName.text < $1.packageName.text }) {
            let place = PlayContext(app, pseudonyms: pseudonyms, catalog: catalog)
            add(try table.differences(GooglePlayRedemptions(grants, links: links, at: place)))
        }
        return outcome
    }
}
