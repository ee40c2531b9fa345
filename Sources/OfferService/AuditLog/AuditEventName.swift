// SPDX-License-Identifier: Apache-2.0

/// What an entry's `ev` member can say; docs/audit-log.md has a row for each.
package enum AuditEventName: String, CaseIterable, Hashable, Sendable {
    case signIntent = "sign.intent"
    case signDeny = "sign.deny"
    case signFailed = "sign.failed"
    case authorizeIntent = "authorize.intent"
    case authorizeDeny = "authorize.deny"
    case serviceStart = "service.start"
    case serviceStop = "service.stop"
    case keyLoad = "key.load"
    case keyDisable = "key.disable"
    case keyEnable = "key.enable"
    case configLoad = "config.load"
    case configRefuse = "config.refuse"
    case callerCreate = "caller.create"
    case callerKey = "caller.key"
    case callerRevoke = "caller.revoke"
    case auditRead = "audit.read"
    case auditFetch = "audit.fetch"
    case auditExport = "audit.export"
    case auditResume = "audit.resume"
    case noise
    case epochBegin = "epoch.begin"
    case epochDestroy = "epoch.destroy"
    case customerLookup = "customer.lookup"
    case customerTransferred = "customer.transferred"
    case subscriptionTransferred = "subscription.transferred"
    case storeNotification = "store.notification"
    case storeToken = "store.token"
    case offerRedemption = "offer.redemption"
}
