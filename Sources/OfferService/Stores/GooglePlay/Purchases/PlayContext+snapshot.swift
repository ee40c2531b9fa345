// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
package import OfferDomain

extension PlayContext {
    /// `nil` if the catalog has no app of that package.
    package init?(_ packageName: PackageName, under snapshot: Snapshot) {
        guard let app = snapshot.catalog.googlePlayApps[packageName] else { return nil }
        self.init(app, pseudonyms: snapshot.pseudonyms, catalog: snapshot.catalog)
    }
}
