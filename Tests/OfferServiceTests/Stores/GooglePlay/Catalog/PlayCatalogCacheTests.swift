// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Testing

@testable import Ledger
@testable import OfferService
@testable import Stores

@Suite("Google Play: catalogs in memory")
struct PlayCatalogCacheTests {
    let app: PackageName
    let start = Timestamp(milliseconds: 1_782_907_200_123)
    var shelf = PlayCatalogCache(PlayCatalogFreshness(), capacity: 3)

    init() throws {
        app = try PackageName("com.example.app")
    }

    private func playCatalog(readAt: Timestamp) -> PlayCatalog {
        PlayCatalog(packageName: app, readAt: readAt)
    }

    /// Puts one there that was read at the start.
    private mutating func fill() {
        #expect(shelf.take(app, at: start) == .read)
        _ = shelf.settle(app, .success(playCatalog(readAt: start)), askedAt: start)
    }

    @Test
    mutating func `uses a copy for five minutes, then refreshes it once while it is still used`() {
        fill()
        let (young, old) = (start.adding(minutes: 5), start.adding(minutes: 5).adding(milliseconds: 1))
        #expect(shelf.take(app, at: young) == .use(playCatalog(readAt: start)))
        #expect(shelf.take(app, at: old) == .useAndRefresh(playCatalog(readAt: start)))
        #expect(shelf.take(app, at: old) == .use(playCatalog(readAt: start)))
        _ = shelf.settle(app, .success(playCatalog(readAt: old)), askedAt: old)
        #expect(shelf.take(app, at: old.adding(minutes: 5)) == .use(playCatalog(readAt: old)))
        #expect(shelf.take(app, at: old.adding(minutes: 6)) == .useAndRefresh(playCatalog(readAt: old)))
    }

    @Test
    mutating func `uses a copy for a day while the store is down, and pauses after each failure`() {
        fill()
        let failure = StoreError.unavailable(retryAfter: nil)
        let end = start.adding(hours: 24)
        for now in [start.adding(minutes: 6), start.adding(hours: 12), end] {
            #expect(shelf.take(app, at: now) == .useAndRefresh(playCatalog(readAt: start)))
            _ = shelf.settle(app, .failure(failure), askedAt: now)
            #expect(shelf.take(app, at: now.adding(seconds: 0)) == .use(playCatalog(readAt: start)))
        }
        #expect(shelf.take(app, at: end.adding(seconds: 29)) == .refuse(failure))
        #expect(shelf.take(app, at: end.adding(seconds: 30)) == .read)
    }

    @Test
    mutating func `does not ask again at once where there is no copy`() {
        #expect(shelf.take(app, at: start) == .read)
        _ = shelf.settle(app, .failure(.credentialsRefused), askedAt: start)
        #expect(shelf.take(app, at: start.adding(seconds: 29)) == .refuse(.credentialsRefused))
        #expect(shelf.take(app, at: start.adding(seconds: 30)) == .read)
        _ = shelf.settle(app, .success(playCatalog(readAt: start)), askedAt: start)
        #expect(shelf.take(app, at: start.adding(seconds: 31)) == .use(playCatalog(readAt: start)))
    }

    @Test
    mutating func `ignores a reading that was cancelled`() {
        #expect(shelf.take(app, at: start) == .read)
        _ = shelf.settle(app, .failure(.cancelled), askedAt: start)
        #expect(shelf.take(app, at: start) == .read)
    }

    @Test
    mutating func `keeps the copy that was begun later`() {
        fill()
        let later = start.adding(minutes: 6)
        _ = shelf.settle(app, .success(playCatalog(readAt: later)), askedAt: later)
        _ = shelf.settle(app, .success(playCatalog(readAt: start)), askedAt: start)
        #expect(shelf.take(app, at: later) == .use(playCatalog(readAt: later)))
    }

    @Test
    mutating func `takes a copy from the future for old`() {
        fill()
        #expect(shelf.take(app, at: start.adding(minutes: -6)) == .useAndRefresh(playCatalog(readAt: start)))
        #expect(shelf.take(app, at: start.adding(hours: -25)) == .read)
    }

    @Test
    mutating func `holds a limited number of apps, and drops the least recently used one`() throws {
        let apps = try (1...4).map { try PackageName("com.example.app\($0)") }
        for (minute, app) in apps.prefix(3).enumerated() {
            _ = shelf.take(app, at: start.adding(seconds: minute))
            _ = shelf.settle(app, .success(PlayCatalog(packageName: app, readAt: start)), askedAt: start)
        }
        _ = shelf.take(apps[0], at: start.adding(seconds: 10))
        #expect(shelf.take(apps[3], at: start.adding(seconds: 11)) == .read)
        #expect(shelf.places.count == 3)
        #expect(shelf.places[apps[1]] == nil)
        let before = shelf.settle(apps[1], .success(playCatalog(readAt: start)), askedAt: start)
        #expect(before == nil && shelf.places[apps[1]] == nil)
    }
}
