// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Cryptography
import JSON
package import Ledger
package import OfferDomain

/// Signs the assertions that Google exchanges for access tokens.
package protocol GoogleAssertionSigner: Sendable {
    /// The account that asks about the app now; `nil` if the app has none.
    func accountName(for packageName: PackageName) -> GoogleAccountName?

    /// Records the use of the key, then signs.
    ///
    /// - Throws: `StoreError.cannotSign(reason:)`.
    func assertion(
        for packageName: PackageName,
        _ scope: GoogleScope,
        _ times: AssertionTimes
    ) async throws(StoreError) -> SignedAssertion
}

/// What an access token lets its bearer do.
package enum GoogleScope: String, CaseIterable, Sendable {
    /// The Google Play Developer API, which has no narrower one.
    case androidPublisher = "https://www.googleapis.com/auth/androidpublisher"
    case playIntegrity = "https://www.googleapis.com/auth/playintegrity"
}

/// From when until when an assertion is good.
package struct AssertionTimes: Hashable, Sendable {
    /// The claim `iat`, in whole seconds.
    package let issuedAt: Timestamp
    /// At most an hour after ``issuedAt``.
    package let expiresAt: Timestamp

    package init(issuedAt: Timestamp, expiresAt: Timestamp) {
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }

    /// The claims as JSON.
    ///
    /// The audience is Google's token server also where another one is asked.
    ///
    /// Source: Google, [Using OAuth 2.0 for server to server applications](https://developers.google.com/identity/protocols/oauth2/service-account#httprest).
    package func claims(of email: GoogleEmail, _ scope: GoogleScope) -> [UInt8] {
        let claims: JSONTree = [
            "iss": .text(email.text), "scope": .text(scope.rawValue), "aud": .text(Self.audience),
            "iat": .integer(issuedAt.seconds), "exp": .integer(expiresAt.seconds),
        ]
        return claims.bytes
    }

    /// The claim `aud`: Google's token endpoint.
    package static let audience = "https://oauth2.googleapis.com/token"
}

/// An assertion and its service account.
package struct SignedAssertion: Sendable {
    /// The compact JWS: letters, digits, `-`, `_` and dots.
    package let text: [UInt8]
    /// The service account that the assertion is about, and its key.
    package let account: GoogleAccountName

    package init(text: [UInt8], account: GoogleAccountName) {
        self.text = text
        self.account = account
    }
}

/// Signs assertions with the service accounts of the key ring.
package struct KeyRingAssertionSigner: GoogleAssertionSigner {
    /// Makes the use of a key durable before it happens; an error prevents the use.
    package typealias Recording =
        @Sendable (GoogleServiceAccount, _ expiresAt: Timestamp, SHA256Digest) async throws(StoreError) -> Void

    private let keyUseGuard: KeyUseGuard
    private let account: @Sendable (PackageName) -> GoogleServiceAccount?
    private let record: Recording

    /// - Parameters:
    ///   - keyUseGuard: Blocks the use of keys.
    ///   - account: The account of an app, as the ring has it now.
    ///   - record: Makes the use of the key durable.
    package init(
        keyUseGuard: KeyUseGuard = KeyUseGuard(),
        account: @escaping @Sendable (PackageName) -> GoogleServiceAccount?,
        record: @escaping Recording
    ) {
        self.keyUseGuard = keyUseGuard
        self.account = account
        self.record = record
    }

    /// The name of the account that the key ring has for the app.
    package func accountName(for packageName: PackageName) -> GoogleAccountName? { account(packageName)?.name }

    /// Records the use, and signs unless the service is sealed.
    package func assertion(
        for packageName: PackageName,
        _ scope: GoogleScope,
        _ times: AssertionTimes
    ) async throws(StoreError) -> SignedAssertion {
        guard let account = account(packageName) else {
            throw .cannotSign(reason: "no service account is set for \(packageName)")
        }
        let unsigned = CompactJWS(
            header: Self.header(account.name.keyID),
            payload: times.claims(of: account.name.email, scope)
        )
        let digest = SHA256.digest(of: unsigned.signingInput)
        try await record(account, times.expiresAt, digest)
        let signature: Result<[UInt8], KeyStop>
        do throws(SigningError) {
            signature = try keyUseGuard.use(nil) { () throws(SigningError) in
                try account.privateKey.signatureRS256(of: digest)
            }
        } catch {
            throw .cannotSign(reason: error.description)
        }
        switch signature {
        case .success(let signature):
            return SignedAssertion(text: unsigned.serialized(rs256: signature), account: account.name)
        case .failure(let stop): throw .cannotSign(reason: stop.reason)
        }
    }

    private static func header(_ keyID: GoogleKeyID) -> [UInt8] {
        let header: JSONTree = ["alg": .text("RS256"), "typ": .text("JWT"), "kid": .text(keyID.text)]
        return header.bytes
    }
}
