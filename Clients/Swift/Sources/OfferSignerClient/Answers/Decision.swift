// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What was decided about an offer, and why.
public struct Decision: Codable, Hashable, Sendable {
    /// What a decision may be.
    public struct Outcome: OpenName {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let eligible = Outcome(rawValue: "eligible")
        public static let notEligible = Outcome(rawValue: "notEligible")
        public static let undecided = Outcome(rawValue: "undecided")
    }

    public let outcome: Outcome
    /// The SHA-256 of the offers file.
    public let policy: String
    /// When waiting alone makes the customer eligible, as RFC 3339 writes it.
    public let nextEligibleAt: String?
    /// The service shows them to apps only if the operator allows it.
    public let findings: [Finding]?
}

/// What one rule found.
public struct Finding: Codable, Hashable, Sendable {
    /// `met`, `notMet` or `undecided`.
    public struct Answer: OpenName {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let met = Answer(rawValue: "met")
        public static let notMet = Answer(rawValue: "notMet")
        public static let undecided = Answer(rawValue: "undecided")
    }

    public let rule: String
    public let answer: Answer
    /// Stable, such as `grants-cap-reached`.
    public let code: String
    /// The same as a sentence.
    public let because: String
    public let nextEligibleAt: String?
    public let countedBy: [String]?
    public let findings: [Finding]?
}

/// Which offers a customer would get.
public struct Eligibility: Decodable, Hashable, Sendable {
    /// A store's name.
    public struct Store: OpenName {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let appStore = Store(rawValue: "appStore")
        public static let googlePlay = Store(rawValue: "googlePlay")
    }

    /// One offer in one store.
    public struct Offer: Decodable, Hashable, Sendable {
        public let id: String
        public let store: Store
        public let productId: String
        public let basePlanId: String?
        public let offerId: String?
        public let outcome: Decision.Outcome
        public let nextEligibleAt: String?
        /// Why an eligible customer could still not get it now.
        public let obstacle: String?
        public let findings: [Finding]?
    }

    /// The same in the words of paywall SDKs.
    public struct Product: Decodable, Hashable, Sendable {
        public let store: Store
        public let productId: String
        public let basePlanId: String?
        /// `eligible`, `ineligible` or `unknown`.
        public let introductoryOfferEligibility: String?
        public let promotionalOfferEligibility: Bool?
        public let promotionalOfferId: String?
    }

    public let policy: String
    public let offers: [Offer]
    public let products: [Product]
}

/// Leave to show and sell an offer at Google Play.
public struct Authorization: Codable, Hashable, Sendable {
    /// A tag by which the offer is hidden from customers who have no leave.
    public struct HideTag: Codable, Hashable, Sendable {
        public let tag: String
        public let foundOn: String
    }

    /// A part of the offer's price.
    public struct Phase: Codable, Hashable, Sendable {
        public let kind: String
        public let duration: String
        public let recurrenceCount: Int
    }

    public let grantId: String
    public let packageName: String
    public let productId: String
    public let basePlanId: String
    public let offerId: String
    public let offerTags: [String]
    public let hideTags: [HideTag]
    public let phases: [Phase]
    /// To be set on the purchase, exactly as it is.
    public let obfuscatedAccountId: String
    /// To be set on the purchase, exactly as it is.
    public let obfuscatedProfileId: String
    public let expiresAt: String
    public let catalogReadAt: String
    /// What to do if the device does not list the offer.
    public let ifMissingOnDevice: String
    public let decision: Decision?
}
