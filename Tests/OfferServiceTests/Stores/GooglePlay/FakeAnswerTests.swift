import JSON
import OfferDomain
import OfferService
import TestSupport
import Testing

// SPDX-License-Identifier: Apache-2.0
@testable import Stores

/// What the fake Google Play says is what our readers take, so that tests which use it try what they mean to.
@Suite("Google Play: reading what the fake one writes", .serialized)
struct FakeAnswerTests {
    private static let play = Result { try FakeGooglePlay() }
    private static let offer = FakeGooglePlay.ResourceName("premium", "monthly", "winback-50")
    private static let basePlan = FakeGooglePlay.ResourceName("premium", "monthly")

    private let play: FakeGooglePlay

    init() throws {
        play = try Self.play.get()
        try play.reset()
        let plan = FakeGooglePlay.BasePlan("monthly", tags: ["standard"], closedRegions: ["JP"])
        try play.setSubscription(.init("premium", basePlans: [plan, .init("prepaid", .prepaid)]))
        let phases = [FakeGooglePlay.Phase(.free, "P7D"), .init(.absoluteDiscount, "P1M", times: 3)]
        try play.setOffer(.init("winback-50", of: "premium", phases: phases, closedRegions: ["FR"]))
    }

    /// Something that is done to the right catalog, and the code of what is then wrong.
    struct Rung: CustomTestStringConvertible {
        let code: String?
        let change: @Sendable (FakeGooglePlay) throws -> Void
        var region = "US"

        var testDescription: String { code ?? "nothing wrong" }

        private init(
            _ code: String?,
            region: String = "US",
            _ change: @escaping @Sendable (FakeGooglePlay) throws -> Void
        ) {
            self.code = code
            self.change = change
            self.region = region
        }

        static let rows = [
            Rung(nil) { _ in },
            Rung(nil) { play in try play.setHabits(.init(writesDefaults: true)) },
            Rung("base-plan-not-found") { play in try play.remove(basePlan) },
            Rung("base-plan-not-active") { play in try play.edit(basePlan, "/state", "INACTIVE") },
            Rung("base-plan-not-auto-renewing") { play in
                try play.setSubscription(.init("premium", basePlans: [.init("monthly", .installments)]))
            },
            Rung("offer-draft") { play in try play.edit(offer, "/state", "DRAFT") },
            Rung("offer-inactive") { play in try play.edit(offer, "/state", "INACTIVE") },
            Rung("offer-state-unknown") { play in try play.edit(offer, "/state", "UNHEARD_OF") },
            Rung("answer-names-another-offer") { play in
                try play.edit(offer, "/packageName", "com.example.other")
            },
            Rung("offer-not-developer-determined") { play in
                try play.setOffer(.init("winback-50", of: "premium", targeting: .acquisition()))
            },
            Rung("targeting-unknown") { play in try play.edit(offer, "/targeting", [:]) },
            Rung("hide-tag-missing") { play in try play.edit(offer, "/offerTags", .null) },
            Rung(nil) { play in
                try play.edit(offer, "/offerTags", .null)
                try play.edit(basePlan, "/offerTags/-", ["tag": "ignore-offer"])
            },
            Rung("no-phases") { play in try play.edit(offer, "/phases", []) },
            Rung("phase-kinds-not-allowed") { play in
                try play.setOffer(
                    .init("winback-50", of: "premium", phases: [.init(.free, "P1W"), .init(.free, "P1W")])
                )
            },
            Rung("mixed-phase-kind") { play in
                try play.edit(offer, "/phases/1", .null)
                try play.edit(offer, "/phases/0/regionalConfigs/0", ["regionCode": "US", "relativeDiscount": 0.5])
            },
            Rung("region-not-available", region: "FR") { _ in },
            Rung("region-not-available", region: "JP") { _ in },
        ]
    }

    @Test(arguments: Rung.rows)
    func `finds in its catalog what was changed, and nothing else`(rung: Rung) throws {
        try rung.change(play)
        let subscription = try play.json(of: .init("premium"))
        let offer = try play.json(of: Self.offer)
        let playCatalog = try PlayCatalog(
            of: PackageName(FakeGooglePlay.firstApp),
            subscriptions: [JSONDocument(Array("{\"subscriptions\":[\(subscription)]}".utf8))],
            offers: [JSONDocument(Array("{\"subscriptionOffers\":[\(offer)]}".utf8))],
            readAt: Timestamp(milliseconds: 0)
        )
        #expect(playCatalog.unusableCount == 0)
        let verdict = GooglePlayOfferCheck.validate(
            try .of("premium", "monthly", "winback-50"),
            region: try Region(rung.region),
            hideTags: [try OfferTag("ignore-offer")],
            in: playCatalog
        )
        switch verdict {
        case .success(let validated):
            #expect(rung.code == nil)
            #expect(validated.phases.map(\.recurrenceCount) == [1, 3])
        case .failure(let fault): #expect(fault.code == rung.code)
        }
    }

    private func read(_ token: String) throws -> GooglePlayPurchase {
        try GooglePlayPurchase(json: Array(try play.json(ofPurchase: token).utf8))
    }

    @Test(arguments: [nil, 0, 3, 6, 9], [false, true])
    func `reads a purchase however it is written`(digits: Int?, writesDefaults: Bool) throws {
        try play.setHabits(.init(writesDefaults: writesDefaults, fractionDigits: digits))
        var bought = FakeGooglePlay.Purchase("premium", offer: "winback-50", at: 1_782_907_200_120, isTest: true)
        (bought.obfuscatedAccountID, bought.obfuscatedProfileID) = ("abc", "def")
        let purchase = try read(try play.buy(bought).token)
        let milliseconds: Int64 = digits == 0 ? 0 : 120
        #expect(purchase.startedAt == Timestamp(milliseconds: 1_782_907_200_000 + milliseconds))
        #expect(purchase.isTest && purchase.accountID == "abc" && purchase.profileID == "def")
        let item = try #require(purchase.lineItems.first)
        #expect(item.offerID == "winback-50" && item.basePlanID == "monthly" && item.phase == .known(.freeTrial))
        #expect(item.plan == .autoRenewing(isEnabled: true, isCancellationPending: false))
    }

    @Test func `reads every state that a purchase can be in`() throws {
        let rows: [(FakeGooglePlay.Event, GooglePlayPurchaseState, GooglePlayCancellation?)] = [
            (.renew, .active, nil), (.cancel, .cancelled, .byCustomer),
            (.cancel(by: .developer), .cancelled, .byDeveloper), (.grace, .inGracePeriod, nil), (.hold, .onHold, nil),
            (.pause, .paused, nil), (.expire, .expired, .bySystem), (.revoke, .expired, .bySystem),
            (.changePrice, .active, nil), (.scheduleCancellation, .active, nil),
            (.stepUpPrice("PENDING"), .active, nil),
        ]
        for (event, state, cancellation) in rows {
            let token = try play.buy(.init("premium")).token
            try play.happen(event, to: token)
            let purchase = try read(token)
            #expect(purchase.state == .known(state) && purchase.cancellation?.known == cancellation, "\(event)")
        }
        let pending = try play.buy(.init("premium", pending: true)).token
        #expect(try read(pending).state == .known(.pending))
        #expect(try read(pending).startedAt == nil)
    }

    @Test func `reads what a purchase has to do with the one before`() throws {
        let old = try play.buy(.init("premium", offer: "winback-50", obfuscatedAccountID: "abc", daysAgo: 40)).token
        let changed = try read(try play.buy(.init("premium", "prepaid", replaces: old)).token)
        #expect(changed.linkedToken?.text == old && changed.lineItems[0].replaced?.offerID == "winback-50")
        #expect(changed.lineItems[0].plan == .prepaid)
        #expect(try read(old).cancellation == .known(.forReplacement))
        let again = try read(try play.buy(.init("premium", resubscribes: old)).token)
        #expect(again.expiredToken?.text == old && again.expiredAccountID == "abc" && again.linkedToken == nil)
    }
}
