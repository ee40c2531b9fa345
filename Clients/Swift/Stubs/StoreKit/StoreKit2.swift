// SPDX-License-Identifier: Apache-2.0
import Foundation

// StoreKit 2 as far as the client uses it, with the signatures of the iOS 26 SDK, for Linux. What a purchase is given is
// recorded instead of bought. Source: https://developer.apple.com/documentation/storekit/product/purchaseoption

public struct Product: Identifiable, Hashable, Sendable {
    public let id: String

    /// Not in Apple's module: products come from the App Store.
    public init(id: String) { self.id = id }

    public enum PurchaseResult: Sendable {
        /// Apple's has the verified transaction; this one has what the purchase was given.
        case success(Set<PurchaseOption>)
        case userCancelled
        case pending
    }

    public struct PurchaseOption: Hashable, Sendable {
        /// Not in Apple's module.
        public enum Recorded: Hashable, Sendable {
            case appAccountToken(UUID)
            case promotionalOffer(offerID: String, keyID: String, nonce: UUID, signature: Data, timestamp: Int)
            case promotionalOfferJWS(offerID: String, compactJWS: String)
            case introductoryOfferEligibility(compactJWS: String)
        }

        public let recorded: Recorded

        public static func appAccountToken(_ token: UUID) -> PurchaseOption {
            PurchaseOption(recorded: .appAccountToken(token))
        }

        public static func promotionalOffer(
            offerID: String,
            keyID: String,
            nonce: UUID,
            signature: Data,
            timestamp: Int
        ) -> PurchaseOption {
            let offer = Recorded.promotionalOffer(
                offerID: offerID,
                keyID: keyID,
                nonce: nonce,
                signature: signature,
                timestamp: timestamp
            )
            return PurchaseOption(recorded: offer)
        }

        public static func promotionalOffer(_ offerID: String, compactJWS: String) -> [PurchaseOption] {
            [PurchaseOption(recorded: .promotionalOfferJWS(offerID: offerID, compactJWS: compactJWS))]
        }

        public static func introductoryOfferEligibility(compactJWS: String) -> PurchaseOption {
            PurchaseOption(recorded: .introductoryOfferEligibility(compactJWS: compactJWS))
        }
    }

    @MainActor
    public func purchase(options: Set<PurchaseOption> = []) async throws -> PurchaseResult {
        .success(options)
    }

    public struct SubscriptionInfo: Hashable, Sendable {
        public struct Status: Hashable, Sendable {
            public let transaction: VerificationResult<Transaction>
            public let renewalInfo: VerificationResult<RenewalInfo>
        }

        public struct RenewalInfo: Hashable, Sendable {}

        public var status: [Status] { get async throws { [] } }
    }

    public var subscription: SubscriptionInfo? { SubscriptionInfo() }
}

public struct Transaction: Hashable, Sendable {}

public enum VerificationResult<SignedType: Hashable & Sendable>: Hashable, Sendable {
    case verified(SignedType)

    public var jwsRepresentation: String { "" }
}
