// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP
import OfferDomain
import ServiceRuntime
import Storage
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService
@testable import Stores

/// What is sent when nothing is decided in time, and that a repetition gets the same.
@Suite(.overBothEngines) struct RetentionLateTests {
    private static let same: FakeAppStore.Members = [
        "requestIdentifier": "b7a1c1de-0000-4000-8000-00000000000e", "userLocale": "de-DE",
    ]

    @Test func `a repetition gets the message that was sent while the offer was being kept`() async throws {
        let (faults, deadline) = (Faults(), Deadline())
        try await withRetention(changing: { $0.retentionPause = deadline.pause }, wrap: faults.wrap) { world in
            let id = try world.subscriber()
            // The question what was answered before, and the grant; the answer is the third.
            faults.hold(after: 2)
            async let first = world.ask(about: id, changing: Self.same)
            #expect(try await eventually { faults.isCommitting })
            deadline.pass()
            let reply = try await first
            #expect(reply.shown?.answer == "message" && reply.shown?.message == Shown.anythingInGerman, "\(reply)")
            #expect(try world.service.entries("sign.intent").count == 1, "an offer was granted")
            faults.release()
            #expect(try await eventually { try world.keeps(reply) })
            deadline.begin()
            #expect(try await world.ask(about: id, changing: Self.same).body == reply.body)
            #expect(world.count("message", "late") == 1 && world.count("repeated", "repeated") == 1)
            let shown = Metric.retentionOffersShown(environment: "production", offer: "once")
            #expect(world.service.metrics[shown] == 0)
        }
    }

    @Test func `nothing is granted after the message was sent to a request that still waited`() async throws {
        let (faults, deadline) = (Faults(), Deadline())
        try await withRetention(changing: { $0.retentionPause = deadline.pause }, wrap: faults.wrap) { world in
            let id = try world.subscriber()
            // The first transaction asks what was answered before, and the second decides.
            faults.holdBeginning(after: 1)
            async let first = world.ask(about: id, changing: Self.same)
            #expect(try await eventually { faults.isBeginning })
            deadline.pass()
            let reply = try await first
            #expect(reply.shown?.message == Shown.anythingInGerman, "\(reply)")
            faults.releaseBeginning()
            #expect(try await eventually { try world.keeps(reply) })
            #expect(try world.service.entries().isEmpty, "neither granted nor refused")
            deadline.begin()
            #expect(try await world.ask(about: id).shown?.answer == "promotionalOffer", "the cap of one is untouched")
        }
    }

    @Test func `a repetition gets the message that was sent before the request was verified`() async throws {
        let deadline = Deadline()
        try await withRetention(changing: { $0.retentionPause = deadline.pause }) { world in
            let id = try world.subscriber()
            let members = Self.same.merging(["productId": "com.example.weekly"]) { $1 }
            let pool = BusyPool(world.service.store)
            #expect(try await eventually { pool.isBusy })
            async let first = world.ask(about: id, changing: members)
            deadline.pass()
            let reply = try await first
            #expect(reply.shown?.message == Shown.anything, "neither product nor language is known: \(reply)")
            pool.end()
            #expect(try await eventually { try world.keptAnswers().count == 1 })
            deadline.begin()
            #expect(try await world.ask(about: id, changing: members).body == reply.body)
            #expect(
                try await world.ask(about: id, changing: ["productId": "com.example.weekly"]).shown?.message
                    == Shown.weekly
            )
            #expect(try world.service.entries("sign.intent").isEmpty, "nothing is granted that can't be sent")
        }
    }

    @Test func `an answer that came in time stays, though its repetition is late`() async throws {
        let (faults, deadline) = (Faults(), Deadline())
        try await withRetention(changing: { $0.retentionPause = deadline.pause }, wrap: faults.wrap) { world in
            let id = try world.subscriber()
            let reply = try await world.ask(about: id, changing: Self.same)
            #expect(reply.shown?.answer == "promotionalOffer")
            faults.hold()
            async let second = world.ask(about: id, changing: Self.same)
            #expect(try await eventually { faults.isCommitting })
            deadline.pass()
            #expect(try await second.shown?.answer == "message")
            faults.release()
            deadline.begin()
            #expect(try await world.ask(about: id, changing: Self.same).body == reply.body)
        }
    }

    // MARK: - What cannot be verified, or waits too long

    @Test func `a message is answered while it is not known whether a certificate has been revoked`() async throws {
        try await withRetention(changing: { $0.settings[.revocationCheck] = "required" }) { world in
            let reply = try await world.ask(about: try world.subscriber(), changing: Self.same)
            #expect(reply.shown?.answer == "message" && reply.shown?.message == Shown.anything, "\(reply)")
            #expect(world.count("message", "not-verified") == 1)
            #expect(try world.service.entries().isEmpty && world.keptAnswers().isEmpty)
        }
    }

    @Test func `a message is answered while forgeries flood the service, and an offer after it`() async throws {
        try await withRetention { world in
            let id = try world.subscriber()
            let forged = Call.retention(try world.store.signRealtimeRequest(id, fault: .otherRoot).body)
            let replies = try await world.service.send(Array(repeating: forged, count: 200))
            let unverified = replies.count { $0.shown?.answer == "message" && $0.shown?.message == Shown.anything }
            #expect(unverified > 0, "no more than 64 wait for one address")
            #expect(replies.count { $0.problem == "invalid-signed-data" } == 200 - unverified)
            #expect(world.count("message", "not-verified") == unverified)
            #expect(try world.service.entries().isEmpty && world.keptAnswers().isEmpty)
            #expect(try await world.ask(about: id).shown?.answer == "promotionalOffer")
        }
    }

    @Test func `a message is answered while too much waits to be recorded`() async throws {
        let faults = Faults()
        try await withRetention(maximumWaiting: 5, wrap: faults.wrap) { world in
            let ids = try (0..<7).map { try world.subscriber("customer\($0)") }
            faults.hold()
            let first = Task { try await world.ask(about: ids[0]) }
            #expect(try await eventually { faults.isCommitting })
            let others = ids[1...5].map { id in Task { try await world.ask(about: id) } }
            #expect(try await eventually { world.service.committer.waiting == 5 })
            let reply = try await world.ask(about: ids[6])
            #expect(reply.shown?.answer == "message" && reply.shown?.message == Shown.anything, "\(reply)")
            #expect(world.count("message", "overloaded") == 1)
            faults.release()
            for task in [first] + others { #expect(try await task.value.shown != nil) }
            #expect(try await world.ask(about: ids[6]).shown?.answer == "promotionalOffer")
        }
    }
}

/// A time to answer in that is over when a test says so.
final class Deadline: Sendable {
    private let isOver = Guarded(false)

    var pause: Pause {
        Pause { [self] _ in
            while !isOver.withLock({ $0 }), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(2)) }
        }
    }

    /// The time of each request that waits is over, and of those to come.
    func pass() { isOver.withLock { $0 = true } }

    /// Requests have time again.
    func begin() { isOver.withLock { $0 = false } }
}

/// Keeps every thread that verifies from doing so.
private final class BusyPool: Sendable {
    private let threads = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)
    private let started = Guarded(0)
    private let gate = DispatchSemaphore(value: 0)

    init(_ store: AppStore) {
        for _ in 0..<threads {
            Task { [self] in
                // More pieces than are ever verified elsewhere.
                _ = await store.verifying([[], [], []], for: .service) { [self] in
                    started.withLock { $0 += 1 }
                    gate.wait()
                }
            }
        }
    }

    var isBusy: Bool { started.withLock { $0 } == threads }

    func end() { for _ in 0..<threads { gate.signal() } }
}

extension StoreService {
    /// The answers to real-time requests that are kept for repetitions.
    func keptAnswers() throws -> [[UInt8]] {
        let sql = SQL("SELECT decision FROM idempotency_keys ORDER BY recorded_at")
        let kept = try service.ledger.openForReading().all(sql) { $0.blob(0) }
        return kept.filter { KeptRetentionAnswer($0).body == nil || $0.starts(with: Array(#"{"message""#.utf8)) }
    }

    /// Whether an answer is kept as it was sent.
    func keeps(_ reply: Reply) throws -> Bool { try keptAnswers().contains(Array(reply.body.utf8)) }
}
