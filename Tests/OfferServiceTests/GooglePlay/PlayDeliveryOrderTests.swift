// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import ServiceRuntime
import TestSupport
import Testing

@testable import Ledger
@testable import Stores

/// However messages arrive, they leave the same.
@Suite(.overBothEngines) struct PlayDeliveryOrderTests {
    /// The messages of a few weeks: three customers, chains, marks that are passed on, refunds, and what is gone.
    private struct Story {
        var samples: [String: [PlaySample]] = [:]
        var messages: [(text: String, token: String)] = []

        mutating func tell(_ token: String, _ type: Int, _ sample: PlaySample) {
            samples[token, default: []].append(sample)
            messages.append((PlayService.change(type, token, sentDaysAgo: Double(40 - messages.count)), token))
        }
    }

    private static func story(_ world: PlayService) throws -> Story {
        let grants = (
            anna: try world.grant(to: "anna", daysAgo: 30), bert: try world.grant(to: "bert", daysAgo: 20),
            again: try world.grant(to: "anna", daysAgo: 6)
        )
        func sample(
            _ state: String,
            _ customer: String,
            daysAgo: Double,
            _ change: (inout PlaySample) -> Void = { _ in }
        ) throws -> PlaySample {
            let accountID = try world.accountID(customer)
            return PlaySample(
                state,
                .init {
                    $0.offer = "winback-50"; $0.phase = "introductoryPrice"
                }
            ) {
                $0.startedDaysAgo = daysAgo
                $0.accountID = accountID
                change(&$0)
            }
        }
        let mark = try world.mark(grants.bert)
        var story = Story()
        story.tell("a1", 4, try sample("ACTIVE", "anna", daysAgo: 29))
        story.tell("a1", 2, try sample("ACTIVE", "anna", daysAgo: 29) { $0.items[0].phase = "basePrice" })
        story.tell("a1", 3, try sample("EXPIRED", "anna", daysAgo: 29) { $0.cancellation = "replacementCancellation" })
        story.tell(
            "a2",
            4,
            try sample("ACTIVE", "anna", daysAgo: 19) {
                $0.linked = "a1"; $0.items[0].offer = nil
            }
        )
        story.tell("b1", 4, try sample("PENDING", "bert", daysAgo: 18) { $0.profileID = mark })
        story.tell("b1", 4, try sample("ACTIVE", "bert", daysAgo: 18) { $0.profileID = mark })
        story.tell("b1", 12, try sample("EXPIRED", "bert", daysAgo: 18) { $0.profileID = mark })
        story.tell("c1", 4, try sample("ACTIVE", "cleo", daysAgo: 17) { $0.profileID = mark })
        story.tell("c2", 4, try sample("ACTIVE", "cleo", daysAgo: 7) { $0.linked = "c1" })
        story.tell(
            "a3",
            4,
            try sample("ACTIVE", "anna", daysAgo: 5) { $0.items.append(.init { $0.offer = "stay-20" }) }
        )
        story.tell("a4", 4, try sample("ACTIVE", "anna", daysAgo: 4))
        story.messages.append((PlayService.voided("b1", sentDaysAgo: 3), "b1"))
        story.messages.append((PlayService.voided("a1", refundType: 2, sentDaysAgo: 3), "a1"))
        story.messages.append((PlayService.notification(#""testNotification":{}"#), ""))
        return story
    }

    /// Each message in any order, one to three times, while the store tells what is so in the end.
    @Test func `twice, late and out of order leaves the same ledger as once and in order`() async throws {
        try await withPlayService { world in
            let story = try Self.story(world)
            for (token, samples) in story.samples { try world.play.answer(token, try #require(samples.last)) }
            let calls = story.messages.enumerated().map { PlayService.push($1.text, id: "\($0)") }
            for call in calls { #expect(try await world.service.send(call).status == 204) }
            let tables = try world.tables()
            #expect(
                try world.redemptions() == [
                    "winback-50 redeemed customer", "winback-50 undone mark", "winback-50 redeemed without grant",
                    "winback-50 redeemed without grant", "stay-20 redeemed without grant",
                    "winback-50 redeemed customer", "winback-50 redeemed without grant",
                ]
            )
            var seeds = SystemRandomNumberGenerator()
            for round in 0..<24 {
                let seed = seeds.next()
                var random = SplitMix(seed: seed)
                let shuffled = calls.flatMap { Array(repeating: $0, count: Int.random(in: 1...3, using: &random)) }
                    .shuffled(using: &random)
                // Every message is new to another service on the same ledger.
                try world.forget()
                let again = try PlayReceiver(world)
                if round % 4 == 0 {
                    let replies = try await again.send(shuffled)
                    #expect(replies.allSatisfy { $0 != nil })
                } else {
                    for call in shuffled { #expect(try await again.send([call]) != [nil]) }
                }
                #expect(try world.tables() == tables, "seed \(seed)")
            }
        }
    }

    /// Each state of each purchase as seen at its time, reported in any order and any grouping.
    @Test func `answers of different age leave the same in any order`() async throws {
        try await withPlayService { world in
            let story = try Self.story(world)
            let place = try world.place
            var reports: [SubscriptionReport] = []
            var seen: [String: Int] = [:]
            for (index, message) in story.messages.enumerated() where !message.token.isEmpty {
                let samples = try #require(story.samples[message.token])
                let sample = samples[min(seen[message.token, default: 0], samples.count - 1)]
                seen[message.token, default: 0] += 1
                let token = try PurchaseToken(message.token)
                var evidence = GooglePlayEvidence(observedAt: PlaySample.now.adding(days: index - 40))
                evidence.purchases = [(token, .purchase(try sample.purchase()))]
                if index % 5 == 0 { evidence.purchases.append((token, .gone(isSuperseded: false))) }
                if message.text.contains(#""notificationType":12"#) {
                    evidence.revocations = [(token, evidence.observedAt)]
                }
                if message.text.contains("voidedPurchase") {
                    evidence.refunds = [(token, Refund(at: evidence.observedAt))]
                }
                reports.append(SubscriptionReport(evidence, place: place))
            }
            func absorb(_ reports: [SubscriptionReport]) async throws -> [String] {
                try world.forget()
                for report in reports { _ = try await world.service.committer.absorb(report) }
                return try world.tables()
            }
            let tables = try await absorb(reports)
            var seeds = SystemRandomNumberGenerator()
            for _ in 0..<24 {
                let seed = seeds.next()
                var random = SplitMix(seed: seed)
                let shuffled = (reports + reports.filter { _ in Bool.random(using: &random) }).shuffled(using: &random)
                #expect(try await absorb(shuffled) == tables, "seed \(seed)")
            }
        }
    }
}

/// A receiver that remembers no message of earlier rounds.
private struct PlayReceiver: Sendable {
    private let receiver: GooglePlayNotificationReceiver
    private let world: PlayService

    init(_ world: PlayService) throws {
        self.world = world
        let service = world.service
        receiver = GooglePlayNotificationReceiver(
            authentication: world.play,
            store: world.play,
            committer: service.committer,
            metrics: service.metrics,
            log: Log(level: .error, clock: service.clock.wallClock)
        )
    }

    /// Sends all of them at the same time; nil is what was not acknowledged.
    func send(_ calls: [Call]) async throws -> [GooglePlayNotificationReceiver.Outcome?] {
        await withTaskGroup(of: GooglePlayNotificationReceiver.Outcome?.self) { group in
            for call in calls {
                group.addTask { [receiver, world] in
                    try? await receiver.receive(
                        call.request,
                        under: world.service.current.value.evidence,
                        at: world.service.clock.now
                    )
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }
}
