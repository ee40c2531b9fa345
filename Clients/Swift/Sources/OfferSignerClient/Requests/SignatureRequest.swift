// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A request for the signature of a promotional offer.
public struct SignatureRequest: Encodable, Hashable, Sendable {
    /// The form of a signature.
    public enum Format: String, Encodable, Sendable {
        /// Apple's original signature, for StoreKit 1 and StoreKit 2.
        case v1
        /// The compact JWS, for StoreKit 2.
        case jws
    }

    public var bundleID: String
    /// The product that the customer buys.
    public var productID: String
    /// The identifier in App Store Connect, or the offer's `id` in the catalog.
    public var offerID: String
    public var account: PurchaseAccount?
    public var customer: Customer
    public var formats: [Format]

    public init(
        bundleID: String,
        productID: String,
        offerID: String,
        account: PurchaseAccount? = nil,
        customer: Customer = Customer(),
        formats: [Format] = [.v1, .jws]
    ) {
        self.bundleID = bundleID
        self.productID = productID
        self.offerID = offerID
        self.account = account
        self.customer = customer
        self.formats = formats
    }

    private enum Members: String, CodingKey {
        case bundleId, productId, offerId, formats
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Members.self)
        try members.encode(bundleID, forKey: .bundleId)
        try members.encode(productID, forKey: .productId)
        try members.encode(offerID, forKey: .offerId)
        try members.encode(formats, forKey: .formats)
        try account?.encodeMembers(to: encoder)
        try customer.encodeMembers(to: encoder)
    }
}

/// Several requests in one.
struct SignatureRequests: Encodable {
    let requests: [SignatureRequest]
}

/// A request for a signed yes or no to an introductory offer.
///
/// It needs a transaction ID, signed transactions, or the signed app transaction.
public struct IntroductoryOfferRequest: Encodable, Hashable, Sendable {
    public var bundleID: String
    public var productID: String
    /// The token that the app attaches to the purchase; the JWS does not carry it.
    public var appAccountToken: UUID?
    /// `AppTransaction.shared`'s `jwsRepresentation`, which exists even before the first purchase.
    public var signedAppTransaction: String?
    public var customer: Customer

    public init(
        bundleID: String,
        productID: String,
        appAccountToken: UUID? = nil,
        signedAppTransaction: String? = nil,
        customer: Customer = Customer()
    ) {
        self.bundleID = bundleID
        self.productID = productID
        self.appAccountToken = appAccountToken
        self.signedAppTransaction = signedAppTransaction
        self.customer = customer
    }

    private enum Members: String, CodingKey {
        case bundleId, productId, signedAppTransaction
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Members.self)
        try members.encode(bundleID, forKey: .bundleId)
        try members.encode(productID, forKey: .productId)
        try members.encodeIfPresent(signedAppTransaction, forKey: .signedAppTransaction)
        try appAccountToken.map(PurchaseAccount.appAccountToken)?.encodeMembers(to: encoder)
        try customer.encodeMembers(to: encoder)
    }
}

extension PurchaseAccount {
    private enum Members: String, CodingKey {
        case appAccountToken, applicationUsername
    }

    /// Adds its member to the object that is being written.
    func encodeMembers(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Members.self)
        try members.encodeIfPresent(token, forKey: .appAccountToken)
        try members.encodeIfPresent(username, forKey: .applicationUsername)
    }
}
