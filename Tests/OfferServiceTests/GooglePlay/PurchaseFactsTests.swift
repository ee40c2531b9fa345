// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import Testing

/// The facts about a customer after Google Play reports a purchase, for each purchase state.
struct PurchaseFactsTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let sample: PlaySample
        let status: SubscriptionStatus?
        /// In days after the instant of the question.
        let endsInDays: Double?
        /// Whether that is certainly the last end.
        let isEndCertain: Bool
        let renews: Bool?
        let wasSubscriber: Bool
        let lapsed: Answer

        init(
            _ name: String,
            _ sample: PlaySample,
            _ status: SubscriptionStatus?,
            ends: Double?,
            certain: Bool = true,
            renews: Bool?,
            subscriber: Bool = true,
            lapsed: Answer
        ) {
            testDescription = name
            self.sample = sample
            self.status = status
            endsInDays = ends
            isEndCertain = certain
            self.renews = renews
            wasSubscriber = subscriber
            self.lapsed = lapsed
        }
    }

    private static func item(_ ends: Double, renews: Bool) -> PlaySample.Item {
        PlaySample.Item {
            $0.expiresInDays = ends; $0.renews = renews
        }
    }

    static let rows = [
        Row("active", PlaySample("ACTIVE", item(20, renews: true)), .active, ends: 20, renews: true, lapsed: .notMet),
        Row(
            "active, and just being renewed",
            PlaySample("ACTIVE", item(-0.01, renews: true)),
            .active,
            ends: -0.01,
            certain: false,
            renews: true,
            lapsed: .notMet
        ),
        Row(
            "active, renewal turned off",
            PlaySample("ACTIVE", item(20, renews: false)),
            .active,
            ends: 20,
            renews: false,
            lapsed: .notMet
        ),
        Row(
            "active, in installments that end",
            PlaySample(
                "ACTIVE",
                .init {
                    $0.kind = "unknownPlan"
                    $0.more =
                        #""autoRenewingPlan":{"autoRenewEnabled":true,"installmentDetails":{"pendingCancellation":{}}}"#
                }
            ),
            .active,
            ends: 20,
            renews: false,
            lapsed: .notMet
        ),
        Row(
            "active, prepaid",
            PlaySample("ACTIVE", .init { $0.kind = "prepaidPlan" }),
            .active,
            ends: 20,
            renews: false,
            lapsed: .notMet
        ),
        Row(
            "cancelled, still running",
            PlaySample("CANCELED", item(20, renews: false)) { $0.cancellation = "userInitiatedCancellation" },
            .active,
            ends: 20,
            renews: false,
            lapsed: .notMet
        ),
        Row(
            "cancelled while on hold",
            PlaySample("CANCELED", item(-12, renews: false)) { $0.cancellation = "userInitiatedCancellation" },
            .expired,
            ends: -12,
            renews: false,
            lapsed: .met
        ),
        Row(
            "in grace period",
            PlaySample("IN_GRACE_PERIOD", item(2, renews: true)),
            .inGracePeriod,
            ends: 2,
            renews: true,
            lapsed: .notMet
        ),
        Row(
            "on hold, its end past",
            PlaySample("ON_HOLD", item(-12, renews: true)),
            .inBillingRetry,
            ends: -12,
            renews: true,
            lapsed: .notMet
        ),
        Row(
            "paused",
            PlaySample("PAUSED", item(-12, renews: true)) {
                $0.more = #""pausedStateContext":{"autoResumeTime":"2026-08-01T00:00:00Z"}"#
            },
            .paused,
            ends: -12,
            renews: true,
            lapsed: .notMet
        ),
        Row(
            "expired, by the customer",
            PlaySample("EXPIRED", item(-12, renews: false)) { $0.cancellation = "userInitiatedCancellation" },
            .expired,
            ends: -12,
            renews: false,
            lapsed: .met
        ),
        Row(
            "expired, unpaid",
            PlaySample("EXPIRED", item(-12, renews: false)) { $0.cancellation = "systemInitiatedCancellation" },
            .expired,
            ends: -12,
            renews: false,
            lapsed: .met
        ),
        Row(
            "expired, by the developer",
            PlaySample("EXPIRED", item(-12, renews: false)) { $0.cancellation = "developerInitiatedCancellation" },
            .expired,
            ends: -12,
            renews: false,
            lapsed: .met
        ),
        Row(
            "expired for another plan",
            PlaySample("EXPIRED", item(-12, renews: false)) { $0.cancellation = "replacementCancellation" },
            nil,
            ends: nil,
            renews: nil,
            lapsed: .undecided
        ),
        Row(
            "expired, the last of two items",
            PlaySample("EXPIRED", item(-40, renews: false), item(-12, renews: false)),
            .expired,
            ends: -12,
            renews: false,
            lapsed: .met
        ),
        Row(
            "expired too lately",
            PlaySample("EXPIRED", item(-5, renews: false)),
            .expired,
            ends: -5,
            renews: false,
            lapsed: .notMet
        ),
        Row(
            "pending",
            PlaySample("PENDING", .init { $0.expiresInDays = nil }) { $0.startedDaysAgo = nil },
            nil,
            ends: nil,
            renews: nil,
            subscriber: false,
            lapsed: .undecided
        ),
        Row(
            "pending, given up",
            PlaySample("PENDING_PURCHASE_CANCELED", .init { $0.expiresInDays = nil }) { $0.startedDaysAgo = nil },
            nil,
            ends: nil,
            renews: nil,
            subscriber: false,
            lapsed: .undecided
        ),
        Row(
            "an unknown state",
            PlaySample("HIBERNATING", item(-12, renews: true)),
            nil,
            ends: -12,
            certain: false,
            renews: true,
            lapsed: .undecided
        ),
    ]

    @Test(arguments: rows)
    func `tells status, end and renewal, and takes no plan change, hold or pause for a lapse`(row: Row) throws {
        let facts = try history(row.sample).facts(.premium, at: PlaySample.now)
        #expect(facts.status?.value == row.status)
        let end = row.endsInDays.map { PlaySample.now.adding(milliseconds: Int64($0 * 86_400_000)) }
        #expect(facts.expiresAt?.value == (row.isEndCertain ? end : nil))
        #expect(facts.latestEndSeen?.value == (row.isEndCertain ? nil : end))
        #expect(facts.autoRenews?.value == row.renews)
        #expect(facts.subscribedBefore?.value == (row.wasSubscriber ? true : nil))
        #expect(facts.lapsed(atLeastDays: 10) == row.lapsed)
    }

    @Test func `takes what should have been renewed since for neither renewed nor ended`() throws {
        for state in ["ACTIVE", "IN_GRACE_PERIOD"] {
            let history = try history(PlaySample(state, Self.item(20, renews: true)))
            let facts = history.facts(.premium, at: PlaySample.now.adding(days: 33))
            #expect(facts.status == nil && facts.expiresAt == nil)
            #expect(facts.latestEndSeen?.value == PlaySample.now.adding(days: 20))
            #expect(facts.lapsed(atLeastDays: 10, at: PlaySample.now.adding(days: 33)) == .undecided)
        }
        let cancelled = try history(PlaySample("CANCELED", Self.item(20, renews: false)))
        let facts = cancelled.facts(.premium, at: PlaySample.now.adding(days: 33))
        #expect(facts.status?.value == .expired && facts.status?.observedAt == PlaySample.now)
    }

    /// What is seen, and how many days later nothing is known of it any more.
    static let holds: [(name: String, sample: PlaySample, days: Int)] = [
        ("a hold of 12 days", PlaySample("ON_HOLD", item(-12, renews: true)), 48),
        ("a hold of longer than there is", PlaySample("ON_HOLD", item(-70, renews: true)), 60),
        ("a hold without an end", PlaySample("ON_HOLD", .init { $0.expiresInDays = nil }), 60),
        ("a pause with its end", PlaySample("PAUSED", item(-12, renews: true)) { $0.more = resuming(7) }, 14),
        ("a pause of 12 days", PlaySample("PAUSED", item(-12, renews: true)), 80),
        ("a pause that was to be over", PlaySample("PAUSED", item(-12, renews: true)) { $0.more = resuming(6) }, 80),
    ]

    /// On the 15th of a month.
    private static func resuming(_ month: Int) -> String {
        #""pausedStateContext":{"autoResumeTime":"2026-0\#(month)-15T12:00:00Z"}"#
    }

    @Test(arguments: holds)
    func `takes no hold and no pause for longer than Google lets them last`(
        name: String,
        sample: PlaySample,
        days: Int
    ) throws {
        let history = try history(sample)
        let end = PlaySample.now.adding(days: days)
        let last = history.facts(.premium, at: end.adding(milliseconds: -1))
        #expect(last.status != nil && last.answer(.lapsed(atLeastDays: 10, atMostDays: nil), at: end) == .notMet)
        let open = history.facts(.premium, at: end)
        #expect(open.status == nil && open.expiresAt == nil, "it may have ended or gone on")
        #expect(open.answer(.lapsed(atLeastDays: 10, atMostDays: nil), at: end) == .undecided)
    }

    @Test func `tells why it ended, unless it was taken back`() throws {
        for (cancellation, intent) in [
            ("userInitiatedCancellation", ExpirationIntent.cancelled), ("systemInitiatedCancellation", .billingError),
            ("developerInitiatedCancellation", .other),
        ] {
            let sample = PlaySample("EXPIRED", Self.item(-12, renews: false)) { $0.cancellation = cancellation }
            #expect(try history(sample).facts(.premium, at: PlaySample.now).expirationIntent?.value == intent)
            var revoked = try history(sample)
            for key in revoked.purchases.keys {
                revoked.purchases[key]?.revokedAt = PlaySample.now.adding(days: -12)
            }
            let facts = revoked.facts(.premium, at: PlaySample.now)
            #expect(facts.status?.value == .revoked && facts.expirationIntent == nil)
            #expect(facts.refundsSeen?.value == [Refund(at: PlaySample.now.adding(days: -12))])
            #expect(facts.lapsed(atLeastDays: 10) == .notMet)
        }
    }

    @Test func `takes what was taken back after it was last seen for revoked, until it is seen again`() throws {
        for sample in [PlaySample("ACTIVE"), PlaySample("CANCELED", Self.item(20, renews: false))] {
            for hours in [0, 5] {
                let instant = PlaySample.now.adding(hours: hours)
                var evidence = GooglePlayPurchaseRecord()
                evidence.revokedAt = instant
                var history = try history(sample)
                history.merge(evidence, key: PurchaseKey(Array("token-0".utf8)))
                let facts = history.facts(.premium, at: instant)
                #expect(facts.status?.value == .revoked && facts.autoRenews?.value == false)
                #expect(facts.expiresAt?.value == instant && facts.lapsed(atLeastDays: 0, at: instant) == .notMet)
                #expect(facts.status?.source == .notification && facts.status?.observedAt == instant)
            }
            var seenSince = try history(sample)
            seenSince.purchases[PurchaseKey(Array("token-0".utf8))]?.revokedAt = PlaySample.now.adding(hours: -1)
            #expect(seenSince.premium.status?.value == .active, "what the store answered since is newer")
        }
    }

    @Test func `tells region and world, and never a test purchase for a real one`() throws {
        let real = PlaySample("EXPIRED", Self.item(-12, renews: false)) {
            $0.region = "DE"; $0.startedDaysAgo = 90
        }
        let test = PlaySample("ACTIVE") {
            $0.isTest = true; $0.region = "US"
        }
        let both = try history(real, test)
        let facts = both.facts(.premium, at: PlaySample.now)
        #expect(facts.status?.value == .expired && facts.region?.value.text == "DE")
        #expect(facts.environment?.value == .production)
        let sandbox = both.facts(.init(productID: nil, environment: .sandbox) { _ in .promotional }, at: PlaySample.now)
        #expect(sandbox.status?.value == .active && sandbox.environment?.value == .sandbox)
        let onlyTest = try history(test).facts(.premium, at: PlaySample.now)
        #expect(onlyTest.status?.value == .active && onlyTest.environment?.value == .sandbox)
    }

    @Test func `tells uses by the offer's id and never by tags, of the whole app and of items that are gone`() throws {
        let first = PlaySample(
            "EXPIRED",
            .init {
                $0.offer = "winback-50"; $0.expiresInDays = -50; $0.renews = false
                $0.more = #""itemReplacement":{"productId":"old","basePlanId":"monthly","offerId":"trial"}"#
            }
        ) { $0.startedDaysAgo = 90 }
        let second = PlaySample(
            "ACTIVE",
            .init {
                $0.product = "other"; $0.plan = "yearly"
            }
        )
        let facts = try history(first, second).facts(.premium, at: PlaySample.now)
        #expect(facts.offersUsed?.value.map(\.offerID?.text) == ["trial", "winback-50"])
        #expect(facts.offersUsed?.value.map(\.type) == [.introductory, .promotional])
        #expect(facts.offersUsed?.value.map(\.usedAt) == [nil, PlaySample.now.adding(days: -90)], "once before")
        let none = try history(second).facts(.premium, at: PlaySample.now)
        #expect(none.offersUsed?.value == [])
        #expect(none.subscribedBefore?.value == true && none.status == nil, "of another subscription")
        #expect(GooglePlayHistory().facts(.premium, at: PlaySample.now) == CustomerFacts())
    }

    @Test func `tells only what was seen of offers, if an earlier purchase is not known`() throws {
        let sample = PlaySample("ACTIVE", .init { $0.offer = "winback-50" }) { $0.linked = "never-seen" }
        let facts = try history(sample).facts(.premium, at: PlaySample.now)
        #expect(facts.offersUsed == nil && facts.refundedAt == nil)
        #expect(facts.offersSeen?.value.map(\.offerID?.text) == ["winback-50"])
    }

    /// Answers about purchases never tell refunds.
    @Test func `rules out refunds only if store messages cover each purchase from its start`() throws {
        var history = try history(PlaySample("ACTIVE"), PlaySample("EXPIRED", Self.item(-12, renews: false)))
        #expect(history.premium.refundedAt == nil && history.premium.refundsSeen?.value == [])
        #expect(history.premium.answer(Self.notRefunded) == .undecided)
        let keys = history.purchases.keys.sorted()
        history.purchases[keys[0]]?.reportedSince = PlaySample.now.adding(days: -40)
        #expect(history.premium.answer(Self.notRefunded) == .undecided, "no message would report the other one's")
        history.purchases[keys[1]]?.isReported = true
        #expect(history.premium.answer(Self.notRefunded) == .undecided, "it isn't known since when")
        history.purchases[keys[1]]?.reportedSince = PlaySample.now.adding(days: -37)
        #expect(history.premium.refundedAt?.value == [])
        #expect(history.premium.answer(Self.notRefunded) == .met)
        history.purchases[keys[1]]?.refunds = [Refund(at: PlaySample.now.adding(days: -3))]
        #expect(history.premium.answer(Self.notRefunded) == .notMet)
        history.purchases[keys[0]]?.reportedSince = nil
        #expect(history.premium.answer(Self.notRefunded) == .notMet, "one that was seen is enough")
    }

    @Test func `knows of no refund before the first message, and of all after it`() throws {
        var history = try history(PlaySample("ACTIVE"), PlaySample("ACTIVE") { $0.startedDaysAgo = 400 })
        let keys = history.purchases.keys.sorted()
        history.purchases[keys[0]]?.reportedSince = PlaySample.now.adding(days: -40)
        history.purchases[keys[1]]?.reportedSince = PlaySample.now.adding(days: -20)
        #expect(history.premium.refundedAt == nil)
        #expect(history.premium.refundsReportedSince?.value == PlaySample.now.adding(days: -20))
        #expect(history.premium.answer(Self.notRefunded) == .undecided)
        #expect(history.premium.answer(.not(.refunded(withinDays: 20))) == .met)
        #expect(history.premium.answer(Self.notRefunded, at: PlaySample.now.adding(days: 70)) == .met)
        history.purchases[keys[1]]?.predecessors = [PurchaseKey(Array("never-seen".utf8))]
        #expect(history.premium.answer(.not(.refunded(withinDays: 20))) == .undecided)
    }

    private static let notRefunded = Rule.not(.refunded(withinDays: 90))

    @Test func `takes a purchase that the store has forgotten for an ended one, if it was known`() throws {
        func gone(_ sample: PlaySample?, isSuperseded: Bool = false) throws -> CustomerFacts {
            var history = try sample.map { try self.history($0) } ?? GooglePlayHistory()
            var record = GooglePlayPurchaseRecord()
            record.goneAt = PlaySample.now.adding(days: 100)
            record.isSuperseded = isSuperseded
            history.merge(record, key: PurchaseKey(Array("token-0".utf8)))
            return history.facts(.premium, at: PlaySample.now.adding(days: 100))
        }
        let running = try gone(PlaySample("ACTIVE"))
        #expect(running.status?.value == .expired && running.subscribedBefore?.value == true)
        #expect(running.expiresAt == nil, "it may have been renewed since")
        #expect(running.latestEndSeen?.value == PlaySample.now.adding(days: 20))
        #expect(running.autoRenews?.value == false)
        let ended = try gone(PlaySample("EXPIRED", Self.item(-12, renews: false)))
        #expect(ended.status?.value == .expired && ended.expiresAt?.value == PlaySample.now.adding(days: -12))
        let unseen = try gone(nil)
        #expect(unseen.subscribedBefore == nil && !unseen.hasSubscription && unseen.status == nil)
        #expect(unseen.offersSeen?.value == [] && unseen.refundsSeen?.value == [], "there may have been some")
        let replaced = PlaySample("EXPIRED", Self.item(-12, renews: false)) {
            $0.cancellation = "replacementCancellation"
        }
        #expect(try gone(replaced).status == nil)
        let superseded = try gone(PlaySample("ACTIVE"), isSuperseded: true)
        let left = PlaySample("EXPIRED", Self.item(-12, renews: false))
        #expect(try gone(left, isSuperseded: true).status?.value == .expired, "or the buyer's account is gone")
        #expect(superseded.status == nil && superseded.subscribedBefore?.value == true, "it goes on as another")
    }

    /// What is known after these were seen at ``PlaySample/now``.
    private func history(_ samples: PlaySample...) throws -> GooglePlayHistory {
        var history = GooglePlayHistory()
        for (index, sample) in samples.enumerated() {
            let record = GooglePlayPurchaseRecord(
                try sample.purchase(),
                observedAt: PlaySample.now,
                mark: nil,
                keys: PlainKeys()
            )
            history.merge(record, key: PurchaseKey(Array("token-\(index)".utf8)))
        }
        return history
    }
}

extension GooglePlayScope {
    /// What offers for the subscription `premium` are decided on; its win-back offers are developer-determined.
    fileprivate static var premium: GooglePlayScope {
        GooglePlayScope(productID: try? GooglePlayProductID("premium")) {
            $0.offerID.hasPrefix("winback") ? .promotional : .introductory
        }
    }
}

extension GooglePlayHistory {
    /// What is known at ``PlaySample/now`` for an offer for the subscription `premium`.
    fileprivate var premium: CustomerFacts { facts(.premium, at: PlaySample.now) }
}

extension CustomerFacts {
    fileprivate func lapsed(atLeastDays days: Int, at now: Timestamp = PlaySample.now) -> Answer {
        answer(.lapsed(atLeastDays: days, atMostDays: nil), at: now)
    }

    fileprivate func answer(_ rule: Rule, at now: Timestamp = PlaySample.now) -> Answer {
        rule.evaluate(in: EvaluationContext(facts: self, now: now, knowsSubscription: true)).answer
    }
}
