// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What a backend knows of a subscription.
///
/// A missing fact is unknown; an empty list means "none".
public struct Facts: Encodable, Hashable, Sendable {
    /// What a subscription is now.
    public enum Status: String, Encodable, Sendable {
        case active, expired, inBillingRetry, inGracePeriod, revoked, paused
    }

    /// Whether the subscription renews.
    public enum AutoRenewal: String, Encodable, Sendable {
        case on, off
    }

    /// Whether the customer bought it, or has it by Family Sharing.
    public enum Ownership: String, Encodable, Sendable {
        case purchased, familyShared
    }

    /// How the customer pays in the App Store.
    public enum BillingPlan: String, Encodable, Sendable {
        case monthly, billedUpfront
    }

    /// Where the app is from that asks, if the backend has verified it.
    public enum AppOrigin: String, Encodable, Sendable {
        case appStore, testFlight, development, enterprise, developerId, playStore, other
    }

    /// What Google says that the app's device meets, from the least.
    public enum DeviceIntegrity: String, Encodable, Sendable {
        case basic, device, strong
    }

    /// Whether the customer agrees to the higher price that Google Play asks about.
    public enum PriceStepUpConsent: String, Encodable, Sendable {
        case notRequired, pending, confirmed, completed
    }

    /// Where a purchase was made.
    public enum Environment: String, Encodable, Sendable {
        case production, sandbox
    }

    /// An offer that the customer has used.
    public struct UsedOffer: Encodable, Hashable, Sendable {
        /// The type of an offer.
        public enum Kind: String, Encodable, Sendable {
            case introductory, promotional, offerCode, winBack, retention
        }

        public var type: Kind
        public var offerId: String?
        public var usedAt: Date?
        public var subscriptionGroupId: String?

        public init(type: Kind, offerId: String? = nil, usedAt: Date? = nil, subscriptionGroupId: String? = nil) {
            self.type = type
            self.offerId = offerId
            self.usedAt = usedAt
            self.subscriptionGroupId = subscriptionGroupId
        }
    }

    public var subscribedBefore: Bool?
    public var status: Status?
    public var isActive: Bool?
    public var cancelledAt: Date?
    public var renewsTo: String?
    public var billingPlan: BillingPlan?
    public var commitmentEndsAt: Date?
    /// Which period of the commitment runs, from 1.
    public var commitmentPeriod: Int?
    public var appleWinBackEligible: Bool?
    public var priceStepUpConsent: PriceStepUpConsent?
    public var appOrigin: AppOrigin?
    public var deviceIntegrity: DeviceIntegrity?
    public var appLicensed: Bool?
    public var expiresAt: Date?
    public var autoRenew: AutoRenewal?
    public var ownership: Ownership?
    public var environment: Environment?
    /// A country in three capital letters.
    public var storefront: String?
    /// A country in two capital letters.
    public var region: String?
    public var originalTransactionId: String?
    public var subscriptionGroupId: String?
    public var refundedAt: [Date]?
    public var offersUsed: [UsedOffer]?

    public init() {}

    /// Facts with some members set at once, as in `Facts { $0.status = .expired }`.
    public init(_ set: (inout Facts) -> Void) {
        self.init()
        set(&self)
    }
}

/// What a backend says of a customer for rules that use it: a text, a number, or yes or no.
public enum AttributeValue: Encodable, Hashable, Sendable {
    case text(String)
    case number(Double)
    case boolean(Bool)

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .boolean(let value): try container.encode(value)
        }
    }
}

extension AttributeValue: ExpressibleByStringLiteral, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral
{
    public init(stringLiteral value: String) { self = .text(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(integerLiteral value: Int) { self = .number(Double(value)) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}
