// SPDX-License-Identifier: Apache-2.0
import JSON
package import OfferDomain

/// Something that the audit log records; each becomes one entry.
package enum AuditEvent: Sendable {
    /// A signature is about to be made: written before the key is used, and only then is it used.
    case signature(SignatureRecord)
    /// A customer may buy an offer that the store does not ask to be signed: written before they are told.
    case authorization(AuthorizationRecord)
    /// A rule said no, or could not be answered.
    case refusal(RefusalRecord)
    /// What was recorded as a signature could not be made, or did not verify.
    case signatureFailed(grantID: UniqueID, keyID: KeyID, form: SignatureForm, reason: String)
    case serviceStarted(version: String)
    case serviceStopped
    /// Records could not be written for a while; now they can.
    case recordsResumed
    case keyLoaded(keyID: KeyID, publicKeyDigest: String, status: KeyStatus)
    /// The key of a service account of Google's was read.
    case serviceAccountLoaded(GoogleAccountName, publicKeyDigest: String)
    case keyDisabled(KeyID, by: Requester)
    case keyEnabled(KeyID, by: Requester)
    /// Nothing is signed from here on; written once the last signature is made, or, by a command, once no more begin.
    case serviceSealed(ActiveSeal)
    /// The service has seen a seal of the database, and made its last signature.
    case sealAcknowledged(SealCause)
    case serviceUnsealed(SealCause, by: Requester, reason: String)
    /// The time of day jumped.
    case clockStepped(from: Timestamp, to: Timestamp)
    /// A new configuration is in force.
    case configurationLoaded(policyName: String, keysDigest: String)
    /// A new configuration was refused; the old one stays in force.
    case configurationRefused(issues: Int)
    case callerCreated(CallerID, role: CallerRole, keyID: String)
    case callerKeyAdded(CallerID, keyID: String)
    case callerRevoked(CallerID, keyID: String?)
    case recordsExported(from: Int64, count: Int64)
    /// The store sent a notification that was not known before.
    case notificationReceived(NotificationReceipt, BundleID)
    /// A customer used an offer, or it is now known what came of that.
    case redemption(RedemptionTable.Entry, BundleID)
    /// Google Play sent a message that was not known before.
    case googlePlayMessageReceived(GooglePlayMessage, GooglePlayApp)
    /// A customer used an offer at Google Play, or it is now known what came of that.
    case googlePlayRedemption(GooglePlayRedemptionTable.Entry, GooglePlayApp)
    /// An anonymous customer became a known one.
    case customerTransferred(CustomerTransfer)
    /// A subscription appeared under another account than before.
    case subscriptionTransferred(SubscriptionTransfer)
    /// A token for the store's API is about to be signed: written before the key is used.
    case storeTokenSigned(keyID: KeyID, BundleID, digest: String, expiresAt: Timestamp)
    /// An assertion, for which Google gives a token, is about to be signed: written before the key is used.
    case googleAssertionSigned(GoogleAccountName, digest: String, expiresAt: Timestamp)

    /// What the entry's `ev` member says.
    package var name: String {
        switch self {
        case .signature: "sign.intent"
        case .authorization: "authorize.intent"
        case .refusal(let record):
            switch record.request.deliverable {
            case .signature: "sign.deny"
            case .authorization, .preview: "authorize.deny"
            }
        case .signatureFailed: "sign.failed"
        case .serviceStarted: "service.start"
        case .serviceStopped: "service.stop"
        case .recordsResumed: "audit.resume"
        case .keyLoaded, .serviceAccountLoaded: "key.load"
        case .keyDisabled: "key.disable"
        case .keyEnabled: "key.enable"
        case .serviceSealed: "service.seal"
        case .sealAcknowledged: "service.sealed"
        case .serviceUnsealed: "service.unseal"
        case .clockStepped: "clock.step"
        case .configurationLoaded: "config.load"
        case .configurationRefused: "config.refuse"
        case .callerCreated: "caller.create"
        case .callerKeyAdded: "caller.key"
        case .callerRevoked: "caller.revoke"
        case .recordsExported: "audit.export"
        case .notificationReceived, .googlePlayMessageReceived: "store.notification"
        case .redemption, .googlePlayRedemption: "offer.redemption"
        case .customerTransferred: "customer.transferred"
        case .subscriptionTransferred: "subscription.transferred"
        case .storeTokenSigned, .googleAssertionSigned: "store.token"
        }
    }
}

/// What is recorded of one signature.
package struct SignatureRecord: Sendable {
    package let request: DecisionRequest
    package let grant: Grant
    package let plan: SigningPlan
    package let intent: SigningIntent
}

/// What is recorded of one authorization.
package struct AuthorizationRecord: Sendable {
    package let request: DecisionRequest
    package let grant: Grant
    package let plan: AuthorizationPlan
}

/// What is recorded of one refusal.
package struct RefusalRecord: Sendable {
    package let request: DecisionRequest
    package let decision: Decision
}
