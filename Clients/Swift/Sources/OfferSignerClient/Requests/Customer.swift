// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Who the customer is, and what is known of their purchases.
///
/// An app sends what StoreKit signed. Only a backend may send ``customerID``, ``facts`` and ``attributes``.
public struct Customer: Hashable, Sendable {
    /// Your backend's ID of the customer.
    public var customerID: String?
    /// The app's ID for a customer without a login.
    public var anonymousID: String?
    /// Any transaction of the customer, or the app transaction ID.
    public var transactionID: String?
    /// `jwsRepresentation` of up to 8 transactions.
    public var signedTransactions: [String]
    /// `jwsRepresentation` of up to 8 renewal infos; each needs a transaction of its subscription beside it.
    public var signedRenewalInfo: [String]
    public var facts: Facts?
    public var attributes: [String: AttributeValue]?

    public init(
        customerID: String? = nil,
        anonymousID: String? = nil,
        transactionID: String? = nil,
        signedTransactions: [String] = [],
        signedRenewalInfo: [String] = [],
        facts: Facts? = nil,
        attributes: [String: AttributeValue]? = nil
    ) {
        self.customerID = customerID
        self.anonymousID = anonymousID
        self.transactionID = transactionID
        self.signedTransactions = signedTransactions
        self.signedRenewalInfo = signedRenewalInfo
        self.facts = facts
        self.attributes = attributes
    }

    private enum Members: String, CodingKey {
        case customerId, anonymousId, transactionId, signedTransactions, signedRenewalInfo, facts, attributes
    }

    /// Adds its members to the object that is being written.
    func encodeMembers(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Members.self)
        try members.encodeIfPresent(customerID, forKey: .customerId)
        try members.encodeIfPresent(anonymousID, forKey: .anonymousId)
        try members.encodeIfPresent(transactionID, forKey: .transactionId)
        if !signedTransactions.isEmpty { try members.encode(signedTransactions, forKey: .signedTransactions) }
        if !signedRenewalInfo.isEmpty { try members.encode(signedRenewalInfo, forKey: .signedRenewalInfo) }
        try members.encodeIfPresent(facts, forKey: .facts)
        try members.encodeIfPresent(attributes, forKey: .attributes)
    }
}
