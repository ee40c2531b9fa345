// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What an app knows of a purchase whose offer was refused, or that was made at the full price.
///
/// Send its JSON to your backend, which passes it to `POST /v1/diagnoses`, or save it for `offer-signer diagnose`.
public struct OfferReport: Encodable, Hashable, Sendable {
    public var offer: SignedOffer
    /// The app that buys; the running one at first.
    public var bundleID: String? = Bundle.main.bundleIdentifier
    public var productID: String
    public var attached: AttachedValues
    public var error: ReportedError?
    /// `jwsRepresentation` of the transaction that came of the purchase.
    public var signedTransaction: String?
    public var attemptedAt: Date
    /// The system at first; add your library and its version.
    public var client = ReportedClient(os: ReportedClient.system)

    private enum Members: String, CodingKey {
        case grantId, identifier, bundleId, productId, keyIdentifier, nonce, timestamp, appAccountToken
        case applicationUsername, signature, jws, attached, error, signedTransaction, attemptedAt, client
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Members.self)
        try members.encode(offer.grantId, forKey: .grantId)
        try members.encode(offer.identifier, forKey: .identifier)
        try members.encodeIfPresent(bundleID, forKey: .bundleId)
        try members.encode(productID, forKey: .productId)
        try members.encode(offer.keyIdentifier, forKey: .keyIdentifier)
        try members.encode(offer.nonce.uuidString.lowercased(), forKey: .nonce)
        try members.encode(offer.timestamp, forKey: .timestamp)
        try members.encodeIfPresent(offer.appAccountToken, forKey: .appAccountToken)
        try members.encodeIfPresent(offer.applicationUsername, forKey: .applicationUsername)
        try members.encodeIfPresent(attached.signature ?? offer.signature, forKey: .signature)
        try members.encodeIfPresent(offer.jws, forKey: .jws)
        if !attached.isAsSigned { try members.encode(attached, forKey: .attached) }
        try members.encodeIfPresent(error, forKey: .error)
        try members.encodeIfPresent(signedTransaction, forKey: .signedTransaction)
        try members.encode(Int64((attemptedAt.timeIntervalSince1970 * 1000).rounded()), forKey: .attemptedAt)
        try members.encode(client, forKey: .client)
    }
}

extension SignedOffer {
    /// What to send to find out why a purchase with this offer failed, or was made without it.
    ///
    /// Note the time before you call StoreKit. `attached` is needed only if you did not buy with this package's `purchase`.
    /// A purchase that ends with `.userCancelled` has no error: pass `StoreKitError.userCancelled`.
    public func report(
        productID: String,
        attached: AttachedValues = AttachedValues(),
        error: (any Error)? = nil,
        signedTransaction: String? = nil,
        attemptedAt: Date
    ) -> OfferReport {
        OfferReport(
            offer: self,
            productID: productID,
            attached: attached,
            error: error.map(ReportedError.init),
            signedTransaction: signedTransaction,
            attemptedAt: attemptedAt
        )
    }
}

extension ReportedClient {
    /// The system and its version, such as `iOS 26.1`.
    static var system: String {
        let version = ProcessInfo.processInfo.operatingSystemVersion
        return "\(systemName) \(version.majorVersion).\(version.minorVersion)"
    }

    private static var systemName: String {
        #if os(iOS)
        "iOS"
        #elseif os(macOS)
        "macOS"
        #elseif os(tvOS)
        "tvOS"
        #elseif os(watchOS)
        "watchOS"
        #elseif os(visionOS)
        "visionOS"
        #else
        "Linux"
        #endif
    }
}
