// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain
import ServiceRuntime
import Synchronization
import Testing

@testable import Ledger
@testable import OfferService
@testable import Stores

/// Gives scripted answers, and counts how often it is asked.
private final class ScriptedListing: GooglePlayListing {
    typealias Answer = Result<[JSONDocument], StoreError>

    private let asked = Mutex(0)
    private let answer: @Sendable (_ index: Int) async -> Answer

    /// - Parameter answer: Given how often the subscriptions were asked for before.
    init(_ answer: @escaping @Sendable (_ index: Int) async -> Answer) {
        self.answer = answer
    }

    var count: Int { asked.withLock { $0 } }

    func subscriptionPages(of packageName: PackageName) async throws(StoreError) -> [JSONDocument] {
        let index = asked.withLock { asked in
            asked += 1
            return asked - 1
        }
        return try await answer(index).get()
    }

    func offerPages(of packageName: PackageName) async throws(StoreError) -> [JSONDocument] { [] }
}

@Suite("Google Play: catalogs", .timeLimit(.minutes(1)))
struct PlayCatalogsTests {
    let app = ListedSample.key.packageName
    let clock = SettableClock()
    let metrics = Metrics()
    let log = LogRecorder()

    private func playCatalogs(_ listing: ScriptedListing) -> PlayCatalogs {
        PlayCatalogs(
            listing: listing,
            metrics: metrics,
            log: Log(level: .info, clock: clock.wallClock, sink: log.sink)
        )
    }

    private func readings(_ outcome: String) -> Int {
        metrics[.catalogReadings(store: "google-play", outcome: outcome)]
    }

    @Test
    func `reads once for all who wait`() async throws {
        let gate = Gate()
        let listing = ScriptedListing { _ in
            await gate.pass()
            return .success([])
        }
        let playCatalogs = playCatalogs(listing)
        let now = clock.now
        try await withThrowingTaskGroup(of: PlayCatalog.self) { group in
            for _ in 0..<20 { group.addTask { try await playCatalogs.current(app, at: now) } }
            try await #require(eventually { listing.count == 1 })
            gate.open()
            for try await playCatalog in group { #expect(playCatalog.readAt == now) }
        }
        #expect(listing.count == 1)
        #expect(readings("read") == 1)
    }

    @Test
    func `answers from an old copy at once, and reads the catalog again meanwhile`() async throws {
        let gate = Gate()
        let listing = ScriptedListing { index in
            if index > 0 { await gate.pass() }
            return .success([])
        }
        let playCatalogs = playCatalogs(listing)
        let first = clock.now
        _ = try await playCatalogs.current(app, at: first)
        clock.advance(seconds: 301)
        // The second reading waits at the gate, but all of these are answered.
        for _ in 0..<10 { #expect(try await playCatalogs.current(app, at: clock.now).readAt == first) }
        try await #require(eventually { listing.count == 2 })
        gate.open()
        try await #require(eventually { readings("read") == 2 })
        #expect(try await playCatalogs.current(app, at: clock.now).readAt == clock.now)
        #expect(listing.count == 2)
    }

    @Test
    func `lives on its copy for a day while Google is down, and says how old it is`() async throws {
        let isDown = Flag(false)
        let listing = ScriptedListing { _ in isDown.isOn ? .failure(.unavailable(retryAfter: nil)) : .success([]) }
        let playCatalogs = playCatalogs(listing)
        let first = clock.now
        _ = try await playCatalogs.current(app, at: first)
        isDown.set(true)
        for hour in 1...24 {
            clock.advance(hours: 1)
            #expect(try await playCatalogs.current(app, at: clock.now).readAt == first)
            try await #require(eventually { readings("unavailable") == hour })
        }
        #expect(gauge("offer_signer_google_play_catalog_age_seconds", playCatalogs) == [86_400])
        #expect(playCatalogs.warnings.map(\.name) == ["google-play-catalog-unread"])
        clock.advance(seconds: 31)
        let error = await failure { try await playCatalogs.current(app, at: clock.now) }
        #expect(error == .unavailable(retryAfter: nil))
        isDown.set(false)
        clock.advance(seconds: 31)
        #expect(try await playCatalogs.current(app, at: clock.now).readAt == clock.now)
        #expect(gauge("offer_signer_google_play_catalog_age_seconds", playCatalogs) == [0])
        #expect(playCatalogs.warnings.isEmpty)
        #expect(log.lines.count { $0.contains("can't be read") } == 1)
        #expect(log.lines.count { $0.contains("can be read again") } == 1)
    }

    @Test
    func `takes an answer that makes no sense for none`() async throws {
        let listing = ScriptedListing { _ in .success((try? JSONDocument(listing: "[]")).map { [$0] } ?? []) }
        let playCatalogs = playCatalogs(listing)
        let error = await failure { try await playCatalogs.current(app, at: clock.now) }
        #expect(error?.label == "bad-answer")
        #expect(readings("bad-answer") == 1)
        // And does not ask again at once.
        _ = await failure { try await playCatalogs.current(app, at: clock.now) }
        #expect(listing.count == 1)
    }

    @Test
    func `counts and logs entries that can't be used`() async throws {
        let page = try JSONDocument(listing: #"{"subscriptions":[{"productId":"premium"},{}]}"#)
        let playCatalogs = playCatalogs(ScriptedListing { _ in .success([page]) })
        #expect(try await playCatalogs.current(app, at: clock.now).unusableCount == 2)
        #expect(gauge("offer_signer_google_play_catalog_entries", playCatalogs) == [0, 2])
        let line = try #require(log.lines.first)
        #expect(line.contains("can't be used") && line.contains(#""entries":2"#))
    }

    @Test
    func `reads on for the others when one who waits goes away`() async throws {
        let gate = Gate()
        let listing = ScriptedListing { _ in
            await gate.pass()
            return .success([])
        }
        let playCatalogs = playCatalogs(listing)
        let now = clock.now
        let leaver = Task { try await playCatalogs.current(app, at: now) }
        try await #require(eventually { listing.count == 1 })
        let stayer = Task { try await playCatalogs.current(app, at: now) }
        leaver.cancel()
        #expect(await failure { try await leaver.value } == .cancelled)
        gate.open()
        #expect(try await stayer.value.readAt == now)
    }

    private func gauge(_ name: String, _ playCatalogs: PlayCatalogs) -> [Double] {
        playCatalogs.gauges(at: clock.now).filter { $0.name == name }.flatMap { $0.samples.map(\.value) }
    }
}
