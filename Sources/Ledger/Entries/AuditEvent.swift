// SPDX-License-Identifier: Apache-2.0
package import Configuration
import JSON
package import OfferDomain
package import TransparencyLog

/// Something that the audit log records; each becomes one entry.
package enum AuditEvent: Sendable {
    /// A signature is about to be made; the key is used only after this entry is written.
    case signature(SignatureRecord)
    /// A customer may buy an offer that needs no signature; written before the service answers.
    case authorization(AuthorizationRecord)
    /// A rule refused, or could not be decided.
    case refusal(RefusalRecord)
    /// What was recorded as a signature could not be made, or did not verify.
    case signatureFailed(grantID: UniqueID, keyID: KeyID, form: SignatureForm, reason: String)
    /// `furtherRoots` is the SHA-256 of the file of roots that are trusted beside Apple's own, if there is one.
    case serviceStarted(version: String, furtherRoots: String? = nil)
    case serviceStopped
    /// Records could not be written for a while; now they can. Each service records only what it saw itself.
    case recordsResumed(since: Timestamp)
    case keyLoaded(keyID: KeyID, publicKeyDigest: String, status: KeyStatus)
    /// The key of a service account of Google's was read.
    case serviceAccountLoaded(GoogleAccountName, publicKeyDigest: String)
    /// `isAwaited` until all instances have acknowledged, including this one; then ``keyAcknowledged(_:)`` follows.
    case keyDisabled(KeyID, by: Requester, isAwaited: Bool = false)
    /// The service has seen that a key was disabled elsewhere, and has made its last signature with it.
    case keyAcknowledged(KeyID)
    case keyEnabled(KeyID, by: Requester)
    /// Nothing is signed from here on; written after the last signature, or, by a command, once no more begin.
    ///
    /// `isAwaited` as for a key; then ``sealAcknowledged(_:)`` follows.
    case serviceSealed(ActiveSeal, isAwaited: Bool = false)
    /// The service has seen a seal in the database, and has made its last signature.
    case sealAcknowledged(SealCause)
    case serviceUnsealed(SealCause, by: Requester, reason: String)
    /// The time of day jumped.
    case clockStepped(from: Timestamp, to: Timestamp)
    /// The key that the log's own checkpoints are signed with was read.
    case logKeyLoaded(origin: String, publicKeyDigest: String)
    /// The log was started again under another name, because what was signed under its earlier name is lost.
    case logRestarted(previous: Checkpoint)
    /// The whole history was moved into this database, with `entries` entries.
    case ledgerMoved(entries: Int64)
    /// The history was moved from here into another database; this is the last entry.
    case ledgerLeft
    /// A new configuration is in force.
    case configurationLoaded(
        policyName: String,
        keysDigest: String,
        settingsDigest: String,
        eventsDigest: String? = nil
    )
    /// A new configuration was refused; the old one stays in force.
    case configurationRefused(issues: Int, parts: [ConfigurationPart])
    case callerCreated(CallerID, role: CallerRole, keyID: String)
    case callerKeyAdded(CallerID, keyID: String)
    case callerRevoked(CallerID, keyID: String?)
    /// A person signed in to the console by an identity provider.
    case sessionBegun(CallerID, role: CallerRole, expiresAt: Timestamp)
    /// A person signed out of the console, or a command ended `count` sessions of the person.
    case sessionEnded(CallerID, count: Int? = nil)
    case recordsExported(from: Int64, count: Int64)
    /// A reader queried the log.
    case recordsRead(RecordedRead)
    /// Parts of the log that any reader may copy were fetched, in about a minute.
    case recordsFetched(Counted<AuditFetch>)
    /// Requests ended without their own entry, in about a minute.
    case noise(Counted<UnauthenticatedTraffic>)
    /// Refusals of apps that have no entry each, because there were too many.
    case refusalsCounted(Counted<CountedRefusal>)
    /// From now on, customers' IDs are stored under this version of the secret.
    case secretVersionBegun(String)
    /// This version of the secret was destroyed, so its pseudonyms can no longer be traced to customers.
    case secretVersionDestroyed(String)
    /// A caller asked for the pseudonyms of a known customer; `by` is `nil` for a command.
    case customerLookedUp(AppName, users: [Pseudonym], by: CallerID? = nil)
    /// A store sent a notification that was not known before.
    case notificationReceived(NotificationReceipt, StoreApp, AppName)
    /// A customer used an offer, or the result of a use is now known.
    ///
    /// Here and below, a grant under an earlier secret is not named: its own entry has pseudonyms of that secret,
    /// which must not be linked to a key in force.
    case redemption(MatchedRedemption, AppName, namesGrant: Bool = true)
    /// No store has reported a use of a grant in time.
    case grantUnredeemed(UnredeemedGrant)
    /// An anonymous customer became a known one.
    case customerTransferred(CustomerTransfer)
    /// A backend stored attributes of a customer, or deleted them.
    case attributesChanged(AttributeChange)
    /// A subscription appeared under another account than before.
    case subscriptionTransferred(SubscriptionTransfer)
    /// The App Store is about to be asked to put another app account token on purchases, or has answered.
    case accountToken(AccountTokenChange, answer: Result<StoreEnvironment, StoreError>? = nil)
    /// A token for the store's API is about to be signed: written before the key is used.
    case storeTokenSigned(keyID: KeyID, BundleID, digest: String, expiresAt: Timestamp)
    /// An assertion, to get a token from Google, is about to be signed: written before the key is used.
    case googleAssertionSigned(GoogleAccountName, digest: String, expiresAt: Timestamp)
    /// A customer bought right after a grant, without its offer; `namesGrant` as for a redemption.
    case boughtWithoutOffer(BoughtWithoutOffer, namesGrant: Bool)
    /// A caller asked why a signature was refused.
    case signatureDiagnosed(DiagnosisRecord)

    /// What the entry's `ev` member says.
    package var name: AuditEventName {
        switch self {
        case .signature: .signIntent
        case .authorization: .authorizeIntent
        case .refusal(let record):
            switch record.request.grantable {
            case .signature: .signDeny
            case .authorization, .preview: .authorizeDeny
            }
        case .signatureFailed: .signFailed
        case .serviceStarted: .serviceStart
        case .serviceStopped: .serviceStop
        case .recordsResumed: .auditResume
        case .ledgerMoved: .ledgerMoved
        case .ledgerLeft: .ledgerLeft
        case .keyLoaded, .serviceAccountLoaded, .logKeyLoaded: .keyLoad
        case .keyDisabled: .keyDisable
        case .keyAcknowledged: .keyDisabled
        case .keyEnabled: .keyEnable
        case .serviceSealed: .serviceSeal
        case .sealAcknowledged: .serviceSealed
        case .serviceUnsealed: .serviceUnseal
        case .clockStepped: .clockStep
        case .logRestarted: .logRestarted
        case .configurationLoaded: .configLoad
        case .configurationRefused: .configRefuse
        case .callerCreated: .callerCreate
        case .callerKeyAdded: .callerKey
        case .callerRevoked: .callerRevoke
        case .sessionBegun: .sessionBegin
        case .sessionEnded: .sessionEnd
        case .recordsExported: .auditExport
        case .recordsRead: .auditRead
        case .recordsFetched: .auditFetch
        case .noise: .noise
        case .refusalsCounted: .refusals
        case .secretVersionBegun: .secretVersionBegin
        case .secretVersionDestroyed: .secretVersionDestroy
        case .customerLookedUp: .customerLookup
        case .notificationReceived: .storeNotification
        case .redemption: .offerRedemption
        case .grantUnredeemed: .grantUnredeemed
        case .customerTransferred: .customerTransferred
        case .attributesChanged: .customerAttributes
        case .subscriptionTransferred: .subscriptionTransferred
        case .accountToken(_, let answer): answer == nil ? .accountIntent : .accountOutcome
        case .storeTokenSigned, .googleAssertionSigned: .storeToken
        case .signatureDiagnosed: .signatureDiagnosed
        case .boughtWithoutOffer: .offerMissed
        }
    }
}

/// What is recorded of one signature.
package struct SignatureRecord: Sendable {
    /// What was asked for, and by whom.
    package let request: DecisionRequest
    /// The grant that the signature belongs to.
    package let terms: GrantTerms
    /// All that is signed for the request.
    package let plan: SigningPlan
    /// The signature that the entry is about; a plan with several has an entry for each.
    package let intent: SigningIntent
    /// Why the offer is not allowed, if that is what is signed.
    package let denial: Decision?
    /// What a backend had stored before and the decision used.
    package let stored: StoredNames
    /// False if it was granted under an earlier secret: the grant's first entry has pseudonyms of that secret.
    package let namesUsers: Bool
}

/// What is recorded of one authorization.
package struct AuthorizationRecord: Sendable {
    /// What was asked for, and by whom.
    package let request: DecisionRequest
    /// The grant that the authorization makes.
    package let terms: GrantTerms
    /// The offer at Google Play that the customer may use.
    package let plan: AuthorizationPlan
    /// As of a ``SignatureRecord``.
    package let stored: StoredNames
    /// As of a ``SignatureRecord``.
    package let namesUsers: Bool
}

/// What is recorded of one refusal.
package struct RefusalRecord: Sendable {
    /// What was asked for, and by whom.
    package let request: DecisionRequest
    /// The decision, which is not `eligible`, with its findings.
    package let decision: Decision
    /// As of a ``SignatureRecord``.
    package let stored: StoredNames
}
