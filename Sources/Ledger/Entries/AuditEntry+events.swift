// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain

/// Entries of all other events: their members besides name and time; writing an entry sorts them.
extension AuditEntry {
    static func details(of event: AuditEvent) -> [Member] {
        switch event {
        case .signature, .authorization, .refusal, .serviceStopped, .ledgerLeft: []
        case .serviceStarted(let version, let furtherRoots):
            [("version", .text(version))] + (furtherRoots.map { [("roots", .text($0))] } ?? [])
        case .key(let event): event.details
        case .serviceSealed(let seal, let isAwaited): details(of: seal, isAwaited: isAwaited)
        case .sealAcknowledged(let cause): [("cause", .text(cause.rawValue))]
        case .serviceUnsealed(let cause, let requester, let reason):
            [("cause", .text(cause.rawValue)), ("reason", .text(reason))] + details(of: requester)
        case .clockStepped(let from, let to):
            [("from", .integer(from.milliseconds)), ("to", .integer(to.milliseconds))]
        case .configurationLoaded(let policy, let keys, let settings, let events):
            configuration(policy, keys: keys, settings: settings, events: events)
        case .configurationRefused(let issues, let parts):
            [("issues", .integer(Int64(issues))), ("why", .list(parts.map { .text($0.rawValue) }))]
        case .caller(let event): event.details
        case .records(let event): event.details
        case .signatureDiagnosed(let record): details(of: record)
        case .boughtWithoutOffer(let finding, let namesGrant): details(of: finding, namesGrant)
        case .noise(let traffic): details(of: traffic)
        case .refusalsCounted(let refusals): details(of: refusals)
        case .secretVersionBegun(let secretVersion), .secretVersionDestroyed(let secretVersion):
            [("epoch", .text(secretVersion))]
        case .customerLookedUp(let app, let users, let caller): details(ofLookupIn: app, of: users, by: caller)
        case .notificationReceived(let receipt, let app, let name): details(of: receipt, app, name)
        case .redemption(let matched, let app, let namesGrant): details(of: matched, app, namesGrant)
        case .grantUnredeemed(let grant): details(of: grant)
        case .customerTransferred(let transfer): details(of: transfer)
        case .attributesChanged(let change): details(of: change)
        case .subscriptionTransferred(let transfer): details(of: transfer)
        case .accountToken(let change, let answer): details(of: change, answer)
        }
    }

    private static func configuration(
        _ policy: String,
        keys: String,
        settings: String,
        events: String?
    ) -> [Member] {
        [("rules", .text(policy)), ("keys", .text(keys)), ("settings", .text(settings))]
            + (events.map { [("events", .text($0))] } ?? [])
    }

    private static func details(ofLookupIn app: AppName, of users: [Pseudonym], by caller: CallerID?) -> [Member] {
        [("app", .text(app.text)), ("users", .list(users.map { .text($0.text) }))]
            + (caller.map { [("caller", .text($0.text))] } ?? [])
    }

    private static func details(
        of receipt: NotificationReceipt,
        _ app: StoreApp,
        _ name: AppName
    ) -> [Member] {
        var details: [Member] = [
            ("bundle", .text(name.text)), ("notification", .text(receipt.id)),
            ("ts", .integer(receipt.sentAt.milliseconds)), ("type", .text(receipt.type)),
        ]
        if let environment = receipt.environment { details.append(("env", .text(environment.rawValue))) }
        if let subtype = receipt.subtype { details.append(("subtype", .text(subtype))) }
        if case .googlePlay(let packageName) = app {
            details += [("package", .text(packageName.text)), ("store", .text("google-play"))]
        }
        return details
    }

    private static func details(of transfer: CustomerTransfer) -> [Member] {
        [
            ("caller", .text(transfer.callerID.text)),
            ("from", .text(transfer.from.text)),
            ("to", .text(transfer.to.text)),
        ] + details(of: transfer.app)
    }

    /// The names of attributes and facts, and never a value.
    private static func details(of change: AttributeChange) -> [Member] {
        var details: [Member] = [
            ("caller", .text(change.callerID.text)), ("state", .text(change.state)),
            ("users", .list([.text(change.user.text)])),
        ]
        if let attributes = change.new?.attributes {
            let names = Attributes.recorded(attributes.entries.map(\.name), mostBytes: 1_024)
            details.append(("names", .list(names.map { .text($0) })))
            details.append(("count", .integer(Int64(attributes.entries.count))))
        }
        if let facts = change.new?.facts { details.append(("facts", .list(facts.names.map { .text($0) }))) }
        if let new = change.new { details.append(("expires", .integer(new.expiresAt.milliseconds))) }
        return details + self.details(of: change.app)
    }

    private static func details(of app: AppInStores) -> [Member] {
        (app.bundleID.map { [("bundle", .text($0.text))] } ?? [])
            + (app.googlePlay.map { [("package", .text($0.packageName.text))] } ?? [])
    }

    private static func details(of transfer: SubscriptionTransfer) -> [Member] {
        let (app, chain): (Member, String) =
            switch transfer.store {
            case .appStore(let bundleID): (("bundle", .text(bundleID.text)), "chain")
            case .googlePlay(let packageName): (("package", .text(packageName.text)), "purchase")
            }
        return [
            app, (chain, .text(text(ofKey: transfer.subscription))), ("from", .text(text(ofKey: transfer.from))),
            ("to", .text(text(ofKey: transfer.to))),
        ]
    }

    /// What entries and answers have of a key: the 16 bytes with which its pseudonym begins.
    package static func text(ofKey key: [UInt8]) -> String {
        String(decoding: Base64.encodeURL(Array(key.prefix(LedgerKey.digestBytes))), as: UTF8.self)
    }

    /// The earlier state of a use, and the refund that did not undo it.
    static func members(of refund: Refund?, after earlier: EarlierUse?, isCorrection: Bool) -> [Member] {
        var members: [Member] = isCorrection ? [("corrected", .boolean(true))] : []
        if let earlier { members.append(("was", .text(earlier.state))) }
        if let instant = earlier?.refundedAt { members.append(("wasRefunded", .integer(instant))) }
        if let refund { members.append(("refunded", .integer(refund.at.milliseconds))) }
        if let share = refund?.millipercent { members.append(("refundedMillipercent", .integer(Int64(share)))) }
        return members
    }

    /// The entry names the chain or the purchase by its key.
    private static func details(
        of matched: MatchedRedemption,
        _ app: AppName,
        _ namesGrant: Bool
    ) -> [Member] {
        let use = matched.use
        var details: [Member] = [
            ("bundle", .text(app.text)), ("chain", .text(text(ofKey: use.subscription))),
            ("env", .text(use.environment.rawValue)), ("match", .text(matched.match.rawValue)),
            ("offer", .text(use.name.offerID)),
            ("product", .text(use.name.productID)), ("src", .text(use.source.rawValue)),
            ("state", .text(use.state.name)), ("ts", .integer(use.redeemedAt.milliseconds)),
        ]
        if use.store == .googlePlay {
            details += [
                ("package", .text(use.app)), ("plan", .text(use.name.basePlanID)), ("store", .text("google-play")),
            ]
            if let way = matched.way { details.append(("by", .text(way.rawValue))) }
        }
        if namesGrant, let grantID = matched.grantID { details.append(("grant", .text(grantID.description))) }
        if let settledAt = use.state.settledAt { details.append(("settled", .integer(settledAt.milliseconds))) }
        return details + members(of: use.refund, after: matched.earlier, isCorrection: matched.isCorrection)
    }
}
