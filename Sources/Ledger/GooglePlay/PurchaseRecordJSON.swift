// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Cryptography
import JSON
package import OfferDomain

extension GooglePlayPurchaseRecord: StoredSubscription {
    package static var store: Store { .googlePlay }
    package static var hasTransactions: Bool { false }

    package init?(_ row: SubscriptionRow) { self.init(json: row.record) }

    package func row(since known: GooglePlayPurchaseRecord?) -> SubscriptionRow {
        var row = SubscriptionRow(record: json)
        row.markedGrant = markedGrant
        row.linked = predecessors.subtracting(known?.predecessors ?? []).sorted().map(\.bytes)
        return row
    }

    /// The grant that its mark claims, if it has one.
    var markedGrant: UniqueID? { mark.flatMap(GrantMark.init)?.grantID }
}

extension GooglePlayPurchaseRecord {
    var json: String {
        JSONWriter.record(reserving: 768) { writer in
            writer.object("latest", latest) { $0.write(to: &$1) }
            writer.flag("reported", isReported)
            writer.member("reportedSince", reportedSince)
            writer.member("firstObservedAt", firstObservedAt)
            writer.array("uses", uses.sorted { $0.key < $1.key }) { Self.write($0.key, $0.value, to: &$1) }
            writer.array("replacedOffers", replacedOffers.sorted()) { offer, writer in
                writer.beginObject()
                Self.writeNames(offer, to: &writer)
                writer.endObject()
            }
            writer.array("predecessors", predecessors.sorted()) { predecessor, writer in
                writer.string(predecessor.recordText)
            }
            writer.member("obfuscatedExternalProfileId", mark)
            writer.member("goneAt", goneAt)
            writer.flag("superseded", isSuperseded)
            writer.member("revokedAt", revokedAt)
            writer.array("refunds", refunds.filter(\.isFull)) { $1.integer($0.at.milliseconds) }
            writer.array("partialRefunds", refunds.filter { !$0.isFull }) { $1.integer($0.at.milliseconds) }
        }
    }

    private static func write(_ offer: GooglePlayOfferPath, _ use: Use, to writer: inout JSONWriter) {
        writer.beginObject()
        writeNames(offer, to: &writer)
        writer.member("firstSeenAt", use.firstSeenAt)
        writer.member("paidInFullAt", use.paidInFullAt)
        writer.flag("hasPromotionCode", use.hasPromotionCode)
        writer.endObject()
    }

    private static func writeNames(_ offer: GooglePlayOfferPath, to writer: inout JSONWriter) {
        writer.member("productId", offer.productID)
        writer.member("basePlanId", offer.basePlanID)
        writer.member("offerId", offer.offerID)
    }

    init?(json: String) {
        guard let object = JSONObject(record: json) else { return nil }
        self.init()
        if let value = object["latest"] {
            guard let latest = value.object.flatMap(GooglePlayObservation.init) else { return nil }
            self.latest = latest
        }
        isReported = object.flag("reported")
        reportedSince = object.instant("reportedSince")
        firstObservedAt = object.instant("firstObservedAt")
        for value in object["uses"]?.array.map(Array.init) ?? [] {
            guard let (offer, use) = value.object.flatMap(Self.use) else { return nil }
            uses[offer] = use
        }
        for value in object["replacedOffers"]?.array.map(Array.init) ?? [] {
            guard let offer = value.object.flatMap(Self.offer) else { return nil }
            replacedOffers.insert(offer)
        }
        for value in object["predecessors"]?.array.map(Array.init) ?? [] {
            guard let bytes = value.stringBytes.flatMap(Base64.decodeURL) else { return nil }
            predecessors.insert(PurchaseKey(bytes))
        }
        mark = object["obfuscatedExternalProfileId"]?.string
        goneAt = object.instant("goneAt")
        isSuperseded = object.flag("superseded")
        revokedAt = object.instant("revokedAt")
        let partial = object.instants("partialRefunds").map { Refund(at: $0, millipercent: nil) }
        refunds = (object.instants("refunds").map { Refund(at: $0) } + partial).sorted()
    }

    private static func use(_ object: JSONObject) -> (GooglePlayOfferPath, Use)? {
        guard let offer = offer(object), let firstSeenAt = object.instant("firstSeenAt") else { return nil }
        let use = Use(
            firstSeenAt: firstSeenAt,
            paidInFullAt: object.instant("paidInFullAt"),
            hasPromotionCode: object.flag("hasPromotionCode")
        )
        return (offer, use)
    }

    private static func offer(_ object: JSONObject) -> GooglePlayOfferPath? {
        guard let productID = object["productId"]?.string, let basePlanID = object["basePlanId"]?.string,
            let offerID = object["offerId"]?.string
        else { return nil }
        return GooglePlayOfferPath(productID: productID, basePlanID: basePlanID, offerID: offerID)
    }

}

extension GooglePlayObservation {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("subscriptionState", state.storeText)
        writer.member("startTime", startedAt)
        writer.member("regionCode", region?.text)
        writer.array("lineItems", items) { $0.write(to: &$1) }
        writer.member("canceledStateContext", cancellation?.storeText)
        writer.member("cancelTime", cancelledAt)
        writer.member("autoResumeTime", resumesAt)
        writer.flag("testPurchase", isTest)
        writer.member("observedAt", observedAt)
    }

    fileprivate init?(_ object: JSONObject) {
        guard let state = object["subscriptionState"]?.string, let observedAt = object.instant("observedAt") else {
            return nil
        }
        let values = object["lineItems"]?.array.map(Array.init) ?? []
        let items = values.compactMap { $0.object.flatMap(GooglePlayPurchase.LineItem.init) }
        guard items.count == values.count else { return nil }
        self.init(state: Reported(state), items: items, isTest: object.flag("testPurchase"), observedAt: observedAt)
        startedAt = object.instant("startTime")
        region = object["regionCode"]?.string.flatMap { try? Region($0) }
        cancellation = object["canceledStateContext"]?.string.map { Reported($0) }
        cancelledAt = object.instant("cancelTime")
        resumesAt = object.instant("autoResumeTime")
    }
}

extension GooglePlayPurchase.LineItem {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("productId", productID)
        writer.member("basePlanId", basePlanID)
        writer.member("offerId", offerID)
        writer.member("expiryTime", expiresAt)
        writer.member("offerPhase", phase?.storeText)
        switch plan {
        case .autoRenewing(let isEnabled, let isCancellationPending):
            writer.member("plan", "autoRenewing")
            writer.flag("autoRenewEnabled", isEnabled)
            writer.flag("pendingCancellation", isCancellationPending)
        case .prepaid: writer.member("plan", "prepaid")
        case nil: break
        }
        if let replaced {
            writer.member("replacedProductId", replaced.productID)
            writer.member("replacedBasePlanId", replaced.basePlanID)
            writer.member("replacedOfferId", replaced.offerID)
        }
        writer.member("priceStepUpConsent", priceStepUp?.consent.storeText)
        writer.member("consentDeadlineTime", priceStepUp?.deadline)
        writer.flag("signupPromotion", hasPromotionCode)
        writer.flag("deferredItemRemoval", isRemovedLater)
        writer.flag("deferredItemReplacement", isReplacedLater)
        writer.endObject()
    }

    fileprivate init?(_ object: JSONObject) {
        guard let productID = object["productId"]?.string else { return nil }
        self.init(productID: productID)
        basePlanID = object["basePlanId"]?.string
        offerID = object["offerId"]?.string
        expiresAt = object.instant("expiryTime")
        phase = object["offerPhase"]?.string.map { Reported($0) }
        switch object["plan"]?.string {
        case "autoRenewing":
            plan = .autoRenewing(
                isEnabled: object.flag("autoRenewEnabled"),
                isCancellationPending: object.flag("pendingCancellation")
            )
        case "prepaid": plan = .prepaid
        default: break
        }
        replaced = object["replacedProductId"]?.string.map { productID in
            GooglePlayPurchase.ReplacedItem(
                productID: productID,
                basePlanID: object["replacedBasePlanId"]?.string,
                offerID: object["replacedOfferId"]?.string
            )
        }
        priceStepUp = object["priceStepUpConsent"]?.string.map {
            GooglePlayPurchase.PriceStepUp(consent: Reported($0), deadline: object.instant("consentDeadlineTime"))
        }
        hasPromotionCode = object.flag("signupPromotion")
        isRemovedLater = object.flag("deferredItemRemoval")
        isReplacedLater = object.flag("deferredItemReplacement")
    }
}
