// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A question which offers a customer would get, in one store or both.
public struct EligibilityRequest: Encodable, Hashable, Sendable {
    /// The app in the App Store; without it, ``packageName`` is needed.
    public var bundleID: String?
    /// The app at Google Play.
    public var packageName: String?
    /// The catalog's own IDs of the offers in question; `nil` for all.
    public var offerIDs: [String]?
    public var account: PurchaseAccount?
    public var customer: Customer
    /// Up to 4 purchase tokens of Google Play.
    public var purchaseTokens: [String]?
    /// The customer's region at Google Play.
    public var regionCode: String?

    public init(
        bundleID: String? = nil,
        packageName: String? = nil,
        offerIDs: [String]? = nil,
        account: PurchaseAccount? = nil,
        customer: Customer = Customer(),
        purchaseTokens: [String]? = nil,
        regionCode: String? = nil
    ) {
        self.bundleID = bundleID
        self.packageName = packageName
        self.offerIDs = offerIDs
        self.account = account
        self.customer = customer
        self.purchaseTokens = purchaseTokens
        self.regionCode = regionCode
    }

    private enum Members: String, CodingKey {
        case bundleId, packageName, offerIds, purchaseTokens, regionCode
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Members.self)
        try members.encodeIfPresent(bundleID, forKey: .bundleId)
        try members.encodeIfPresent(packageName, forKey: .packageName)
        try members.encodeIfPresent(offerIDs, forKey: .offerIds)
        try members.encodeIfPresent(purchaseTokens, forKey: .purchaseTokens)
        try members.encodeIfPresent(regionCode, forKey: .regionCode)
        try account?.encodeMembers(to: encoder)
        try customer.encodeMembers(to: encoder)
    }
}

/// A request for leave to show and sell an offer at Google Play.
public struct AuthorizationRequest: Encodable, Hashable, Sendable {
    public var packageName: String
    public var productId: String
    public var basePlanId: String
    public var offerId: String
    /// Either this or ``anonymousId`` is needed.
    public var customerId: String?
    public var anonymousId: String?
    public var purchaseTokens: [String]?
    public var regionCode: String?
    public var facts: Facts?
    public var attributes: [String: AttributeValue]?

    public init(packageName: String, productId: String, basePlanId: String, offerId: String) {
        self.packageName = packageName
        self.productId = productId
        self.basePlanId = basePlanId
        self.offerId = offerId
    }
}

/// What StoreKit signed, to be known to later decisions.
public struct Transactions: Encodable, Hashable, Sendable {
    public var bundleId: String
    /// `jwsRepresentation` of 1 to 8 transactions.
    public var signedTransactions: [String]
    public var signedRenewalInfo: [String]?
    /// In lowercase, as it is signed.
    public var appAccountToken: String?
    public var customerId: String?
    public var anonymousId: String?

    public init(bundleId: String, signedTransactions: [String], signedRenewalInfo: [String]? = nil) {
        self.bundleId = bundleId
        self.signedTransactions = signedTransactions
        self.signedRenewalInfo = signedRenewalInfo
    }
}

struct AcceptedTransactions: Decodable {
    let accepted: Int
}

/// The login of an anonymous customer.
public struct Transfer: Encodable, Hashable, Sendable {
    public var bundleID: String?
    public var packageName: String?
    public var anonymousID: String
    public var customerID: String

    public init(anonymousID: String, customerID: String, bundleID: String? = nil, packageName: String? = nil) {
        self.anonymousID = anonymousID
        self.customerID = customerID
        self.bundleID = bundleID
        self.packageName = packageName
    }

    private enum Members: String, CodingKey {
        case bundleId, packageName, from, to
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Members.self)
        try members.encodeIfPresent(bundleID, forKey: .bundleId)
        try members.encodeIfPresent(packageName, forKey: .packageName)
        try members.encode(["anonymousId": anonymousID], forKey: .from)
        try members.encode(["customerId": customerID], forKey: .to)
    }
}

/// What came of a ``Transfer``.
public struct TransferResult: Decodable, Hashable, Sendable {
    public let transferredAt: Date
    /// Whether the two were linked before.
    public let isRepeated: Bool
}
