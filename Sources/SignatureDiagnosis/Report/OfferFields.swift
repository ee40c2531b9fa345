// SPDX-License-Identifier: Apache-2.0

/// What a signature names; each as it was written.
package struct OfferFields: Sendable, Hashable {
    /// The member `bundleId`.
    package var bundleID: String?
    /// The member `keyIdentifier`.
    package var keyID: String?
    /// The member `productId`.
    package var productID: String?
    /// The member `offerId`.
    package var offerID: String?
    /// The member `appAccountToken`.
    package var appAccountToken: String?
    /// The member `applicationUsername`; it counts only without a token.
    package var applicationUsername: String?
    /// The member `nonce`.
    package var nonce: String?
    /// The number as it was written, even if it is not an integer.
    package var timestamp: String?
    /// The members with `null` or an empty text.
    ///
    /// Nothing was attached there; what a member that is not there had is not known.
    var nothing: Set<String> = []
    /// Whether the time is written as a text.
    var isTimestampText = false

    /// No field is known.
    package init() {}

    /// The fields of the payload that are not known, but for the account: where none is named, none was attached.
    var unknown: [PayloadForm.Field] {
        PayloadForm.Field.allCases.filter { field in
            field != .account && self[field] == nil && !nothing.contains(field.member)
        }
    }

    subscript(field: PayloadForm.Field) -> String? {
        switch field {
        case .bundleID: bundleID
        case .keyID: keyID
        case .productID: productID
        case .offerID: offerID
        case .account: appAccountToken ?? applicationUsername
        case .nonce: nonce
        case .timestamp: timestamp
        }
    }

    func filled(from other: OfferFields) -> OfferFields {
        var fields = self
        func value(_ own: String?, or received: String?, of member: String) -> String? {
            own ?? (nothing.contains(member) ? nil : received)
        }
        fields.bundleID = value(bundleID, or: other.bundleID, of: "bundleId")
        fields.keyID = value(keyID, or: other.keyID, of: "keyIdentifier")
        fields.productID = value(productID, or: other.productID, of: "productId")
        fields.offerID = value(offerID, or: other.offerID, of: "offerId")
        if appAccountToken == nil, applicationUsername == nil {
            fields.appAccountToken = value(nil, or: other.appAccountToken, of: "appAccountToken")
            // An app that received a token and attached none attached nothing in its place either.
            let hasDropped = other.appAccountToken != nil && fields.appAccountToken == nil
            fields.applicationUsername =
                hasDropped ? nil : value(nil, or: other.applicationUsername, of: "applicationUsername")
        }
        fields.nonce = value(nonce, or: other.nonce, of: "nonce")
        fields.timestamp = value(timestamp, or: other.timestamp, of: "timestamp")
        fields.nothing.formUnion(other.nothing)
        return fields
    }
}

extension PayloadForm.Field {
    /// What a report calls it.
    var member: String {
        switch self {
        case .bundleID: "bundleId"
        case .keyID: "keyIdentifier"
        case .productID: "productId"
        case .offerID: "offerId"
        case .account: "appAccountToken"
        case .nonce: "nonce"
        case .timestamp: "timestamp"
        }
    }
}
