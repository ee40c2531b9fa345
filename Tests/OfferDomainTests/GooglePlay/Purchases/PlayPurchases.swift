// SPDX-License-Identifier: Apache-2.0
@testable import OfferDomain

extension PlainKeys: GooglePlayKeys {
    func purchaseKey(of token: PurchaseToken) -> PurchaseKey { PurchaseKey(Array(token.text.utf8)) }
}

/// Makes purchases of the subscription `premium`.
enum PlayPurchases {
    static let scope = GooglePlayScope(productID: try? GooglePlayProductID("premium")) { _ in .promotional }

    static func key(_ token: String) -> PurchaseKey { PurchaseKey(Array(token.utf8)) }

    /// A purchase that began and ends these numbers of days before ``RuleRow/now``, negative for after.
    static func purchase(
        _ state: GooglePlayPurchaseState,
        from start: Int? = 40,
        to end: Int = -20,
        offer: String? = nil,
        phase: GooglePlayOfferPhase? = nil,
        linked: String? = nil,
        replacing replaced: String? = nil,
        for cancellation: GooglePlayCancellation? = nil
    ) throws -> GooglePlayPurchase {
        var item = GooglePlayPurchase.LineItem(productID: "premium")
        item.basePlanID = "monthly"
        item.offerID = offer
        item.phase = phase.map { .known($0) }
        item.replaced = replaced.map { .init(productID: "premium", basePlanID: "monthly", offerID: $0) }
        item.expiresAt = .ago(days: end)
        item.plan = .autoRenewing(isEnabled: state != .expired && state != .cancelled, isCancellationPending: false)
        var purchase = GooglePlayPurchase(state: .known(state), lineItems: [item])
        purchase.startedAt = start.map { .ago(days: $0) }
        purchase.linkedToken = try linked.map { try PurchaseToken($0) }
        purchase.cancellation = cancellation.map { .known($0) }
        return purchase
    }
}

extension GooglePlayHistory {
    /// What is known after purchases were seen, each `daysAgo` days before ``RuleRow/now``.
    init(_ seen: (token: String, purchase: GooglePlayPurchase, daysAgo: Int)...) {
        self.init()
        for (token, purchase, daysAgo) in seen { see(token, purchase, daysAgo: daysAgo) }
    }

    mutating func see(_ token: String, _ purchase: GooglePlayPurchase, daysAgo: Int, mark: String? = nil) {
        merge(
            GooglePlayPurchaseRecord(purchase, observedAt: .ago(days: daysAgo), mark: mark, keys: PlainKeys()),
            key: PlayPurchases.key(token)
        )
    }

    var facts: CustomerFacts { facts(PlayPurchases.scope, at: RuleRow.now) }
}
