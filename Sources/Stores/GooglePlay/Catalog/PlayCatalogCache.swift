// SPDX-License-Identifier: Apache-2.0
import Ledger
import OfferDomain

/// How old what we know of a store's catalog may be.
package struct PlayCatalogFreshness: Hashable, Sendable {
    /// After this time the catalog is read again, while the copy is still used.
    package let refreshedAfterMinutes: Int
    /// While the store can't be read, the copy is used up to this age.
    package let usableForHours: Int
    /// After a failure, the catalog is not read again for this long.
    package let pauseAfterFailureSeconds: Int

    package init(refreshedAfterMinutes: Int = 5, usableForHours: Int = 24, pauseAfterFailureSeconds: Int = 30) {
        self.refreshedAfterMinutes = refreshedAfterMinutes
        self.usableForHours = usableForHours
        self.pauseAfterFailureSeconds = pauseAfterFailureSeconds
    }
}

/// The catalogs in memory, and what to do when one is asked for; pure.
struct PlayCatalogCache: Sendable {
    /// What to do for the caller.
    enum Step: Hashable {
        case use(PlayCatalog)
        /// Use it, and read it again meanwhile.
        case useAndRefresh(PlayCatalog)
        /// There is no usable copy: read it first.
        case read
        /// There is no usable copy, and reading it has just failed.
        case refuse(StoreError)
    }

    struct Failure: Hashable, Sendable {
        let error: StoreError
        let askedAt: Timestamp
    }

    struct Place: Sendable {
        var playCatalog: PlayCatalog?
        /// The last reading's, if it failed.
        var failure: Failure?
        var isRefreshing = false
        var usedAt: Timestamp
    }

    private let freshness: PlayCatalogFreshness
    private let capacity: Int
    private(set) var places: [PackageName: Place] = [:]

    /// Holds the catalogs of `capacity` apps; beyond that, the least recently used one goes.
    init(_ freshness: PlayCatalogFreshness, capacity: Int) {
        self.freshness = freshness
        self.capacity = max(1, capacity)
    }

    mutating func take(_ packageName: PackageName, at now: Timestamp) -> Step {
        var place = places[packageName] ?? Place(usedAt: now)
        place.usedAt = now
        let step = step(place, at: now)
        if case .useAndRefresh = step { place.isRefreshing = true }
        places[packageName] = place
        makeRoom(for: packageName)
        return step
    }

    private func step(_ place: Place, at now: Timestamp) -> Step {
        let isPausing = place.failure.map { age(of: $0.askedAt, at: now) < freshness.pause } ?? false
        guard let playCatalog = place.playCatalog, age(of: playCatalog.readAt, at: now) <= freshness.limit else {
            if let failure = place.failure, isPausing { return .refuse(failure.error) }
            return .read
        }
        let isFresh = age(of: playCatalog.readAt, at: now) <= freshness.refresh
        return isFresh || isPausing || place.isRefreshing ? .use(playCatalog) : .useAndRefresh(playCatalog)
    }

    /// Records the result of a reading that began at `askedAt`, and returns the state before.
    ///
    /// A canceled reading says nothing about the store. Of two catalogs, the one with the later start counts.
    mutating func settle(
        _ packageName: PackageName,
        _ result: Result<PlayCatalog, StoreError>,
        askedAt: Timestamp
    ) -> Place? {
        guard let before = places[packageName] else { return nil }
        var place = before
        place.isRefreshing = false
        switch result {
        case .success(let playCatalog):
            if place.playCatalog.map({ $0.readAt <= playCatalog.readAt }) ?? true { place.playCatalog = playCatalog }
            place.failure = nil
        case .failure(.cancelled): break
        case .failure(let error): place.failure = Failure(error: error, askedAt: askedAt)
        }
        places[packageName] = place
        return before
    }

    private mutating func makeRoom(for newcomer: PackageName) {
        guard places.count > capacity else { return }
        let others = places.filter { $0.key != newcomer }
        guard let oldest = others.min(by: { $0.value.usedAt < $1.value.usedAt }) else { return }
        places[oldest.key] = nil
    }

    /// In milliseconds; after a clock was set back, earlier times count as old, not as recent.
    private func age(of time: Timestamp, at now: Timestamp) -> Int64 {
        abs(now.milliseconds - time.milliseconds)
    }
}

extension PlayCatalogFreshness {
    fileprivate var refresh: Int64 { Int64(refreshedAfterMinutes) * 60_000 }
    fileprivate var limit: Int64 { Int64(usableForHours) * 3_600_000 }
    fileprivate var pause: Int64 { Int64(pauseAfterFailureSeconds) * 1000 }
}
