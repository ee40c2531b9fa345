// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

/// What Google Play reports on its own initiative: that something has changed, and for which purchase.
///
/// Source: Google, [Real-time developer notifications](https://developer.android.com/google/play/billing/rtdn-reference).
struct DeveloperNotification: Hashable, Sendable {
    let packageName: PackageName
    let sentAt: Timestamp
    let content: Content

    enum Content: Hashable, Sendable {
        /// Of a subscription: the meaning of the number changes over time, and it is never the whole state.
        case subscription(type: Int64, PurchaseToken)
        /// A refund of a subscription if `isSubscription`, else of a one-time purchase; of a part if `isPartial`.
        case voidedPurchase(PurchaseToken, isSubscription: Bool, isPartial: Bool)
        case oneTimeProduct
        case pendingRefundReview
        /// Sent by hand from the Play Console.
        case test
        /// Something that did not exist when this was written.
        case other
    }

    /// `nil` if this is no such notification, or if it reports more than one thing.
    init?(_ data: [UInt8]) {
        guard let object = (try? JSONDocument(data, limits: Self.limits))?.root.object,
            let packageName = object["packageName"]?.string.flatMap({ try? PackageName($0) }),
            let sentAt = object["eventTimeMillis"].flatMap(Self.instant), let content = Self.content(object)
        else { return nil }
        self.packageName = packageName
        self.sentAt = sentAt
        self.content = content
    }

    private static let limits = JSONLimits(maximumBytes: 65_536, maximumStringBytes: 8192)

    /// Numbers of 64 bits are written as text.
    private static func instant(_ value: JSONValue) -> Timestamp? {
        (value.string.flatMap { Int64($0) } ?? value.integer).flatMap(Timestamp.init(exactlyMilliseconds:))
    }

    private static func content(_ object: JSONObject) -> Content? {
        let readers: [(name: String, read: (JSONObject) -> Content?)] = [
            ("subscriptionNotification", subscription), ("voidedPurchaseNotification", voidedPurchase),
            ("oneTimeProductNotification", { _ in .oneTimeProduct }),
            ("pendingRefundReviewNotification", { _ in .pendingRefundReview }), ("testNotification", { _ in .test }),
        ]
        let present = readers.compactMap { name, read in
            object[name].flatMap { $0.isNull ? nil : (value: $0, read: read) }
        }
        guard present.count <= 1 else { return nil }
        guard let (value, read) = present.first else { return .other }
        return value.object.flatMap(read)
    }

    private static func subscription(_ object: JSONObject) -> Content? {
        guard let type = object["notificationType"]?.integer, let token = token(object) else { return nil }
        return .subscription(type: type, token)
    }

    private static func voidedPurchase(_ object: JSONObject) -> Content? {
        guard let token = token(object) else { return nil }
        return .voidedPurchase(
            token,
            isSubscription: object["productType"]?.integer == 1,
            isPartial: object["refundType"]?.integer == partialRefund
        )
    }

    /// `REFUND_TYPE_QUANTITY_BASED_PARTIAL_REFUND`.
    private static let partialRefund: Int64 = 2

    private static func token(_ object: JSONObject) -> PurchaseToken? {
        object["purchaseToken"]?.string.flatMap { try? PurchaseToken($0) }
    }
}

// MARK: - Types

extension DeveloperNotification {
    /// Google's name of the type; a type that this version does not know has its number instead.
    var type: String {
        switch content {
        case .subscription(let type, _): SubscriptionChange(rawValue: type)?.name ?? "SUBSCRIPTION_\(type)"
        case .voidedPurchase: "VOIDED_PURCHASE"
        case .oneTimeProduct: "ONE_TIME_PRODUCT"
        case .pendingRefundReview: "PENDING_REFUND_REVIEW"
        case .test: "TEST"
        case .other: "OTHER"
        }
    }

    /// The same from a closed list, for metrics.
    var label: String {
        if case .subscription(let type, _) = content, SubscriptionChange(rawValue: type) == nil {
            "other"
        } else {
            type
        }
    }
}

/// What changed, as the notification says.
enum SubscriptionChange: Int64, CaseIterable, Sendable {
    case recovered = 1
    case renewed
    case canceled
    case purchased
    case onHold
    case inGracePeriod
    case restarted
    case priceChangeConfirmed
    case deferred
    case paused
    case pauseScheduleChanged
    case revoked
    case expired
    case itemsChanged = 17
    case cancellationScheduled
    case priceChangeUpdated
    case pendingPurchaseCanceled
    case priceStepUpConsentUpdated = 22

    var name: String {
        switch self {
        case .recovered: "SUBSCRIPTION_RECOVERED"
        case .renewed: "SUBSCRIPTION_RENEWED"
        case .canceled: "SUBSCRIPTION_CANCELED"
        case .purchased: "SUBSCRIPTION_PURCHASED"
        case .onHold: "SUBSCRIPTION_ON_HOLD"
        case .inGracePeriod: "SUBSCRIPTION_IN_GRACE_PERIOD"
        case .restarted: "SUBSCRIPTION_RESTARTED"
        case .priceChangeConfirmed: "SUBSCRIPTION_PRICE_CHANGE_CONFIRMED"
        case .deferred: "SUBSCRIPTION_DEFERRED"
        case .paused: "SUBSCRIPTION_PAUSED"
        case .pauseScheduleChanged: "SUBSCRIPTION_PAUSE_SCHEDULE_CHANGED"
        case .revoked: "SUBSCRIPTION_REVOKED"
        case .expired: "SUBSCRIPTION_EXPIRED"
        case .itemsChanged: "SUBSCRIPTION_ITEMS_CHANGED"
        case .cancellationScheduled: "SUBSCRIPTION_CANCELLATION_SCHEDULED"
        case .priceChangeUpdated: "SUBSCRIPTION_PRICE_CHANGE_UPDATED"
        case .pendingPurchaseCanceled: "SUBSCRIPTION_PENDING_PURCHASE_CANCELED"
        case .priceStepUpConsentUpdated: "SUBSCRIPTION_PRICE_STEP_UP_CONSENT_UPDATED"
        }
    }
}
