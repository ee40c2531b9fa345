// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain
package import ServiceRuntime

/// Compares the offers of our catalog with what Google Play lists of each app.
package struct GooglePlayCheck: Sendable {
    private let catalog: Catalog
    private let listing: any GooglePlayListing
    private let hasAccount: @Sendable (PackageName) -> Bool
    private let clock: WallClock

    /// - Parameters:
    ///   - catalog: What is wanted.
    ///   - listing: Asks the store.
    ///   - hasAccount: Whether a service account may ask for an app.
    ///   - clock: For when the store was asked.
    package init(
        catalog: Catalog,
        listing: any GooglePlayListing,
        hasAccount: @escaping @Sendable (PackageName) -> Bool,
        clock: WallClock
    ) {
        self.catalog = catalog
        self.listing = listing
        self.hasAccount = hasAccount
        self.clock = clock
    }

    /// Asks for each app in turn, in the order of their names.
    package func report() async -> GooglePlayLintReport {
        var entries: [GooglePlayLintReport.Entry] = []
        for app in catalog.googlePlayApps.values.sorted(by: { $0.packageName.text < $1.packageName.text }) {
            entries.append(GooglePlayLintReport.Entry(packageName: app.packageName, await outcome(app)))
        }
        return GooglePlayLintReport(entries: entries)
    }

    private func outcome(_ app: GooglePlayApp) async -> GooglePlayLintReport.Entry.Outcome {
        guard hasAccount(app.packageName) else { return .noAccount }
        switch await listing.playCatalog(of: app.packageName, at: clock.now()) {
        case .failure(let error): return .notRead(error)
        case .success(let playCatalog):
            let wanted = catalog.wantedOffers(of: app.packageName)
            return .read(GooglePlayLintReport.Reading(wanted: wanted, hideTags: Set(app.hideTags), in: playCatalog))
        }
    }
}

extension Catalog {
    /// The offers of an app that are to be given at Google Play, in the order of the file.
    package func wantedOffers(of packageName: PackageName) -> [GooglePlayWantedOffer] {
        offers.compactMap { offer in
            guard let key = offer.googlePlay, key.packageName == packageName else { return nil }
            return GooglePlayWantedOffer(id: offer.id, key: key)
        }
    }
}
