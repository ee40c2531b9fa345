// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What the app handed to StoreKit, where that differs from the signed offer; `nil` is as signed.
public struct AttachedValues: Encodable, Hashable, Sendable {
    /// The customer that the app named to StoreKit.
    public enum Account: Hashable, Sendable {
        /// The token or user name of the signed offer.
        case asSigned
        case appAccountToken(UUID)
        case applicationUsername(String)
        /// Neither a token nor a user name.
        case nothing
    }

    public var productID: String?
    public var offerID: String?
    public var keyID: String?
    public var nonce: UUID?
    public var timestamp: Int?
    /// The text, or with StoreKit 2 the Base64 of the bytes.
    public var signature: String?
    public var account: Account

    public init(
        productID: String? = nil,
        offerID: String? = nil,
        keyID: String? = nil,
        nonce: UUID? = nil,
        timestamp: Int? = nil,
        signature: String? = nil,
        account: Account = .asSigned
    ) {
        self.productID = productID
        self.offerID = offerID
        self.keyID = keyID
        self.nonce = nonce
        self.timestamp = timestamp
        self.signature = signature
        self.account = account
    }

    /// Whether nothing but the signature may differ, which the report has beside it.
    var isAsSigned: Bool {
        var values = self
        values.signature = nil
        return values == AttachedValues()
    }

    private enum Members: String, CodingKey {
        case productId, offerId, keyIdentifier, nonce, timestamp, appAccountToken, applicationUsername
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Members.self)
        try members.encodeIfPresent(productID, forKey: .productId)
        try members.encodeIfPresent(offerID, forKey: .offerId)
        try members.encodeIfPresent(keyID, forKey: .keyIdentifier)
        try members.encodeIfPresent(nonce?.uuidString.lowercased(), forKey: .nonce)
        try members.encodeIfPresent(timestamp, forKey: .timestamp)
        switch account {
        case .asSigned: break
        case .appAccountToken(let token):
            try members.encode(token.uuidString.lowercased(), forKey: .appAccountToken)
            try members.encodeNil(forKey: .applicationUsername)
        case .applicationUsername(let name):
            try members.encodeNil(forKey: .appAccountToken)
            try members.encode(name, forKey: .applicationUsername)
        case .nothing:
            try members.encodeNil(forKey: .appAccountToken)
            try members.encodeNil(forKey: .applicationUsername)
        }
    }
}
