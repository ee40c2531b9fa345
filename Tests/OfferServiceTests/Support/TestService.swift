// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Foundation
import HTTP
import OfferDomain
import OfferService
import ServiceRuntime
import Storage
import TestSupport
import TransparencyLog

@testable import Ledger
@testable import Stores

/// A ``Service`` in a directory of its own, with a clock that tests move.
///
/// It is the service as the program has it, with other ``Dependencies``, and started by the same list of parts. Those that
/// would do something by themselves, beside what a test does, are left out: ``leftOut``.
final class TestService: Sendable {
    /// Puts something between the committer and a connection that was just opened.
    typealias Wrap = @Sendable (any DatabaseConnection) throws(StorageError) -> any DatabaseConnection

    /// The audit log begins with what a test does: neither secrets nor start nor end are put on record.
    ///
    /// It is neither signed nor verified, and neither clock, seal file nor loops are watched, before a test does that itself.
    static let leftOut: Set<ServicePart.Name> = [
        .secretsOnRecord, .unredeemedGrants, .startOnRecord, .endOnRecord, .signedLog, .logVerification, .sealWatch,
        .pulse,
    ]

    let directory: TemporaryDirectory
    let clock: SettableClock
    let log = LogRecorder()
    /// By the name of the private key's file.
    let publicKeys: [String: PublicKey]
    /// What callers present, by the name of the caller.
    let credentials: [String: String]
    private let wire: Wire
    private let service: Service

    /// Makes everything, and starts its threads.
    init(
        _ wire: Wire = .inProcess,
        _ files: TestFiles = TestFiles(),
        clock: SettableClock = SettableClock(),
        random: (any RandomSource)? = nil,
        maximumWaiting: Int = 4096,
        index format: AuditIndexFormat = AuditIndexFormat(),
        compaction: CompactionOptions = CompactionOptions(),
        wrap: @escaping Wrap = { $0 }
    ) throws {
        directory = try TemporaryDirectory()
        self.wire = wire
        self.clock = clock
        publicKeys = try Self.write(files, into: directory)
        let settings = try Self.settings(in: directory, files)
        let ledger = LedgerAccess(location: settings.database, clock: clock.wallClock)
        credentials = try Self.addCallers(ledger, at: clock.now)
        let random: any RandomSource = if let random { random } else { try SystemRandom() }
        let log = Log(level: .debug, clock: clock.wallClock, sink: log.sink)
        let runtime = Runtime(clock: clock.wallClock, random: random, log: log)
        var dependencies = Self.dependencies(wire, files, runtime, wrap: wrap)
        dependencies.committer.maximumWaiting = maximumWaiting
        dependencies.committer.compaction = compaction
        dependencies.auditIndex = format
        service = try Service(settings: settings, dependencies: dependencies)
        try service.start(without: wire == .loopback ? Self.leftOut : Self.leftOut.union([.server]))
    }

    var settings: Settings { service.settings }
    var loaded: LoadedConfiguration { service.configuration.loaded }
    var ledger: LedgerAccess { service.ledger }
    var metrics: Metrics { service.metrics }
    var traffic: MinuteCounter<UnauthenticatedTraffic> { service.traffic }
    var health: Health { service.health }
    var committer: Committer { service.committer }
    var deliverer: EventDeliverer { service.events }
    var seal: Seal { service.seal }
    var current: CurrentSnapshot { service.current }
    var index: AuditIndex { service.auditIndex }
    var reconciler: Reconciler { service.reconciler }
    var store: AppStore { service.stores.appStore }

    /// The port of the listener for administration; `nil` without one.
    var adminPort: UInt16? { service.adminPort }

    /// Answers what is in flight and ends every thread; does nothing the second time.
    func stop() async {
        await mayBlock { [service] in service.stop() }
    }

    /// Holds the number of services at one time down: each has threads, open files and keys in locked memory.
    static let turnstile = Turnstile(places: 8)

    func path(_ name: String) -> String { directory.path(of: name) }

    /// Reads keys and offers again; blocks.
    func reload() { service.reload() }

    // MARK: - Asking

    func send(_ call: Call) async throws -> Reply {
        guard wire == .loopback else { return Reply(try await service.api.respond(to: call.request).whole()) }
        return try await sendOverLoopback([call], to: service.port)[0]
    }

    /// Sends all of them at the same time.
    func send(_ calls: [Call]) async throws -> [Reply] {
        if wire == .loopback { return try await sendOverLoopback(calls, to: service.port) }
        return await withTaskGroup(of: (Int, Reply).self) { group in
            for (index, call) in calls.enumerated() {
                group.addTask { [api = service.api] in (index, Reply(await api.respond(to: call.request))) }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// A request for a signature, with `body` unchanged.
    func call(as caller: String = "backend", _ body: String) -> Call {
        var call = Call(body: Array(body.utf8)).with("Content-Type", "application/json")
        if let credential = credentials[caller] { call = call.with("Authorization", "Bearer \(credential)") }
        return call
    }

    /// A request for a signature to a customer who has subscribed before; `members` are more of them, without braces.
    func call(as caller: String = "backend", offer: String, _ members: String = "") -> Call {
        call(as: caller, offerBody(offer, members))
    }

    /// Asks as the caller of that name, or without a credential if the service has no such caller.
    func get(_ target: String, as caller: String) async throws -> Reply {
        let call = Call.get(target)
        guard let credential = credentials[caller] else { return try await send(call) }
        return try await send(call.with("Authorization", "Bearer \(credential)"))
    }

    func sign(as caller: String = "backend", offer: String, _ members: String = "") async throws -> Reply {
        try await send(call(as: caller, offer: offer, members))
    }

    // MARK: - What is on record

    /// Every entry of the audit log, in order.
    func entries() throws -> [String] {
        var entries: [String] = []
        try AuditReader(connection: try ledger.openForReading()).entries(matching: AuditQuery()) { _, entry in
            entries.append(String(decoding: entry, as: UTF8.self))
        }
        return entries
    }

    /// The entries of that event.
    func entries(_ event: String) throws -> [Tree] {
        try entries().map(Tree.init).filter { $0["ev"] == .text(event) }
    }

    // MARK: - What the service does by itself

    /// Takes callers and key states from the database into force, as the service does once a second.
    func refresh() throws {
        try service.configuration.refresh(from: try ledger.openForReading())
    }

    /// Signs a checkpoint of what is on record, as the service does twice a second; answers the newest one.
    func publishCheckpoint() async -> SignedCheckpoint? {
        await mayBlock { [checkpoints = service.checkpoints] in
            checkpoints.publish()
            return checkpoints.latest
        }
    }
}

/// The body of a request for an offer of `com.example.app`, for a customer who has subscribed before.
func offerBody(_ offer: String, _ members: String = "") -> String {
    let more = members.isEmpty ? "" : ", \(members)"
    return """
        {"bundleId": "com.example.app", "productId": "pro.monthly", "offerId": "\(offer)", \
        "facts": {"subscribedBefore": true}\(more)}
        """
}

/// Runs `body` beside a service, and stops the service however `body` ends.
func withService(
    _ wire: Wire = .inProcess,
    _ files: TestFiles = TestFiles(),
    clock: SettableClock = SettableClock(),
    random: (any RandomSource)? = nil,
    maximumWaiting: Int = 4096,
    index: AuditIndexFormat = AuditIndexFormat(),
    compaction: CompactionOptions = CompactionOptions(),
    wrap: @escaping TestService.Wrap = { $0 },
    _ body: (TestService) async throws -> Void
) async throws {
    await TestService.turnstile.enter()
    defer { TestService.turnstile.leave() }
    let service = try TestService(
        wire,
        files,
        clock: clock,
        random: random,
        maximumWaiting: maximumWaiting,
        index: index,
        compaction: compaction,
        wrap: wrap
    )
    do {
        try await body(service)
    } catch {
        await service.stop()
        throw error
    }
    await service.stop()
}
