// SPDX-License-Identifier: Apache-2.0
package import Configuration
import JSON
package import Ledger

extension AuditCategory {
    /// The categories of an entry, the most severe first; empty for an event that this version does not know.
    static func categories(ofEntry members: JSONObject) -> [AuditCategory] {
        guard let name = members["ev"]?.string.flatMap(AuditEventName.init(rawValue:)) else { return [] }
        var found = categories(of: name)
        let match = members["match"]?.string.flatMap(RedemptionMatch.init(rawValue:))
        if name == .offerRedemption, match == .ungranted || match == .otherAccount { found.insert(.alarms) }
        return allCases.filter(found.contains)
    }

    /// The categories of every entry with that event.
    package static func categories(of name: AuditEventName) -> Set<AuditCategory> {
        switch name {
        case .signIntent, .authorizeIntent, .storeToken: [.keyUse]
        case .signFailed: [.keyUse, .alarms]
        case .signDeny, .authorizeDeny, .refusals, .noise: [.refusals]
        case .serviceSeal, .serviceSealed, .serviceUnseal, .keyDisable, .keyDisabled, .keyEnable: [.seals]
        case .clockStep, .auditResume: [.alarms]
        case .logRestarted: [.alarms, .administration]
        case .serviceStart, .serviceStop, .keyLoad, .configLoad, .configRefuse, .callerCreate, .callerKey,
            .callerRevoke, .sessionBegin, .sessionEnd, .ledgerMoved, .ledgerLeft, .secretVersionBegin,
            .secretVersionDestroy:
            [.administration]
        case .auditRead, .auditFetch, .auditExport, .customerLookup, .signatureDiagnosed: [.reads]
        case .customerTransferred, .customerAttributes, .subscriptionTransferred, .accountIntent, .accountOutcome,
            .storeNotification, .offerRedemption, .grantUnredeemed, .offerMissed:
            [.purchases]
        }
    }
}
