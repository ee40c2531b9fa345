// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A promotional offer, signed; good for one buy request.
///
/// It is `Codable`, so a backend can pass it on to its app as it is.
public struct SignedOffer: Codable, Hashable, Sendable {
    /// Names the grant in the service's audit log and events.
    public let grantId: String
    /// The offer's identifier in App Store Connect.
    public let identifier: String
    public let keyIdentifier: String
    public let nonce: UUID
    /// Milliseconds since 1970.
    public let timestamp: Int
    /// The original signature in Base64; `nil` if only a JWS was asked for.
    public let signature: String?
    /// The token to attach to the purchase, exactly as it was signed.
    ///
    /// A text, since `UUID.uuidString` is uppercase, and the App Store verifies the lowercase text.
    public let appAccountToken: String?
    /// The user name to attach to the purchase, exactly as it was signed.
    public let applicationUsername: String?
    /// The compact JWS; `nil` if it was not asked for.
    public let jws: String?
    /// Until when the App Store honors the signature.
    public let expiresAt: String?
    public let decision: Decision?
}

/// A signed yes or no to an introductory offer.
public struct SignedIntroductoryOffer: Codable, Hashable, Sendable {
    public let grantId: String
    public let keyIdentifier: String
    public let nonce: UUID
    /// Milliseconds since 1970.
    public let timestamp: Int
    /// Whether the customer gets the offer; show the price accordingly.
    public let allowIntroductoryOffer: Bool
    public let transactionId: String
    /// As in ``SignedOffer/appAccountToken``.
    public let appAccountToken: String?
    public let jws: String
    public let decision: Decision?
}

/// What came of one request of a batch.
public struct SignatureResult: Decodable, Hashable, Sendable {
    /// The HTTP status that the request would have had alone.
    public let status: Int
    /// Seconds after which asking again makes sense.
    public let retryAfter: Int?
    public let grant: SignedOffer?
    public let problem: Problem?
}

struct SignatureResults: Decodable {
    let results: [SignatureResult]
}
