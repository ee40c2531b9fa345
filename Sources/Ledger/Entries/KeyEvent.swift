// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// An ``AuditEvent`` of a private key, or of what it signs besides decisions.
package enum KeyEvent: Sendable {
    /// A signing key was read.
    case loaded(keyID: KeyID, publicKeyDigest: String, status: KeyStatus)
    /// The key of a service account of Google's was read.
    case serviceAccountLoaded(GoogleAccountName, publicKeyDigest: String)
    /// The key that the log's own checkpoints are signed with was read.
    case logKeyLoaded(origin: String, publicKeyDigest: String)
    /// `isAwaited` until all instances have acknowledged, including this one; then ``acknowledged(_:)`` follows.
    case disabled(KeyID, by: Requester, isAwaited: Bool = false)
    /// The service has seen that a key was disabled elsewhere, and has made its last signature with it.
    case acknowledged(KeyID)
    /// It may be used again.
    case enabled(KeyID, by: Requester)
    /// What was recorded as a signature could not be made, or did not verify.
    case signatureFailed(grantID: UniqueID, keyID: KeyID, form: SignatureForm, reason: String)
    /// A token for the store's API is about to be signed: written before the key is used.
    case storeTokenSigned(keyID: KeyID, BundleID, digest: String, expiresAt: Timestamp)
    /// An assertion, to get a token from Google, is about to be signed: written before the key is used.
    case googleAssertionSigned(GoogleAccountName, digest: String, expiresAt: Timestamp)

    /// What the entry's `ev` member says.
    var name: AuditEventName {
        switch self {
        case .loaded, .serviceAccountLoaded, .logKeyLoaded: .keyLoad
        case .disabled: .keyDisable
        case .acknowledged: .keyDisabled
        case .enabled: .keyEnable
        case .signatureFailed: .signFailed
        case .storeTokenSigned, .googleAssertionSigned: .storeToken
        }
    }

    /// The entry's other members.
    var details: [AuditEntry.Member] {
        switch self {
        case .loaded(let keyID, let digest, let status):
            [("kid", .text(keyID.text)), ("spki", .text(digest)), ("status", .text(status.rawValue))]
        case .serviceAccountLoaded(let name, let digest):
            [("account", .text(name.email.text)), ("kid", .text(name.keyID.text)), ("spki", .text(digest))]
        case .logKeyLoaded(let origin, let digest): [("origin", .text(origin)), ("spki", .text(digest))]
        case .disabled(let keyID, let requester, let isAwaited):
            [("kid", .text(keyID.text))] + AuditEntry.details(of: requester, isAwaited: isAwaited)
        case .enabled(let keyID, let requester): [("kid", .text(keyID.text))] + AuditEntry.details(of: requester)
        case .acknowledged(let keyID): [("kid", .text(keyID.text))]
        case .signatureFailed(let grantID, let keyID, let form, let reason):
            [
                ("grant", .text(grantID.description)), ("kid", .text(keyID.text)), ("fmt", .text(form.rawValue)),
                ("why", .text(reason)),
            ]
        case .storeTokenSigned(let keyID, let bundleID, let digest, let expiresAt):
            [("bundle", .text(bundleID.text))] + Self.token(by: keyID.text, digest: digest, expiresAt)
        case .googleAssertionSigned(let name, let digest, let expiresAt):
            [("account", .text(name.email.text))] + Self.token(by: name.keyID.text, digest: digest, expiresAt)
        }
    }

    private static func token(by keyID: String, digest: String, _ expiresAt: Timestamp) -> [AuditEntry.Member] {
        [("kid", .text(keyID)), ("digest", .text(digest)), ("exp", .integer(expiresAt.seconds))]
    }
}
