// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// Why a request that claims to come from Google's push is not believed; these are all the ways.
///
/// Nothing of the token is repeated.
package enum GooglePushFault: Error, Hashable, Sendable {
    case authorizationMissing
    case authorizationRepeated
    case notBearer
    /// The token is not one of Google's for the audience that is set.
    case token(TokenFault)
    /// Google's keys can't be had just now.
    case keysUnavailable
    case otherEmail
    case emailNotVerified

    /// Whether the same request may be believed later: nothing is wrong with it that we know.
    package var isTemporary: Bool { self == .keysUnavailable }

    /// The reason in a few lowercase words joined by hyphens, for metrics and logs.
    package var label: String {
        switch self {
        case .authorizationMissing: "authorization-missing"
        case .authorizationRepeated: "authorization-repeated"
        case .notBearer: "not-bearer"
        case .token(let fault): fault.label
        case .keysUnavailable: "keys-unavailable"
        case .otherEmail: "other-email"
        case .emailNotVerified: "email-not-verified"
        }
    }
}
