// SPDX-License-Identifier: Apache-2.0
package import Cryptography
import JSON
package import OfferDomain

/// A team key of the App Store Connect API, by which a person's check reads what is set up there; it signs no offers.
package struct AppStoreConnectKey: Sendable {
    /// The key's ID in App Store Connect: `kid` in the token.
    package let id: KeyID
    /// The team's issuer ID: `iss` in the token.
    package let issuerID: IssuerID
    private let privateKey: PrivateKey

    /// Of what App Store Connect says of the key, and its file.
    package init(id: KeyID, issuerID: IssuerID, privateKey: PrivateKey) {
        self.id = id
        self.issuerID = issuerID
        self.privateKey = privateKey
    }

    /// SHA-256 over the SubjectPublicKeyInfo as 64 hex digits.
    package var publicKeyDigest: String { privateKey.publicKey.spkiSHA256.hex }
}

extension AppStoreConnectKey {
    /// A token good for five minutes, still without its signature.
    ///
    /// Source: Apple, [Generating Tokens for API Requests](https://developer.apple.com/documentation/appstoreconnectapi/generating-tokens-for-api-requests).
    package func unsignedToken(at now: Timestamp) -> (token: CompactJWS, expiresAt: Timestamp) {
        let expiresAt = now.adding(minutes: 5)
        let claims: JSONTree = [
            "iss": .text(issuerID.description), "iat": .integer(now.adding(seconds: -30).seconds),
            "exp": .integer(expiresAt.seconds), "aud": .text("appstoreconnect-v1"),
        ]
        return (CompactJWS(header: AppStoreClaims.headerBytes(keyID: id), payload: claims.bytes), expiresAt)
    }

    package func signed(_ token: CompactJWS) throws(SigningError) -> String {
        let signature = try privateKey.signature(of: SHA256.digest(of: token.signingInput))
        return String(decoding: token.serialized(signature: signature), as: UTF8.self)
    }
}

extension KeyRingFile {
    /// Reads the optional `appStoreConnect`: the id, issuer and file of a team key.
    func readConnectKey(_ root: inout ObjectReader, _ mismatches: Mismatches) -> AppStoreConnectKey? {
        guard let value = root.member("appStoreConnect") else { return nil }
        var reader = ObjectReader(value, into: mismatches)
        let id = reader.required("id", text: KeyID.init)
        let issuerID = reader.required("issuerId", "a UUID, as the Keys page of App Store Connect shows it") {
            $0.string.flatMap { UniqueID($0) }
        }
        let pem = readSecret(&reader, "file", for: .appStoreKey)
        reader.finish()
        guard let id, let issuerID, let pem else { return nil }
        do throws(PrivateKeyError) {
            return AppStoreConnectKey(id: id, issuerID: issuerID, privateKey: try PrivateKey(pem: pem))
        } catch {
            reader.note("file", error.description)
            return nil
        }
    }
}
