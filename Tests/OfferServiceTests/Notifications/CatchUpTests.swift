// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Foundation
import OfferDomain
import OfferService
import ServiceRuntime
import Synchronization
import TestSupport
import Testing

@testable import Ledger
@testable import Stores

/// A catch-up beside a running service, with a fake App Store whose history it reads; its pauses move the clock.
private struct CatchUpWorld: Sendable {
    let world: StoreService
    private let caller: CallerID
    private let pauses = Pauses()

    var service: TestService { world.service }
    var store: FakeAppStore { world.store }
    var pausedMilliseconds: [Int64] { pauses.all }

    init(_ world: StoreService) throws {
        self.world = world
        caller = try #require(CallerID("catch-up"))
    }

    /// Puts notifications into the store's history; answers their bodies.
    @discardableResult
    func sent(
        _ count: Int,
        _ type: String = "TEST",
        attempts: [String] = ["TIMED_OUT"],
        in environment: FakeAppStore.Environment? = nil,
        fault: FakeAppStore.Fault? = nil
    ) throws -> [String] {
        try (0..<count).map { _ in
            var notification = FakeAppStore.Notification(type, fault: fault)
            notification.sendAttempts = attempts
            notification.environment = environment
            return try store.signNotification(notification).body
        }
    }

    /// Starts again, as the command does, with its own clock.
    func run(_ environment: StoreEnvironment = .production, onlyFailures: Bool = false) async throws -> CatchUpTally {
        // The fake's time goes on, and the notifications were sent in it.
        let clock = SettableClock(milliseconds: Int64(Date().timeIntervalSince1970 * 1000) + 1000)
        let log = Log(level: .error, clock: clock.wallClock, sink: service.log.sink)
        let stores = try StoreClients(
            service.settings,
            current: service.current,
            committer: service.committer,
            runtime: Runtime(clock: clock.wallClock, random: ScriptedRandom(), metrics: service.metrics, log: log)
        )
        try stores.start()
        let tally = await catchUp(stores, clock, log).run(
            try span(environment, onlyFailures, clock),
            under: service.current.value.evidence
        )
        await mayBlock { stores.stop() }
        return tally
    }

    private func catchUp(_ stores: StoreClients, _ clock: SettableClock, _ log: Log) -> NotificationCatchUp {
        NotificationCatchUp(
            api: stores.appStoreAPI,
            receiver: NotificationReceiver(
                store: stores.appStore,
                committer: service.committer,
                metrics: service.metrics,
                log: log
            ),
            party: .caller(caller),
            clock: clock.wallClock,
            pause: Pause { [pauses] milliseconds in
                pauses.add(milliseconds)
                clock.advance(milliseconds: milliseconds)
            }
        )
    }

    private func span(
        _ environment: StoreEnvironment,
        _ onlyFailures: Bool,
        _ clock: SettableClock
    ) throws -> NotificationCatchUp.Span {
        NotificationCatchUp.Span(
            bundleID: try BundleID("com.example.app"),
            environment: environment,
            since: clock.now.adding(days: -7),
            onlyFailures: onlyFailures
        )
    }

    func recorded() throws -> Int { try service.entries("store.notification").count }

    func asked() throws -> Int { try store.counts().requests(to: .notificationHistory) }
}

private final class Pauses: Sendable {
    private let recorded = Mutex<[Int64]>([])
    var all: [Int64] { recorded.withLock { $0 } }
    func add(_ milliseconds: Int64) { recorded.withLock { $0.append(milliseconds) } }
}

private func withCatchUp(
    asksStore: Bool = true,
    wrap: @escaping TestService.Wrap = { $0 },
    _ body: (CatchUpWorld) async throws -> Void
) async throws {
    try await withStoreService(asksStore: asksStore, wrap: wrap) { try await body(try CatchUpWorld($0)) }
}

extension CatchUpTally {
    fileprivate var storeError: StoreError? {
        if case .store(let error) = obstacle { error } else { nil }
    }

    fileprivate var ledgerError: LedgerError? {
        if case .ledger(let error) = obstacle { error } else { nil }
    }
}

/// Reading the notification history after an outage.
@Suite(.overBothEngines) struct CatchUpTests {
    @Test func `takes in all pages, and of what arrived already nothing`() async throws {
        try await withCatchUp { catchUp in
            let bodies = try catchUp.sent(45)
            for body in bodies.prefix(7) {
                #expect(try await catchUp.service.send(.notification(body)).status == 200)
            }
            let first = try await catchUp.run()
            #expect(first.obstacle == nil && first.recorded == 38 && first.repeated == 7, "\(first)")
            #expect(try catchUp.recorded() == 45)
            #expect(try catchUp.asked() == 3)
            let again = try await catchUp.run()
            #expect(again.obstacle == nil && again.recorded == 0 && again.repeated == 45, "\(again)")
            #expect(try catchUp.recorded() == 45)
            // A notification arrives after catch-up has already recorded it.
            #expect(try await catchUp.service.send(.notification(bodies[44])).status == 200)
            #expect(try catchUp.recorded() == 45)
        }
    }

    @Test func `records the use of the key before the store is asked`() async throws {
        try await withCatchUp { catchUp in
            try catchUp.sent(1)
            _ = try await catchUp.run()
            let events = try catchUp.service.entries().map(Tree.init).compactMap(\.["ev"].text)
            #expect(events == ["store.token", "store.notification"])
            let token = try #require(try catchUp.service.entries("store.token").first)
            let sent = try #require(try catchUp.store.requests().first?.headers["authorization"])
            let parts = sent.dropFirst("Bearer ".count).split(separator: ".")
            let digest = SHA256.digest(of: Array(parts[0...1].joined(separator: ".").utf8))
            #expect(token["digest"] == .text(digest.hex) && token["kid"] == .text("ACTIVE0001"))
        }
    }

    @Test func `notifications from catch-up decide eligibility`() async throws {
        try await withCatchUp(asksStore: true) { catchUp in
            let world = catchUp.world
            let ids = try world.customer([
                .init(.active, startedDaysAgo: 40, offers: [.init(2, "store_open", period: 1)])
            ])
            var notification = FakeAppStore.Notification(
                "SUBSCRIBED",
                "RESUBSCRIBE",
                transactionID: ids.subscriptions[0].originalTransactionID
            )
            notification.sendAttempts = ["NO_RESPONSE"]
            _ = try catchUp.store.signNotification(notification)
            #expect(try await catchUp.run().recorded == 1)
            #expect(try catchUp.service.redemptions() == ["store_open redeemed without grant"])
            let reply = try await world.service.send(world.service.call(world.body("running")))
            #expect(reply.status == 200, "\(reply)")
        }
    }

    @Test func `reads only what could not be delivered, and only of the environment, if that is wanted`() async throws {
        try await withCatchUp { catchUp in
            try catchUp.sent(2, attempts: ["TIMED_OUT", "SUCCESS"])
            try catchUp.sent(3, attempts: ["NO_RESPONSE"])
            try catchUp.sent(4, in: .sandbox)
            #expect(try await catchUp.run(onlyFailures: true).recorded == 3)
            #expect(try await catchUp.run().recorded == 2)
            #expect(try await catchUp.run(.sandbox).recorded == 4)
            let metrics = catchUp.service.metrics
            #expect(metrics[.notifications(type: "TEST", environment: "sandbox", outcome: "recorded")] == 4)
        }
    }

    @Test func `passes over what is not as it must be, and says so`() async throws {
        try await withCatchUp { catchUp in
            try catchUp.sent(3)
            try catchUp.sent(2, fault: .badSignature)
            try catchUp.sent(1, fault: .otherRoot)
            let tally = try await catchUp.run()
            #expect(tally.obstacle == nil && tally.recorded == 3 && tally.read == 6, "\(tally)")
            #expect(tally.refused["wrong-signature"]?.count == 2, "\(tally)")
            #expect(tally.refused.count == 2)
        }
    }

    struct Trouble: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let misbehaviour: FakeAppStore.Misbehaviour
        /// How often; nil for always.
        let times: Int?
        /// The label of what is in the way in the end; nil if nothing is.
        let obstacle: String?
        let recorded: Int
        let pauses: Int
        var mayComeFurtherLater = false
    }

    static let troubles = [
        Trouble(
            testDescription: "a failure that passes",
            misbehaviour: .status(500),
            times: 2,
            obstacle: nil,
            recorded: 25,
            pauses: 2
        ),
        Trouble(
            testDescription: "connections that end",
            misbehaviour: .close,
            times: 3,
            obstacle: nil,
            recorded: 25,
            pauses: 1
        ),
        Trouble(
            testDescription: "a failure that stays",
            misbehaviour: .status(503),
            times: nil,
            obstacle: "unavailable",
            recorded: 0,
            pauses: 4,
            mayComeFurtherLater: true
        ),
        Trouble(
            testDescription: "a key that is refused",
            misbehaviour: .unauthorized,
            times: nil,
            obstacle: "credentials-refused",
            recorded: 0,
            pauses: 0
        ),
        Trouble(
            testDescription: "an unknown app",
            misbehaviour: .error(4_040_003),
            times: nil,
            obstacle: "app-unknown",
            recorded: 0,
            pauses: 0
        ),
        Trouble(
            testDescription: "a limit that ends in a minute",
            misbehaviour: .rateLimit(millisecondsFromNow: 90_000),
            times: 1,
            obstacle: nil,
            recorded: 25,
            pauses: 1
        ),
        Trouble(
            testDescription: "a limit that ends in an hour",
            misbehaviour: .rateLimit(millisecondsFromNow: 3_600_000),
            times: 1,
            obstacle: "rate-limited",
            recorded: 0,
            pauses: 0,
            mayComeFurtherLater: true
        ),
        Trouble(
            testDescription: "a page that leads to itself",
            misbehaviour: .repeatedPage,
            times: nil,
            obstacle: "bad-answer",
            recorded: 20,
            pauses: 0
        ),
        Trouble(
            testDescription: "pages without end",
            misbehaviour: .endlessPages,
            times: nil,
            obstacle: "bad-answer",
            recorded: 20,
            pauses: 0
        ),
        Trouble(
            testDescription: "an answer cut short",
            misbehaviour: .wrongJSON,
            times: nil,
            obstacle: "bad-answer",
            recorded: 0,
            pauses: 0
        ),
        Trouble(
            testDescription: "an answer of another shape",
            misbehaviour: .wrongShape,
            times: nil,
            obstacle: "bad-answer",
            recorded: 0,
            pauses: 0
        ),
    ]

    @Test(.overSQLite, arguments: troubles)
    func `bears with a store in trouble as far as it makes sense, and comes to the end when it is over`(
        trouble: Trouble
    ) async throws {
        try await withCatchUp { catchUp in
            try catchUp.sent(25)
            try catchUp.store.misbehave(trouble.misbehaviour, at: .notificationHistory, times: trouble.times)
            let tally = try await catchUp.run()
            #expect(tally.storeError?.label == trouble.obstacle, "\(tally)")
            #expect(tally.recorded == trouble.recorded, "\(tally)")
            #expect(try catchUp.recorded() == trouble.recorded)
            #expect(tally.mayComeFurtherLater == trouble.mayComeFurtherLater)
            #expect(catchUp.pausedMilliseconds.count == trouble.pauses, "\(catchUp.pausedMilliseconds)")

            try catchUp.store.behave()
            let second = try await catchUp.run()
            #expect(second.obstacle == nil && second.recorded == 25 - trouble.recorded, "\(second)")
        }
    }

    @Test func `ends when the ledger can't be written, with nothing lost`() async throws {
        let faults = Faults()
        try await withCatchUp(wrap: faults.wrap) { catchUp in
            try catchUp.sent(25)
            // The first commit records the token.
            faults.passCommits(1)
            faults.failCommits(Faults.diskFull)
            let tally = try await catchUp.run()
            #expect(tally.ledgerError?.label == LedgerError.database(Faults.diskFull).label, "\(tally)")
            #expect(tally.mayComeFurtherLater)
            let again = try await catchUp.run()
            #expect(again.obstacle == nil && again.recorded + again.repeated == 25, "\(again)")
            #expect(try catchUp.recorded() == 25)
        }
    }

    @Test func `does not query the store if the use of the key can't be recorded, or there is no key`() async throws {
        let faults = Faults()
        try await withCatchUp(wrap: faults.wrap) { catchUp in
            try catchUp.sent(1)
            faults.failCommits(Faults.diskFull)
            #expect(try await catchUp.run().storeError?.label == "cannot-sign")
            #expect(try catchUp.asked() == 0)
        }
        try await withCatchUp(asksStore: false) { catchUp in
            let tally = try await catchUp.run()
            #expect(tally.storeError?.label == "cannot-sign" && !tally.mayComeFurtherLater, "\(tally)")
            #expect(try catchUp.asked() == 0)
        }
    }
}
