// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

/// Purchases that took one another's place: what became of one says little of the customer.
struct PurchaseChainTests {
    @Test func `takes a plan change for no lapse, in whichever order the two are seen`() throws {
        let old = try PlayPurchases.purchase(.expired, from: 90, to: 30, for: .forReplacement)
        let new = try PlayPurchases.purchase(.active, from: 30, linked: "old")
        let history = GooglePlayHistory(("old", old, 30), ("new", new, 29))
        #expect(history.chains == [[PlayPurchases.key("new"), PlayPurchases.key("old")]])
        #expect(history.facts.status?.value == .active)
        #expect(history.facts.expiresAt?.value == .ago(days: -20))
    }

    @Test func `returns when the last purchase of a chain ended`() throws {
        let old = try PlayPurchases.purchase(.expired, from: 90, to: 60, for: .forReplacement)
        let new = try PlayPurchases.purchase(.expired, from: 60, to: 12, linked: "old", for: .byCustomer)
        let facts = GooglePlayHistory(("old", old, 60), ("new", new, 12)).facts
        #expect(facts.status?.value == .expired && facts.expiresAt?.value == .ago(days: 12))
    }

    @Test func `treats a purchase that was last seen before its successor began as outdated`() throws {
        // The old one was last seen while it ran. Only the new one shows that it was replaced.
        let old = try PlayPurchases.purchase(.active, from: 90, to: -300)
        let new = try PlayPurchases.purchase(.expired, from: 60, to: 12, linked: "old")
        #expect(GooglePlayHistory(("old", old, 70), ("new", new, 5)).facts.status?.value == .expired)
        // Seen live after that, it runs beside the new one.
        #expect(GooglePlayHistory(("old", old, 50), ("new", new, 5)).facts.status?.value == .active)
    }

    @Test func `goes on with the successor of a purchase that was taken back`() throws {
        let old = try PlayPurchases.purchase(.active, from: 90)
        let new = try PlayPurchases.purchase(.expired, from: 60, to: 12, linked: "old")
        var history = GooglePlayHistory(("old", old, 50), ("new", new, 5))
        history.purchases[PlayPurchases.key("old")]?.revokedAt = .ago(days: 1)
        #expect(history.facts.status?.value == .expired)
        var alone = GooglePlayHistory(("old", old, 50))
        var evidence = GooglePlayPurchaseRecord()
        (evidence.revokedAt, evidence.goneAt, evidence.isSuperseded) = (.ago(days: 1), .ago(days: 0), true)
        alone.merge(evidence, key: PlayPurchases.key("old"))
        #expect(alone.facts.status?.value == .revoked, "it ended before another could take its place")
    }

    @Test(arguments: [GooglePlayPurchaseState.pending, .pendingPurchaseCancelled])
    func `lets a purchase that isn't paid replace nothing`(state: GooglePlayPurchaseState) throws {
        let old = try PlayPurchases.purchase(.active, from: 90)
        let new = try PlayPurchases.purchase(state, from: nil, linked: "old")
        #expect(GooglePlayHistory(("old", old, 2), ("new", new, 1)).facts.status?.value == .active)
    }

    @Test func `finds a live purchase among several that replaced the same one`() throws {
        let old = try PlayPurchases.purchase(.expired, from: 90, to: 60, for: .forReplacement)
        let left = try PlayPurchases.purchase(.expired, from: 60, to: 12, linked: "old")
        let right = try PlayPurchases.purchase(.active, from: 50, linked: "old")
        let history = GooglePlayHistory(("old", old, 60), ("left", left, 1), ("right", right, 1))
        #expect(history.chains.count == 1)
        #expect(history.facts.status?.value == .active)
        #expect(history.relevantPurchases(PlayPurchases.scope, at: RuleRow.now).count == 3)
    }

    @Test func `knows no status of a chain whose successor was not seen, and prefers a running chain`() throws {
        let moved = try PlayPurchases.purchase(.expired, from: 90, to: 60, for: .forReplacement)
        let ended = try PlayPurchases.purchase(.expired, from: 80, to: 12)
        let running = try PlayPurchases.purchase(.active, from: 10)
        #expect(GooglePlayHistory(("moved", moved, 1)).facts.status == nil)
        #expect(GooglePlayHistory(("moved", moved, 1), ("ended", ended, 1)).facts.status == nil)
        #expect(GooglePlayHistory(("moved", moved, 1), ("running", running, 1)).facts.status?.value == .active)
    }

    @Test func `survives circles, loops and chains of any length`() throws {
        let one = try PlayPurchases.purchase(.expired, to: 12, linked: "two")
        let two = try PlayPurchases.purchase(.expired, to: 11, linked: "one")
        let circle = GooglePlayHistory(("one", one, 1), ("two", two, 1))
        #expect(circle.chains.count == 1 && circle.facts.status == nil)
        let loop = try PlayPurchases.purchase(.expired, to: 12, linked: "one")
        #expect(GooglePlayHistory(("one", loop, 1)).facts.status?.value == .expired)
        var long = GooglePlayHistory()
        for index in 0..<250 {
            let purchase = try PlayPurchases.purchase(
                index == 249 ? .active : .expired,
                from: 500 - index,
                to: index == 249 ? -5 : 499 - index,
                linked: "\(index - 1)"
            )
            long.see("\(index)", purchase, daysAgo: 1)
        }
        #expect(long.chains.count == 1 && long.facts.status?.value == .active)
    }

    @Test func `speaks of the subscription that is asked about, also where the chain has left it`() throws {
        let old = try PlayPurchases.purchase(.expired, from: 90, to: 60, for: .forReplacement)
        var new = try PlayPurchases.purchase(.active, from: 60, linked: "old")
        new.lineItems[0].productID = "gold"
        let history = GooglePlayHistory(("old", old, 1), ("new", new, 1))
        #expect(history.facts.status?.value == .active, "an upgrade is no reason to win the customer back")
        let other = GooglePlayScope(productID: try GooglePlayProductID("silver")) { _ in .promotional }
        #expect(history.facts(other, at: RuleRow.now).status == nil)
        #expect(history.facts(other, at: RuleRow.now).subscribedBefore?.value == true)
        let yearly = GooglePlayScope(
            productID: try GooglePlayProductID("premium"),
            basePlanID: try BasePlanID("yearly")
        ) { _ in .promotional }
        #expect(history.facts(yearly, at: RuleRow.now).status == nil)
    }
}

/// Uses of offers, and what came of them.
struct PlayRedemptionTests {
    @Test func `follows a use from the purchase to the full price`() throws {
        var history = GooglePlayHistory()
        history.see("a", try PlayPurchases.purchase(.pending, from: nil, offer: "win"), daysAgo: 41)
        #expect(history.redemption?.state == .pending)
        history.see("a", try PlayPurchases.purchase(.active, offer: "win", phase: .freeTrial), daysAgo: 39)
        #expect(history.redemption?.state == .redeemed)
        #expect(history.redemption?.redeemedAt == .ago(days: 40), "when it was granted, not when it was seen")
        history.see("a", try PlayPurchases.purchase(.active, offer: "win", phase: .basePrice), daysAgo: 9)
        #expect(history.redemption?.state == .converted(at: .ago(days: 9)))
        history.see("a", try PlayPurchases.purchase(.expired, to: 1, offer: "win", phase: .basePrice), daysAgo: 0)
        #expect(history.redemption?.state == .converted(at: .ago(days: 9)), "what happened, happened")
    }

    @Test func `distinguishes customers who left, customers who changed plans, and revoked purchases`() throws {
        func state(
            _ state: GooglePlayPurchaseState,
            _ cancellation: GooglePlayCancellation? = nil,
            revoked: Bool = false
        ) throws -> RedemptionState? {
            var history = GooglePlayHistory()
            let purchase = try PlayPurchases.purchase(state, to: 5, offer: "win", for: cancellation)
            history.see("a", purchase, daysAgo: 1)
            if revoked { history.purchases[PlayPurchases.key("a")]?.revokedAt = .ago(days: 2) }
            return history.redemption?.state
        }
        #expect(try state(.expired, .byCustomer) == .notConverted(at: .ago(days: 5)))
        #expect(try state(.cancelled) == .notConverted(at: .ago(days: 5)))
        #expect(try state(.expired, .forReplacement) == .redeemed)
        #expect(try state(.onHold) == .redeemed)
        #expect(try state(.expired, .bySystem, revoked: true) == .undone(at: .ago(days: 2)))
        #expect(try state(.pendingPurchaseCancelled) == nil, "nothing was ever used")
    }

    @Test func `money paid back after the full price leaves the conversion, and before it undoes the use`() throws {
        func redemption(
            _ phase: GooglePlayOfferPhase,
            revokedDaysAgo: Int? = nil,
            refunds: [Refund] = []
        ) throws -> GooglePlayRedemption? {
            var history = GooglePlayHistory()
            history.see("a", try PlayPurchases.purchase(.active, offer: "win", phase: phase), daysAgo: 9)
            history.see("a", try PlayPurchases.purchase(.expired, to: 1, offer: "win"), daysAgo: 0)
            history.purchases[PlayPurchases.key("a")]?.revokedAt = revokedDaysAgo.map { .ago(days: $0) }
            history.purchases[PlayPurchases.key("a")]?.refunds = refunds
            return history.redemption
        }
        let part = Refund(at: .ago(days: 4), millipercent: nil)
        let converted = RedemptionState.converted(at: .ago(days: 9))
        for (redemption, state, refund) in [
            (try redemption(.basePrice, revokedDaysAgo: 2), converted, Refund.ago(days: 2)),
            (try redemption(.basePrice, revokedDaysAgo: 4, refunds: [.ago(days: 3)]), converted, .ago(days: 3)),
            (try redemption(.basePrice, refunds: [part, .ago(days: 3)]), converted, part),
            (try redemption(.freeTrial, revokedDaysAgo: 2), .undone(at: .ago(days: 2)), nil),
            (try redemption(.freeTrial, refunds: [part, .ago(days: 3)]), .undone(at: .ago(days: 3)), nil),
            (try redemption(.freeTrial, refunds: [part]), .notConverted(at: .ago(days: 1)), part),
        ] as [(GooglePlayRedemption?, RedemptionState, Refund?)] {
            #expect(redemption?.state == state && redemption?.refund == refund, "\(String(describing: redemption))")
        }
    }

    @Test func `dates a later offer by when it was first seen, and keeps it after its item is gone`() throws {
        var history = GooglePlayHistory()
        history.see("a", try PlayPurchases.purchase(.active), daysAgo: 39)
        history.see("a", try PlayPurchases.purchase(.active, offer: "win"), daysAgo: 7)
        #expect(history.redemption?.redeemedAt == .ago(days: 7))
        history.see("a", try PlayPurchases.purchase(.active), daysAgo: 1)
        #expect(history.redemption?.redeemedAt == .ago(days: 7))
        #expect(history.facts.offersUsed?.value.count == 1)
    }

    @Test func `counts an offer that was left for another plan once, with the purchase that it came with`() throws {
        let old = try PlayPurchases.purchase(.expired, from: 90, to: 30, offer: "win", for: .forReplacement)
        let new = try PlayPurchases.purchase(.active, from: 30, linked: "old", replacing: "win")
        let both = GooglePlayHistory(("old", old, 30), ("new", new, 29))
        #expect(both.redemption?.purchase == PlayPurchases.key("old"))
        #expect(both.facts.offersUsed?.value.map(\.offerID?.text) == ["win"])
        let newAlone = GooglePlayHistory(("new", new, 29))
        #expect(newAlone.redemption == nil)
        #expect(newAlone.facts.offersSeen?.value.map(\.offerID?.text) == ["win"], "the old one was not seen")
        let plain = try PlayPurchases.purchase(.expired, from: 90, to: 30, for: .forReplacement)
        let unseen = GooglePlayHistory(("old", plain, 30), ("new", new, 29))
        #expect(unseen.redemption == nil && unseen.facts.offersUsed?.value.count == 1)
        let again = try PlayPurchases.purchase(.active, from: 30, offer: "win", linked: "old", replacing: "win")
        let twice = GooglePlayHistory(("old", old, 30), ("new", again, 29))
        #expect(twice.facts.offersUsed?.value.count == 2)
    }

    @Test func `counts an offer that runs on until a deferred change of plan once, with its own purchase`() throws {
        func changed(from linked: String?) throws -> GooglePlayPurchase {
            var purchase = try PlayPurchases.purchase(.active, from: 30, to: -9, offer: "win", linked: linked)
            purchase.lineItems[0].isReplacedLater = true
            return purchase
        }
        let old = try PlayPurchases.purchase(.expired, from: 90, to: 30, offer: "win", for: .forReplacement)
        let new = try changed(from: "old")
        let both = GooglePlayHistory(("old", old, 30), ("new", new, 29))
        #expect(both.redemption?.purchase == PlayPurchases.key("old"))
        #expect(both.facts.offersUsed?.value.map(\.offerID?.text) == ["win"])
        let twice = GooglePlayHistory(("old", old, 30), ("new", new, 29), ("newer", try changed(from: "new"), 28))
        #expect(twice.facts.offersUsed?.value.count == 1, "changed once more before it came to that")
        let newAlone = GooglePlayHistory(("new", new, 29))
        #expect(newAlone.redemption == nil && newAlone.facts.offersSeen?.value.count == 1, "the old one was not seen")
        let unlinked = GooglePlayHistory(("new", try changed(from: nil), 29))
        #expect(unlinked.redemption?.offer.offerID == "win", "it is of no other purchase")
    }

    @Test func `sees each item's offer`() throws {
        var purchase = try PlayPurchases.purchase(.active, offer: "first")
        purchase.lineItems += try PlayPurchases.purchase(.active, offer: "second").lineItems
        let history = GooglePlayHistory(("a", purchase, 1))
        let redemptions = history.purchases[PlayPurchases.key("a")]?.redemptions(PlayPurchases.key("a"))
        #expect(redemptions?.map(\.offer.offerID) == ["first", "second"])
    }
}

extension GooglePlayHistory {
    /// The only one.
    fileprivate var redemption: GooglePlayRedemption? {
        let all = purchases.flatMap { $1.redemptions($0) }
        return all.count == 1 ? all[0] : nil
    }
}
