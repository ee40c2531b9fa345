// SPDX-License-Identifier: Apache-2.0
package import JSON
package import Ledger
package import OfferDomain
package import ServiceRuntime

/// Reads all pages of what Google Play lists of an app, complete or not at all.
package protocol GooglePlayListing: Sendable {
    /// The pages of `monetization.subscriptions.list`, in whatever order; none for an empty answer.
    func subscriptionPages(of packageName: PackageName) async throws(StoreError) -> [JSONDocument]
    /// The pages of `monetization.subscriptions.basePlans.offers.list` over all subscriptions and base plans.
    func offerPages(of packageName: PackageName) async throws(StoreError) -> [JSONDocument]
}

extension GooglePlayListing {
    /// Both lists, read one after the other.
    func playCatalog(
        of packageName: PackageName,
        at now: Timestamp
    ) async -> Result<PlayCatalog, StoreError> {
        do throws(StoreError) {
            let subscriptions = try await subscriptionPages(of: packageName)
            let offers = try await offerPages(of: packageName)
            return .success(
                try PlayCatalog(of: packageName, subscriptions: subscriptions, offers: offers, readAt: now)
            )
        } catch {
            return .failure(error)
        }
    }
}

/// A copy in memory of what Google Play lists of our apps.
///
/// A caller never waits while there is a usable copy: the service reads it again in the background. Without a copy, all
/// callers wait for the same reading.
package final class PlayCatalogs: Sendable {
    private let listing: any GooglePlayListing
    private let metrics: any StoreMetrics
    private let log: Log
    private let cache: Guarded<PlayCatalogCache>
    private let readings = Coalescer<PackageName, PlayCatalog>()

    /// Creates a copy that reads nothing before it is asked.
    ///
    /// - Parameters:
    ///   - listing: Asks the store.
    ///   - freshness: How old a copy may be.
    ///   - metrics: Counts the readings.
    ///   - log: Receives when reading starts and stops to fail, and entries that can't be used.
    ///   - capacity: The maximum number of apps with a copy.
    package init(
        listing: any GooglePlayListing,
        freshness: PlayCatalogFreshness = PlayCatalogFreshness(),
        metrics: any StoreMetrics,
        log: Log,
        capacity: Int = 256
    ) {
        self.listing = listing
        self.metrics = metrics
        self.log = log
        cache = Guarded(PlayCatalogCache(freshness, capacity: capacity))
    }

    /// What the store lists of an app, with the time of the request.
    ///
    /// - Throws: Why the store could not be read, if there is no copy that is recent enough.
    package func current(
        _ packageName: PackageName,
        at now: Timestamp
    ) async throws(StoreError) -> PlayCatalog {
        switch cache.withLock({ $0.take(packageName, at: now) }) {
        case .use(let playCatalog): return playCatalog
        case .refuse(let error): throw error
        case .read: return try await read(packageName, at: now)
        case .useAndRefresh(let playCatalog):
            Task { [self] in _ = try? await read(packageName, at: now) }
            return playCatalog
        }
    }

    private func read(_ packageName: PackageName, at now: Timestamp) async throws(StoreError) -> PlayCatalog {
        try await readings.answer(to: packageName) { [self] in
            let result = await listing.playCatalog(of: packageName, at: now)
            settle(packageName, result, askedAt: now)
            return result
        }
    }

    private func settle(
        _ packageName: PackageName,
        _ result: Result<PlayCatalog, StoreError>,
        askedAt: Timestamp
    ) {
        let before = cache.withLock { $0.settle(packageName, result, askedAt: askedAt) }
        let app = LogValue.text(packageName.text)
        switch result {
        case .success(let playCatalog):
            metrics.count(.catalogReadings(store: Self.storeName, outcome: "read"))
            if before?.failure != nil {
                log(.info, "Google Play's catalog can be read again", with: ["packageName": app])
            }
            let count = playCatalog.unusableCount
            guard count > 0, before?.playCatalog?.unusableCount != count else { return }
            log(
                .warning,
                "entries of Google Play's catalog can't be used; check --live names them",
                with: ["packageName": app, "entries": .integer(Int64(count))]
            )
        case .failure(let error):
            metrics.count(.catalogReadings(store: Self.storeName, outcome: error.label))
            guard error != .cancelled, before?.failure?.error.label != error.label else { return }
            log(
                .warning,
                "Google Play's catalog can't be read",
                with: ["packageName": app, "reason": .text(error.description)]
            )
        }
    }

    static let storeName = "google-play"
}

extension PlayCatalogs {
    private var places: [PackageName: PlayCatalogCache.Place] { cache.withLock(\.places) }

    /// How old each app's copy is, and how much is in it.
    package func gauges(at now: Timestamp) -> [Gauge] {
        let playCatalogs = places.values.compactMap(\.playCatalog)
        let ages = playCatalogs.map { playCatalog in
            Gauge.Sample(
                Double((now.milliseconds - playCatalog.readAt.milliseconds) / 1000),
                labels: [("package", playCatalog.packageName.text)]
            )
        }
        let entries = playCatalogs.flatMap { playCatalog in
            let unusable = playCatalog.unusableCount
            let all = playCatalog.subscriptions.count + playCatalog.offers.count + playCatalog.strays.count
            return [("usable", all - unusable), ("unusable", unusable)].map { state, count in
                Gauge.Sample(
                    Double(count),
                    labels: [("package", playCatalog.packageName.text), ("state", state)]
                )
            }
        }
        return [
            Gauge(
                "offer_signer_google_play_catalog_age_seconds",
                help: "Time since Google Play was asked for the subscriptions and offers of an app that are in use",
                ages
            ),
            Gauge(
                "offer_signer_google_play_catalog_entries",
                help: "Subscriptions and offers that Google Play lists of an app, by whether they could be understood",
                entries
            ),
        ]
    }

    /// Problems that the operator should know about; none of them stops the service.
    package var warnings: [Obstacle] {
        places.sorted { $0.key.text < $1.key.text }.compactMap { packageName, place in
            guard let failure = place.failure else { return nil }
            let known =
                place.playCatalog.map { "; what is known of it is from \($0.readAt)" } ?? "; nothing is known of it"
            return Obstacle(
                "google-play-catalog-unread",
                "what Google Play lists of \(packageName) can't be read (\(failure.error.label))\(known)"
            )
        }
    }
}
