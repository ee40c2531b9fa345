// SPDX-License-Identifier: Apache-2.0
import Configuration
import JSON
import OfferDomain

/// The app that a request names, in whichever stores it is.
struct PreviewedApp: Sendable {
    let name: AppName
    let bundleID: BundleID?
    let googlePlay: GooglePlayApp?

    /// What the ledger calls what the request names, whether there is such an app or not.
    static func names(_ request: EligibilityRequest, _ catalog: Catalog) -> [(AppName, NamedApp)] {
        [
            request.bundleID.map { (AppName($0), NamedApp.bundle($0)) },
            request.packageName.map { (catalog.ledgerName(of: $0), NamedApp.package($0)) },
        ].compactMap(\.self)
    }

    init(_ request: EligibilityRequest, _ configuration: Snapshot) throws(Refusal) {
        let catalog = configuration.catalog
        if let bundleID = request.bundleID {
            guard catalog.apps[bundleID] != nil else { throw .decision(.unknownOffer(.app)) }
            name = AppName(bundleID)
            self.bundleID = bundleID
            googlePlay = catalog.googlePlayApps.values.first { $0.name == AppName(bundleID) }
            if let packageName = request.packageName, googlePlay?.packageName != packageName {
                throw .decision(.unknownOffer(.package))
            }
            return
        }
        guard let packageName = request.packageName, let app = catalog.googlePlayApps[packageName] else {
            throw .decision(.unknownOffer(.package))
        }
        name = app.name
        googlePlay = app
        bundleID = catalog.apps.keys.first { AppName($0) == app.name }
    }

    /// The offers that are asked for, in each store of the app that the request names, in the order of the catalog.
    func offers(_ request: EligibilityRequest, _ catalog: Catalog) throws(Refusal) -> [CatalogOffer] {
        let ofApp = catalog.offers.filter { offer in
            guard offer.app == name else { return false }
            return switch offer.listing.store {
            case .appStore: request.bundleID != nil
            case .googlePlay: request.packageName != nil
            }
        }
        guard let ids = request.offerIDs else { return ofApp }
        let wanted = Set(ids)
        let found = ofApp.filter { wanted.contains($0.id) }
        for (index, id) in ids.enumerated() where !found.contains(where: { $0.id == id }) {
            let message = "is not in the catalog for this app; expected ids of the offers file, not of a store"
            throw .request(.invalid([Mismatch(pointer: "/offerIds/\(index)", offset: 0, message: message)]))
        }
        return found
    }
}
