// SPDX-License-Identifier: Apache-2.0

/// The customer whose purchase a V1 signature is valid for: the fifth of the signed fields.
///
/// The app must attach exactly this value to its purchase, or the App Store rejects the signature as invalid.
///
/// Source: Apple, [Generating a signature for promotional offers](https://developer.apple.com/documentation/storekit/generating-a-signature-for-promotional-offers).
package enum PurchaseBinding: Hashable, Sendable {
    /// No particular customer: the field is empty, its separators stay.
    case none
    /// The UUID that StoreKit 2 calls `appAccountToken`; signed in lowercase.
    case appAccountToken(UniqueID)
    /// The free text that StoreKit 1 calls `applicationUsername`; signed unchanged.
    case applicationUsername(ApplicationUsername)

    /// The name that it gives the customer; `nil` if none.
    package var identity: CustomerIdentity? {
        switch self {
        case .none: nil
        case .appAccountToken(let token): .appAccountToken(token)
        case .applicationUsername(let name): .applicationUsername(name)
        }
    }

    /// Appends the field's text.
    func appendSignedText(to text: inout [UInt8]) {
        switch self {
        case .none: break
        case .appAccountToken(let token): token.append(to: &text)
        case .applicationUsername(let name): text.append(contentsOf: name.text.utf8)
        }
    }
}

/// What an app gave StoreKit 1 as `applicationUsername`: 1 to 255 bytes from 0x21 to 0x7E, letter case kept.
///
/// Source: Apple, [applicationUsername](https://developer.apple.com/documentation/storekit/skmutablepayment/applicationusername).
package struct ApplicationUsername: Hashable, Sendable, CustomStringConvertible {
    /// As it was given.
    package let text: String

    /// Takes what a caller sent.
    package init(_ text: String) throws(IdentifierError) {
        try ApplicationUsername.shape.check(text.utf8.span)
        self.text = text
    }

    /// Takes bytes from a request; it refuses everything except ASCII.
    package init(utf8 bytes: [UInt8]) throws(IdentifierError) {
        try self.init(utf8: bytes[...])
    }

    /// Takes bytes from a request; it refuses everything except ASCII.
    package init(utf8 bytes: ArraySlice<UInt8>) throws(IdentifierError) {
        try ApplicationUsername.shape.check(bytes.span)
        self.text = String(decoding: bytes, as: UTF8.self)
    }

    /// The name itself, which may be a customer's: not for logs.
    package var description: String { text }

    private static let shape = IdentifierShape(.visible)
}
