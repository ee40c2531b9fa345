// SPDX-License-Identifier: Apache-2.0
import Configuration
import JSON
import Ledger
import OfferDomain
package import TransparencyLog

/// Derives events from entries of the log, one entry after the other.
///
/// It reads only entries, so a log always gives the same events. It remembers the grant of the entry before, because
/// both signatures of one answer are two entries and one event.
package struct EventDerivation {
    private var lastGrant: String?

    /// Begins without an entry before, as at the first entry of the log.
    package init() {}

    /// The events of an entry, in order; most entries make none.
    package mutating func events(of entry: [UInt8], at index: Int64) throws(AuditReadError) -> [ServiceEvent] {
        guard let members = (try? JSONDocument(entry))?.root.object, let time = members["t"]?.integer,
            let name = members["ev"]?.string
        else { throw .damaged(index: index) }
        let before = lastGrant
        lastGrant = members["grant"]?.string
        guard let event = AuditEventName(rawValue: name) else { return [] }
        let found = Self.events(event, members, grantBefore: before)
        guard !found.isEmpty else { return [] }
        let hash = EventCursor.mark(of: entry)
        return found.enumerated().map { ordinal, event in
            ServiceEvent(
                type: event.type,
                position: EventPosition(index: index, ordinal: Int64(ordinal)),
                recordedAt: Timestamp(milliseconds: time),
                entryHash: hash,
                details: event.details
            )
        }
    }

    private typealias Found = (type: EventType, details: EventDetails)

    private static func events(
        _ event: AuditEventName,
        _ members: JSONObject,
        grantBefore: String?
    ) -> [Found] {
        switch event {
        case .signIntent, .authorizeIntent:
            // A retry has its own request ID; the grant's ID is the ID of the first request.
            let (grant, request) = (members["grant"]?.string, members["rid"]?.string)
            guard grant == request, grant != grantBefore, members["allow"]?.bool != false else { return [] }
            return [(.offerGranted, EventDetails(granted: members))]
        case .grantUnredeemed: return [(.grantNeverRedeemed, EventDetails(granted: members))]
        case .offerRedemption: return uses(members)
        case .keyDisable where isInForce(members), .keyDisabled:
            return [(.keyDisabled, EventDetails(ofService: members))]
        case .serviceSeal where isInForce(members), .serviceSealed:
            let details = EventDetails(ofService: members)
            let isContradicted = details.cause == SealCause.checkpoint.rawValue
            return [(.serviceSealed, details)] + (isContradicted ? [(.logContradicted, details)] : [])
        case .serviceUnseal: return [(.serviceUnsealed, EventDetails(ofService: members))]
        default: return []
        }
    }

    /// Whether the stop was in force everywhere when the entry was written; otherwise another entry says when it is.
    private static func isInForce(_ members: JSONObject) -> Bool {
        members["by"]?.string != Requester.command.kind && members["awaited"]?.bool != true
    }

    /// If a result arrives before its start, both events follow, the start first.
    ///
    /// A redemption without a grant is reported with the start, or once an earlier use has taken the grant. Later
    /// states do not repeat it.
    private static func uses(_ members: JSONObject) -> [Found] {
        // What receivers already got stays true.
        if members["corrected"]?.bool == true { return [] }
        guard let state = members["state"]?.string, let type = EventType(useState: state) else { return [] }
        let details = EventDetails(ofUse: members)
        let was = members["was"]?.string
        var found: [Found] = []
        let isStart = was == nil || was == "pending"
        let (refundedAt, earlier) = (members["refunded"]?.integer, members["wasRefunded"]?.integer)
        let isRefundAlone = was == state && refundedAt != nil && refundedAt != earlier
        // If neither is new, the grant is new: then all events are sent again.
        let isRefunded = refundedAt != nil && (refundedAt != earlier || was == state)
        if members["settled"] != nil, isStart {
            var redeemed = details
            (redeemed.state, redeemed.settledAt, redeemed.refundedAt) = ("redeemed", nil, nil)
            redeemed.refundedMillipercent = nil
            found.append((.offerRedeemed, redeemed))
        }
        if !isRefundAlone { found.append((type, details)) }
        if isRefunded { found.append((.offerRefunded, details)) }
        let isUnmatched = details.match == RedemptionMatch.ungranted.rawValue && type != .offerPending
        let isMatchNew = was == state && refundedAt == earlier
        if isUnmatched, isStart || isMatchNew { found.append((.redemptionUnmatched, details)) }
        return found
    }
}

extension EventDetails {
    /// Of an entry of a grant.
    init(granted members: JSONObject) {
        self.init(named: members)
        let isPlay = members["package"] != nil
        store = isPlay ? .googlePlay : .appStore
        offerType = isPlay ? "developerDetermined" : members["offer"] == nil ? "introductory" : "promotional"
        grantedAt = members["ts"]?.integer.map(Timestamp.init(milliseconds:))
        basePlanID = members["base"]?.string
        customers = members["users"]?.array?.compactMap(\.string) ?? []
    }

    /// Of an entry of a use.
    init(ofUse members: JSONObject) {
        self.init(named: members)
        let isPlay = members["store"]?.string == Store.googlePlay.recordName
        store = isPlay ? .googlePlay : .appStore
        offerType = isPlay ? "developerDetermined" : "promotional"
        basePlanID = members["plan"]?.string
        environment = members["env"]?.string
        state = members["state"]?.string
        match = members["match"]?.string
        subscription = members["chain"]?.string
        redeemedAt = members["ts"]?.integer.map(Timestamp.init(milliseconds:))
        settledAt = members["settled"]?.integer.map(Timestamp.init(milliseconds:))
        refundedAt = members["refunded"]?.integer.map(Timestamp.init(milliseconds:))
        refundedMillipercent = members["refundedMillipercent"]?.integer
    }

    /// Of an entry about the service itself.
    init(ofService members: JSONObject) {
        self.init()
        keyID = members["kid"]?.string
        cause = members["cause"]?.string
    }

    private init(named members: JSONObject) {
        self.init()
        grantID = members["grant"]?.string.flatMap { UniqueID($0) }
        bundleID = members["bundle"]?.string
        packageName = members["package"]?.string
        productID = members["product"]?.string
        offerID = members["offer"]?.string
        rule = members["rule"]?.string
    }
}
