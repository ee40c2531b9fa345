// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Cryptography
import JSON
package import Ledger
package import OfferDomain

/// Signs the tokens that identify the service to the App Store.
package protocol TokenSigner: Sendable {
    /// The key that signs for the app now; `nil` if the app has none.
    func keyID(for bundleID: BundleID) -> KeyID?

    /// Records the use of the key, then signs.
    ///
    /// - Throws: `StoreError.cannotSign(reason:)`.
    func signature(for request: TokenRequest) async throws(StoreError) -> SignedToken
}

/// What a token is to say.
package struct TokenRequest: Hashable, Sendable {
    /// The app that is asked about: the claim `bid`.
    package let bundleID: BundleID
    /// The claim `iat`, in whole seconds.
    package let issuedAt: Timestamp
    /// At most an hour after ``issuedAt``.
    package let expiresAt: Timestamp

    package init(bundleID: BundleID, issuedAt: Timestamp, expiresAt: Timestamp) {
        self.bundleID = bundleID
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }

    /// The claims as JSON.
    ///
    /// Source: Apple, [Generating JSON Web Tokens for API requests](https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests).
    package func claims(issuerID: IssuerID) -> [UInt8] {
        let claims: JSONTree = [
            "iss": .text(issuerID.description), "iat": .integer(issuedAt.seconds), "exp": .integer(expiresAt.seconds),
            "aud": .text(Self.audience), "bid": .text(bundleID.text),
        ]
        return claims.bytes
    }

    /// The claim `aud` of every token for the App Store Server API.
    package static let audience = "appstoreconnect-v1"
}

/// A token, good until ``TokenRequest/expiresAt``.
package struct SignedToken: Hashable, Sendable {
    /// The compact JWS.
    package let text: String
    /// The key that signed it: `kid` in its header.
    package let keyID: KeyID

    package init(text: String, keyID: KeyID) {
        self.text = text
        self.keyID = keyID
    }
}

/// Signs tokens with the keys of the ring.
package struct KeyRingTokenSigner: TokenSigner {
    private let keyUseGuard: KeyUseGuard
    private let key: @Sendable (BundleID) -> ActiveKey?
    private let record: @Sendable (ActiveKey, TokenRequest, SHA256Digest) async throws(StoreError) -> Void

    /// - Parameters:
    ///   - keyUseGuard: Blocks the use of keys.
    ///   - key: The key that signs for an app, as the ring has it now.
    ///   - record: Makes the use of the key durable before it happens; an error prevents the use.
    package init(
        keyUseGuard: KeyUseGuard = KeyUseGuard(),
        key: @escaping @Sendable (BundleID) -> ActiveKey?,
        record: @escaping @Sendable (ActiveKey, TokenRequest, SHA256Digest) async throws(StoreError) -> Void
    ) {
        self.keyUseGuard = keyUseGuard
        self.key = key
        self.record = record
    }

    /// The ring's key for the app.
    package func keyID(for bundleID: BundleID) -> KeyID? { key(bundleID)?.id }

    /// Records the use, and signs unless the key is disabled or the service is sealed.
    package func signature(for request: TokenRequest) async throws(StoreError) -> SignedToken {
        guard let key = key(request.bundleID) else {
            throw .cannotSign(reason: StoreError.noKey(for: request.bundleID))
        }
        let unsigned = CompactJWS(
            header: AppStoreClaims.headerBytes(keyID: key.id),
            payload: request.claims(issuerID: key.issuerID)
        )
        let digest = SHA256.digest(of: unsigned.signingInput)
        try await record(key, request, digest)
        let signature: Result<ECDSASignature, KeyStop>
        do throws(SigningError) {
            signature = try keyUseGuard.use(key.id) { () throws(SigningError) in
                try key.privateKey.signature(of: digest)
            }
        } catch {
            throw .cannotSign(reason: "\(error)")
        }
        switch signature {
        case .success(let signature):
            let text = String(decoding: unsigned.serialized(signature: signature), as: UTF8.self)
            return SignedToken(text: text, keyID: key.id)
        case .failure(let stop): throw .cannotSign(reason: stop.reason)
        }
    }
}
