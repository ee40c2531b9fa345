// SPDX-License-Identifier: Apache-2.0
import JSON

/// The kinds of data that the App Store signs, distinguished by their members.
package enum SignedDataKind: Hashable, Sendable, CaseIterable {
    case transaction
    case renewalInfo
    case appTransaction
    case notification
    case realtimeRequest

    /// The kind of a signed text; `nil` if its members match no known kind.
    init?(_ object: JSONObject) {
        func has(_ names: String...) -> Bool { names.contains { object[$0] != nil } }
        if has("notificationType", "notificationUUID") {
            self = .notification
        } else if has("receiptType", "receiptCreationDate", "originalApplicationVersion") {
            self = .appTransaction
        } else if has("autoRenewStatus", "autoRenewProductId") {
            self = .renewalInfo
        } else if has("transactionId"), has("purchaseDate", "productId", "inAppOwnershipType") {
            self = .transaction
        } else if has("requestIdentifier"), has("userLocale") {
            self = .realtimeRequest
        } else {
            return nil
        }
    }

    /// With its article, for sentences.
    package var noun: String {
        switch self {
        case .transaction: "a transaction"
        case .renewalInfo: "a renewal info"
        case .appTransaction: "an app transaction"
        case .notification: "a notification"
        case .realtimeRequest: "a real-time request of Retention Messaging"
        }
    }

    var signedNoun: String {
        switch self {
        case .transaction: "a signed transaction (JWSTransaction)"
        case .renewalInfo: "a signed renewal info (JWSRenewalInfo)"
        case .appTransaction: "a signed app transaction (JWSAppTransaction)"
        case .notification: "a signed notification (responseBodyV2)"
        case .realtimeRequest: "a signed real-time request"
        }
    }

    /// Where data of this kind belongs; with a space before it.
    var advice: String {
        switch self {
        case .transaction: " It belongs in signedTransactions."
        case .renewalInfo: " It belongs in signedRenewalInfo."
        case .appTransaction: " It belongs in signedAppTransaction."
        case .notification: " It belongs to POST /v1/notifications/app-store."
        case .realtimeRequest: ""
        }
    }
}

/// What is sent now and then where signed data belongs.
package enum UnsignedData: Hashable, Sendable {
    /// The receipt of StoreKit 1, or of `/verifyReceipt`.
    case receipt
    /// The JSON inside signed data, without its signature.
    case json(SignedDataKind?)
    /// A JWS that a key of the team made, as this service makes them.
    case ownJWS
    /// The id of a transaction, in place of the transaction.
    case transactionID
    /// Signed data with a line end, blanks or quotes around it.
    case surrounded

    var label: String {
        switch self {
        case .receipt: "storekit-1-receipt"
        case .json: "unsigned-json"
        case .ownJWS: "own-jws"
        case .transactionID: "transaction-id"
        case .surrounded: "surrounded"
        }
    }

    var noun: String {
        switch self {
        case .receipt: "a receipt of StoreKit 1"
        case .json(let kind): "the JSON of \(kind?.noun ?? "signed data") without its signature"
        case .ownJWS: "a JWS that your own key signed, and not the App Store"
        case .transactionID: "the id of a transaction"
        case .surrounded: "signed data with other characters around it, as line ends, blanks or quotes"
        }
    }

    var advice: String {
        switch self {
        case .receipt, .json: "Send the jwsRepresentation of StoreKit 2's VerificationResult."
        case .ownJWS: "Send what StoreKit or the App Store Server API gave you."
        case .transactionID:
            "Send the jwsRepresentation of StoreKit 2's VerificationResult, or, from a backend, the id in transactionId."
        case .surrounded: "Send the compact JWS alone."
        }
    }
}
