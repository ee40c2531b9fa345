// SPDX-License-Identifier: Apache-2.0
import JSON

/// A category of entries of the audit log, by which a stream selects them; the most severe first.
package enum AuditCategory: String, CaseIterable, Hashable, Sendable {
    case seals
    case alarms
    case refusals
    case administration
    case reads
    case keyUse
    case purchases

    /// The severity of syslog (RFC 5424, table 2).
    var severity: Int {
        switch self {
        case .seals: 2
        case .alarms: 3
        case .refusals: 4
        case .administration, .reads: 5
        case .keyUse, .purchases: 6
        }
    }

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
            .callerRevoke, .sessionBegin, .sessionEnd, .ledgerMoved, .ledgerLeft, .epochBegin, .epochDestroy:
            [.administration]
        case .auditRead, .auditFetch, .auditExport, .customerLookup, .signatureDiagnosed: [.reads]
        case .customerTransferred, .customerAttributes, .subscriptionTransferred, .accountIntent, .accountOutcome,
            .storeNotification, .offerRedemption, .grantUnredeemed, .offerMissed:
            [.purchases]
        }
    }
}
