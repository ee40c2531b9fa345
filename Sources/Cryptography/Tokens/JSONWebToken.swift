// SPDX-License-Identifier: Apache-2.0
package import JSON

/// A parsed compact JWS (RFC 7515 section 7.1); nothing that it says counts before its signature is verified.
///
/// A class, because it is handed on several times and never changes.
package final class JSONWebToken: Sendable {
    /// As the header names it; one of those known, and never `none` or a symmetric one.
    package let algorithm: TokenAlgorithm
    /// `nil` if the header names no key.
    package let keyID: String?
    /// `nil` if the header names none.
    package let type: String?
    /// The header's own key, for proofs of possession alone; of a token it is passed over.
    package let headerKey: JSONValue?
    /// The JSON object that was signed.
    package let payload: JSONObject
    /// The token as it was sent.
    private let text: ArraySlice<UInt8>
    /// The bytes that are signed, in ASCII.
    private let signingInput: ArraySlice<UInt8>
    private let signature: [UInt8]

    /// Several times what providers issue; a request's head has no room for more.
    package static let maximumBytes = 8192
    /// Of `kid`.
    package static let maximumKeyIDBytes = 256

    private static let headerLimits = JSONLimits(maximumBytes: maximumBytes, maximumDepth: 6, maximumNodes: 256)
    private static let payloadLimits = JSONLimits(maximumBytes: maximumBytes, maximumDepth: 8, maximumNodes: 1024)

    /// Parses a token.
    package init(_ token: ArraySlice<UInt8>) throws(TokenFault) {
        guard token.count <= Self.maximumBytes else { throw .tooLarge }
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 5, omittingEmptySubsequences: false)
        guard parts.count != 5 else { throw .encrypted }
        guard parts.count == 3, !parts[0].isEmpty, !parts[1].isEmpty else { throw .notThreeSegments }
        guard let headerText = Base64.decodeURL(Array(parts[0])), let payloadText = Base64.decodeURL(Array(parts[1])),
            let signature = Base64.decodeURL(Array(parts[2]))
        else { throw .notBase64URL }
        guard let header = Self.object(headerText, Self.headerLimits) else { throw .headerNotJSON }
        guard header["crit"] == nil, header["enc"] == nil else { throw .forbiddenHeaderMember }
        algorithm = try Self.algorithm(header["alg"])
        // Checked after the algorithm: “none” says more than a missing signature.
        guard !signature.isEmpty else { throw .notThreeSegments }
        keyID = try Self.keyID(header["kid"])
        if let value = header["typ"] {
            guard let text = value.string else { throw .otherType }
            type = text
        } else {
            type = nil
        }
        headerKey = header["jwk"]
        guard let payload = Self.object(payloadText, Self.payloadLimits) else { throw .payloadNotJSON }
        self.payload = payload
        self.signature = signature
        text = token
        signingInput = token[..<parts[1].endIndex]
    }

    /// Whether that key has signed it, by the header's algorithm.
    package func isSigned(by key: TokenKey) -> Bool {
        key.verifies(signature, of: signingInput, by: algorithm)
    }

    /// The digest of the whole token.
    package var digest: SHA256Digest { SHA256.digest(of: text) }

    private static func object(_ text: [UInt8], _ limits: JSONLimits) -> JSONObject? {
        (try? JSONDocument(text, limits: limits))?.root.object
    }

    private static func algorithm(_ value: JSONValue?) throws(TokenFault) -> TokenAlgorithm {
        guard let value else { throw .algorithmMissing }
        guard let name = value.string else { throw .algorithmNotAllowed }
        if let algorithm = TokenAlgorithm.allCases.first(where: { $0.rawValue.utf8.elementsEqual(name.utf8) }) {
            return algorithm
        }
        // The names only make the reason clearer.
        switch name.lowercased() {
        case "none": throw .algorithmNone
        case "hs256", "hs384", "hs512": throw .algorithmSymmetric
        default: throw .algorithmNotAllowed
        }
    }

    private static func keyID(_ value: JSONValue?) throws(TokenFault) -> String? {
        guard let value else { return nil }
        guard let id = value.string, (1...maximumKeyIDBytes).contains(id.utf8.count) else { throw .keyIDUnfit }
        return id
    }
}
