// SPDX-License-Identifier: Apache-2.0
package import JSON
package import OfferDomain

/// Reads all pages of what Google Play lists of an app, complete or not at all.
package protocol GooglePlayListing: Sendable {
    /// The pages of `monetization.subscriptions.list`, in whatever order; none for an empty answer.
    func subscriptionPages(of packageName: PackageName) async throws(StoreError) -> [JSONDocument]
    /// The pages of `monetization.subscriptions.basePlans.offers.list` over all subscriptions and base plans.
    func offerPages(of packageName: PackageName) async throws(StoreError) -> [JSONDocument]
}

extension GooglePlayListing {
    /// Both lists, read one after the other.
    func catalogue(
        of packageName: PackageName,
        at now: Timestamp
    ) async -> Result<GooglePlayCatalogue, StoreError> {
        do throws(StoreError) {
            let subscriptions = try await subscriptionPages(of: packageName)
            let offers = try await offerPages(of: packageName)
            return .success(
                try GooglePlayCatalogue(of: packageName, subscriptions: subscriptions, offers: offers, readAt: now)
            )
        } catch {
            return .failure(error)
        }
    }
}

/// What Google Play lists of our apps, at hand.
///
/// Whoever has a copy that can be used never waits: it is read anew behind their back. Only who has none waits, and all
/// of them for the same reading.
package final class GooglePlayCatalogues: Sendable {
    private let listing: any GooglePlayListing
    private let metrics: Metrics
    private let log: Log
    private let shelf: Guarded<CatalogueShelf>
    private let readings = Coalescer<PackageName, GooglePlayCatalogue>()

    /// Reads nothing before it is asked.
    ///
    /// - Parameters:
    ///   - listing: Asks the store.
    ///   - freshness: How old a copy may be.
    ///   - metrics: Counts the readings.
    ///   - log: Told when reading begins and ceases to fail, and of entries that can't be used.
    ///   - capacity: The most apps of which a copy is kept.
    package init(
        listing: any GooglePlayListing,
        freshness: CatalogueFreshness = CatalogueFreshness(),
        metrics: Metrics,
        log: Log,
        capacity: Int = 256
    ) {
        self.listing = listing
        self.metrics = metrics
        self.log = log
        shelf = Guarded(CatalogueShelf(freshness, capacity: capacity))
    }

    /// What the store lists of an app, with the time at which it was asked for it.
    ///
    /// - Throws: What kept the store from being read, if there is no copy young enough.
    package func current(
        _ packageName: PackageName,
        at now: Timestamp
    ) async throws(StoreError) -> GooglePlayCatalogue {
        switch shelf.withLock({ $0.take(packageName, at: now) }) {
        case .use(let catalogue): return catalogue
        case .refuse(let error): throw error
        case .read: return try await read(packageName, at: now)
        case .useAndRefresh(let catalogue):
            Task { [self] in _ = try? await read(packageName, at: now) }
            return catalogue
        }
    }

    private func read(_ packageName: PackageName, at now: Timestamp) async throws(StoreError) -> GooglePlayCatalogue {
        try await readings.answer(to: packageName) { [self] in
            let result = await listing.catalogue(of: packageName, at: now)
            settle(packageName, result, askedAt: now)
            return result
        }
    }

    private func settle(
        _ packageName: PackageName,
        _ result: Result<GooglePlayCatalogue, StoreError>,
        askedAt: Timestamp
    ) {
        let before = shelf.withLock { $0.settle(packageName, result, askedAt: askedAt) }
        let app = LogValue.text(packageName.text)
        switch result {
        case .success(let catalogue):
            metrics.count(.catalogueReadings(store: Self.storeName, outcome: "read"))
            if before?.failure != nil { log(.info, "Google Play's catalog can be read again", ["packageName": app]) }
            let count = catalogue.unusableCount
            guard count > 0, before?.catalogue?.unusableCount != count else { return }
            log(
                .warning,
                "entries of Google Play's catalog can't be used; check --live names them",
                ["packageName": app, "entries": .integer(Int64(count))]
            )
        case .failure(let error):
            metrics.count(.catalogueReadings(store: Self.storeName, outcome: error.label))
            guard error != .cancelled, before?.failure?.error.label != error.label else { return }
            log(
                .warning,
                "Google Play's catalog can't be read",
                ["packageName": app, "reason": .text(error.description)]
            )
        }
    }

    static let storeName = "google-play"
}

extension GooglePlayCatalogues {
    private var places: [PackageName: CatalogueShelf.Place] { shelf.withLock(\.places) }

    /// How old each app's copy is, and how much is in it.
    package func gauges(at now: Timestamp) -> [Gauge] {
        let catalogues = places.values.compactMap(\.catalogue)
        let ages = catalogues.map { catalogue in
            Gauge.Sample(
                Double((now.milliseconds - catalogue.readAt.milliseconds) / 1000),
                labels: [("package", catalogue.packageName.text)]
            )
        }
        let entries = catalogues.flatMap { catalogue in
            let unusable = catalogue.unusableCount
            let all = catalogue.subscriptions.count + catalogue.offers.count + catalogue.strays.count
            return [("usable", all - unusable), ("unusable", unusable)].map { standing, count in
                Gauge.Sample(
                    Double(count),
                    labels: [("package", catalogue.packageName.text), ("standing", standing)]
                )
            }
        }
        return [
            Gauge(
                "offer_signer_google_play_catalogue_age_seconds",
                "Time since Google Play was asked for the subscriptions and offers of an app that are in use",
                ages
            ),
            Gauge(
                "offer_signer_google_play_catalogue_entries",
                "Subscriptions and offers that Google Play lists of an app, by whether they could be understood",
                entries
            ),
        ]
    }

    /// What whoever runs the service should know of; none of it stops the service.
    package var warnings: [Obstacle] {
        places.sorted { $0.key.text < $1.key.text }.compactMap { packageName, place in
            guard let failure = place.failure else { return nil }
            let known =
                place.catalogue.map { "; what is known of it is from \($0.readAt)" } ?? "; nothing is known of it"
            return Obstacle(
                "google-play-catalogue-unread",
                "what Google Play lists of \(packageName) can't be read (\(failure.error.label))\(known)"
            )
        }
    }
}
