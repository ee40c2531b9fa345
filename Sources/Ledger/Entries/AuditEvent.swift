// SPDX-License-Identifier: Apache-2.0
package import Configuration
import JSON
package import OfferDomain

/// Something that the audit log records; each becomes one entry.
package enum AuditEvent: Sendable {
    /// A signature is about to be made; the key is used only after this entry is written.
    case signature(SignatureRecord)
    /// A customer may buy an offer that needs no signature; written before the service answers.
    case authorization(AuthorizationRecord)
    /// A rule refused, or could not be decided.
    case refusal(RefusalRecord)
    /// `furtherRoots` is the SHA-256 of the file of roots that are trusted beside Apple's own, if there is one.
    case serviceStarted(version: String, furtherRoots: String? = nil)
    case serviceStopped
    /// A private key was read, disabled, enabled or used.
    case key(KeyEvent)
    /// Nothing is signed from here on; written after the last signature, or, by a command, once no more begin.
    ///
    /// `isAwaited` as for a key; then ``sealAcknowledged(_:)`` follows.
    case serviceSealed(ActiveSeal, isAwaited: Bool = false)
    /// The service has seen a seal in the database, and has made its last signature.
    case sealAcknowledged(SealCause)
    case serviceUnsealed(SealCause, by: Requester, reason: String)
    /// The time of day jumped.
    case clockStepped(from: Timestamp, to: Timestamp)
    /// The records themselves were read, moved or begun again.
    case records(RecordsEvent)
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
    /// An API key or a session of a caller began or ended.
    case caller(CallerEvent)
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
        case .serviceStarted: .serviceStart
        case .serviceStopped: .serviceStop
        case .ledgerLeft: .ledgerLeft
        case .key(let event): event.name
        case .caller(let event): event.name
        case .records(let event): event.name
        case .serviceSealed: .serviceSeal
        case .sealAcknowledged: .serviceSealed
        case .serviceUnsealed: .serviceUnseal
        case .clockStepped: .clockStep
        case .configurationLoaded: .configLoad
        case .configurationRefused: .configRefuse
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
