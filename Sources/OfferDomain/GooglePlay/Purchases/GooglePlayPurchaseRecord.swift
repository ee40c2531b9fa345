// SPDX-License-Identifier: Apache-2.0

/// The pseudonym of a purchase token; the service does not store the token.
package typealias PurchaseKey = OpaqueKey<GooglePlayPurchaseRecord>

/// Makes the keys that purchases are filed under.
package protocol GooglePlayKeys {
    func purchaseKey(of token: PurchaseToken) -> PurchaseKey
}

/// Names an offer at Google Play; its own id is unique within its base plan alone.
package struct GooglePlayOfferPath: Hashable, Comparable, Sendable {
    /// The product ID as the store writes it.
    package let productID: String
    /// The base plan ID as the store writes it; empty if the store sent none.
    package let basePlanID: String
    /// The offer's own ID as the store writes it.
    package let offerID: String

    package init(productID: String, basePlanID: String, offerID: String) {
        self.productID = productID
        self.basePlanID = basePlanID
        self.offerID = offerID
    }

    /// By product, base plan and offer, in this order.
    package static func < (one: GooglePlayOfferPath, other: GooglePlayOfferPath) -> Bool {
        (one.productID, one.basePlanID, one.offerID) < (other.productID, other.basePlanID, other.offerID)
    }
}

/// Everything known about one purchase at Google Play.
///
/// Merging takes the newest observation, the earliest or the latest of two instants, and the union of two sets. Order,
/// grouping and duplicates do not matter.
package struct GooglePlayPurchaseRecord: Hashable, Sendable {
    /// The newest observation; nil if the store never answered about the purchase.
    package var latest: GooglePlayObservation?
    /// Whether a notification came about it or its replacement; the store then reports every later change.
    package var isReported = false
    /// The time of the first notification about this purchase itself; from then on, the store reports its refunds.
    ///
    /// Nil for a purchase that the service looked up only because of another one.
    package var reportedSince: Timestamp?
    /// When the store first answered about it.
    package var firstObservedAt: Timestamp?
    /// Every offer that an item of it was ever seen with; another item may replace that item later.
    package var uses: [GooglePlayOfferPath: Use] = [:]
    /// The offers of the items that items of this purchase replace, now or later; they are uses of an earlier purchase,
    /// not of this one.
    package var replacedOffers: Set<GooglePlayOfferPath> = []
    /// The purchases that this one replaced.
    package var predecessors: Set<PurchaseKey> = []
    /// What the app attached to it to name the grant: 64 hexadecimal digits, not trusted until they are verified.
    package var mark: String?
    /// When the store last said that it no longer knows the purchase.
    package var goneAt: Timestamp?
    /// Whether the store said that another purchase replaced this one, instead of that it ended long ago.
    package var isSuperseded = false
    /// When the purchase was revoked.
    package var revokedAt: Timestamp?
    /// What was paid back, ascending: the earliest 64, each once.
    package var refunds: [Refund] = []

    /// A purchase without any evidence.
    package init() {}

    /// One use of an offer.
    package struct Use: Hashable, Sendable {
        /// When the store first reported the offer on this purchase.
        package var firstSeenAt: Timestamp
        /// When the full price was first seen to apply.
        package var paidInFullAt: Timestamp?
        /// Whether it was bought with a code of a promotion.
        package var hasPromotionCode: Bool

        package init(firstSeenAt: Timestamp, paidInFullAt: Timestamp?, hasPromotionCode: Bool) {
            self.firstSeenAt = firstSeenAt
            self.paidInFullAt = paidInFullAt
            self.hasPromotionCode = hasPromotionCode
        }
    }

    /// Takes what an answer of the store shows.
    ///
    /// `mark` is the profile ID of the purchase, if it has the form of a grant's mark.
    package init(
        _ purchase: GooglePlayPurchase,
        observedAt: Timestamp,
        mark: String?,
        keys: some GooglePlayKeys
    ) {
        latest = GooglePlayObservation(purchase, observedAt: observedAt)
        firstObservedAt = observedAt
        self.mark = mark
        predecessors = Set([purchase.linkedToken, purchase.expiredToken].compactMap(\.self).map(keys.purchaseKey))
        for item in purchase.lineItems { add(item, observedAt, takesOver: purchase.linkedToken != nil) }
    }

    /// Adds what an item shows; if the purchase `takesOver` from another, an item to be replaced later is the other's.
    private mutating func add(_ item: GooglePlayPurchase.LineItem, _ observedAt: Timestamp, takesOver: Bool) {
        if let offerID = item.offerID, takesOver, item.isReplacedLater {
            replacedOffers.insert(item.path(of: offerID))
        } else if let offerID = item.offerID {
            let use = Use(
                firstSeenAt: observedAt,
                paidInFullAt: item.isPaidInFull ? observedAt : nil,
                hasPromotionCode: item.hasPromotionCode
            )
            add(use, of: item.path(of: offerID))
        }
        if let replaced = item.replaced, let offerID = replaced.offerID {
            replacedOffers.insert(
                GooglePlayOfferPath(
                    productID: replaced.productID,
                    basePlanID: replaced.basePlanID ?? "",
                    offerID: offerID
                )
            )
        }
    }

    private mutating func add(_ use: Use, of offer: GooglePlayOfferPath) {
        uses[offer] = uses[offer].map { $0.merged(with: use) } ?? use
    }

    /// Adds all that another copy of the same purchase knows.
    package mutating func merge(_ other: GooglePlayPurchaseRecord) {
        latest = latest.map { one in other.latest.map(one.newer(of:)) ?? one } ?? other.latest
        isReported = isReported || other.isReported
        reportedSince = [reportedSince, other.reportedSince].compactMap(\.self).min()
        firstObservedAt = [firstObservedAt, other.firstObservedAt].compactMap(\.self).min()
        uses.merge(other.uses) { $0.merged(with: $1) }
        replacedOffers.formUnion(other.replacedOffers)
        predecessors.formUnion(other.predecessors)
        mark = [mark, other.mark].compactMap(\.self).min()
        goneAt = [goneAt, other.goneAt].compactMap(\.self).max()
        isSuperseded = isSuperseded || other.isSuperseded
        revokedAt = [revokedAt, other.revokedAt].compactMap(\.self).min()
        refunds = Array(Set(refunds + other.refunds).sorted().prefix(Self.mostRefunds))
    }

    private static let mostRefunds = 64
}

extension GooglePlayPurchaseRecord.Use {
    fileprivate func merged(with other: Self) -> Self {
        Self(
            firstSeenAt: min(firstSeenAt, other.firstSeenAt),
            paidInFullAt: [paidInFullAt, other.paidInFullAt].compactMap(\.self).min(),
            hasPromotionCode: hasPromotionCode || other.hasPromotionCode
        )
    }
}

extension GooglePlayPurchase.LineItem {
    /// Whether the full price applies: a price that waits for consent does not.
    fileprivate var isPaidInFull: Bool {
        phase?.known == .basePrice && priceStepUp?.consent.known != .pending
    }

    fileprivate func path(of offerID: String) -> GooglePlayOfferPath {
        GooglePlayOfferPath(productID: productID, basePlanID: basePlanID ?? "", offerID: offerID)
    }
}

// MARK: - What it shows

extension GooglePlayPurchaseRecord {
    /// Whether the store has forgotten it, which it does sixty days after the end.
    ///
    /// Source: Google, [purchases.subscriptionsv2.get](https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2/get).
    package var isGone: Bool {
        guard let goneAt else { return false }
        return latest.map { goneAt > $0.observedAt } ?? true
    }

    /// When it was revoked, if it was live when last seen, and that was no later; else nil, and what was seen counts.
    ///
    /// No answer shows it if the store no longer answers about the purchase.
    var takenBackAt: Timestamp? {
        guard let latest, latest.isLive, let revokedAt, revokedAt >= latest.observedAt else { return nil }
        return revokedAt
    }

    /// Whether it had ended when it was last seen, or was revoked since.
    var hasEnded: Bool { latest.map { !$0.isLive || takenBackAt != nil } ?? false }

    /// When the newest part of it was true; nil if there is no evidence.
    package var observedAt: Timestamp? { [latest?.observedAt, goneAt].compactMap(\.self).max() }

    /// Every offer that it shows a use of, including uses of an earlier purchase.
    package var offers: Set<GooglePlayOfferPath> { replacedOffers.union(uses.keys) }

    /// Whether it is known to have granted a subscription; false if the purchase was gone before the service saw it.
    var isGranted: Bool { latest?.isGranted ?? false }

    /// Whether notifications about it came from its beginning, so that no refund of it is missing.
    ///
    /// A first notification within three days of the beginning is enough, since an earlier one may have been lost.
    var isReportedFromStart: Bool {
        guard let reportedSince, let startedAt = latest?.startedAt else { return false }
        return reportedSince <= startedAt.adding(days: 3)
    }

    /// When an offer was used.
    ///
    /// An offer that was seen together with the purchase began with it. A later offer counts from when it was first
    /// seen.
    func usedAt(_ use: Use) -> Timestamp {
        use.firstSeenAt == firstObservedAt ? latest?.startedAt ?? use.firstSeenAt : use.firstSeenAt
    }
}
