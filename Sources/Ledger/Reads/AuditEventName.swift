// SPDX-License-Identifier: Apache-2.0
import JSON

/// What an entry's `ev` member can say; docs/audit-log.md has a row for each.
package enum AuditEventName: String, CaseIterable, Hashable, Sendable {
    case signIntent = "sign.intent"
    case signDeny = "sign.deny"
    case signFailed = "sign.failed"
    case authorizeIntent = "authorize.intent"
    case authorizeDeny = "authorize.deny"
    case serviceStart = "service.start"
    case serviceStop = "service.stop"
    case serviceSeal = "service.seal"
    case serviceSealed = "service.sealed"
    case serviceUnseal = "service.unseal"
    case clockStep = "clock.step"
    case keyLoad = "key.load"
    case keyDisable = "key.disable"
    case keyDisabled = "key.disabled"
    case keyEnable = "key.enable"
    case configLoad = "config.load"
    case configRefuse = "config.refuse"
    case callerCreate = "caller.create"
    case callerKey = "caller.key"
    case callerRevoke = "caller.revoke"
    case sessionBegin = "session.begin"
    case sessionEnd = "session.end"
    case auditRead = "audit.read"
    case auditFetch = "audit.fetch"
    case auditExport = "audit.export"
    case auditResume = "audit.resume"
    case logRestarted = "log.restarted"
    case ledgerMoved = "ledger.moved"
    case ledgerLeft = "ledger.left"
    case noise
    case refusals
    case secretVersionBegin = "epoch.begin"
    case secretVersionDestroy = "epoch.destroy"
    case customerLookup = "customer.lookup"
    case customerTransferred = "customer.transferred"
    case customerAttributes = "customer.attributes"
    case subscriptionTransferred = "subscription.transferred"
    case accountIntent = "account.intent"
    case accountOutcome = "account.outcome"
    case storeNotification = "store.notification"
    case storeToken = "store.token"
    case offerRedemption = "offer.redemption"
    case grantUnredeemed = "grant.unredeemed"
    case offerMissed = "offer.missed"
    case signatureDiagnosed = "signature.diagnosed"

    /// What is wrong with a name that no entry can have.
    package static func fault(of name: String) -> String? {
        guard AuditEventName(rawValue: name) == nil else { return nil }
        let suggestion = nearest(to: name, among: allCases.map(\.rawValue))
        return "no event is called \(printable(name))"
            + (suggestion.map { "; did you mean “\($0)”?" } ?? "; docs/audit-log.md has all of them")
    }
}
