// SPDX-License-Identifier: Apache-2.0

/// An algorithm that a token of an identity provider may be signed with; all of them are asymmetric.
///
/// Source: RFC 7518 section 3.1, RFC 8037 section 3.1.
package enum TokenAlgorithm: String, CaseIterable, Hashable, Sendable {
    case es256 = "ES256"
    case rs256 = "RS256"
    case ps256 = "PS256"
    case edDSA = "EdDSA"
}
