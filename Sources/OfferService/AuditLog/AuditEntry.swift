// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
package import OfferDomain

/// Writes entries of the audit log: canonical JSON (RFC 8785), at most 4 KiB, nothing personal in the clear.
///
/// Member names are in the order of their code units, as RFC 8785 wants them. An entry holds the digest that is
/// signed and never a signature: whoever has a signature can find its entry, and nobody can take one from here.
package enum AuditEntry {
    /// The largest entry.
    package static let maximumBytes = 4096

    /// The bytes of one entry.
    ///
    /// `recordedAt` is when it is written, never earlier than the entry before it.
    package static func bytes(of event: AuditEvent, recordedAt: Timestamp) -> [UInt8] {
        var writer = JSONWriter(reserving: 768)
        writer.beginObject()
        switch event {
        case .signature(let record): write(record, event, recordedAt, &writer)
        case .authorization(let record): write(record, event, recordedAt, &writer)
        case .refusal(let record): write(record, event, recordedAt, &writer)
        default: writeEvent(event, recordedAt, &writer)
        }
        writer.endObject()
        return writer.bytes
    }

    /// When an entry was written, from its bytes.
    package static func recordedMilliseconds(_ entry: [UInt8]) -> Int64? {
        (try? JSONDocument(entry))?.root.object?["t"]?.integer
    }

    private static func write(
        _ record: SignatureRecord,
        _ event: AuditEvent,
        _ recordedAt: Timestamp,
        _ writer: inout JSONWriter
    ) {
        let (request, grant) = (record.request, record.grant)
        let (key, listing) = (record.plan.key, record.plan.listing)
        if let audience = record.plan.statement.recordedAudience {
            writer.name("allow")
            writer.boolean(grant.allows)
            writer.member("aud", audience.rawValue)
        }
        writer.member("bundle", listing.bundleID.text)
        writer.member("caller", request.callerID.text)
        writer.name("digest")
        writer.string { record.intent.digest.appendHex(to: &$0) }
        writer.member("ev", event.name)
        writer.member("fmt", record.intent.form.rawValue)
        writer.member("grant", grant.id)
        writer.member("kid", key.id.text)
        writer.member("nonce", grant.nonce)
        if let id = listing.offerID { writer.member("offer", id.text) }
        writer.member("product", listing.productID.text)
        writer.member("rid", request.requestID)
        writer.member("rule", request.offer.id.text)
        writer.member("rules", request.policyName)
        writer.member("spki", key.publicKeyDigest ?? "")
        writer.member("t", recordedAt.milliseconds)
        writer.member("ts", grant.signedAt.milliseconds)
        write(users: request, &writer)
        writer.member("v", 1)
        if !grant.allows, case .decision(let decision) = grant.basis { write(reasons: decision, &writer) }
    }

    private static func write(
        _ record: AuthorizationRecord,
        _ event: AuditEvent,
        _ recordedAt: Timestamp,
        _ writer: inout JSONWriter
    ) {
        let (request, grant) = (record.request, record.grant)
        if let listing = request.offer.googlePlay { writer.member("base", listing.basePlanID.text) }
        writer.member("caller", request.callerID.text)
        writer.member("ev", event.name)
        writer.member("grant", grant.id)
        if let listing = request.offer.googlePlay {
            writer.member("offer", listing.offerID.text)
            writer.member("package", listing.packageName.text)
            writer.member("product", listing.productID.text)
        }
        writer.member("rid", request.requestID)
        writer.member("rule", request.offer.id.text)
        writer.member("rules", request.policyName)
        writer.member("t", recordedAt.milliseconds)
        writer.member("ts", grant.signedAt.milliseconds)
        write(users: request, &writer)
        writer.member("v", 1)
    }

    private static func write(
        _ record: RefusalRecord,
        _ event: AuditEvent,
        _ recordedAt: Timestamp,
        _ writer: inout JSONWriter
    ) {
        let request = record.request
        switch (request.deliverable, request.offer.listing) {
        case (.signature(let plan), _):
            if let audience = plan.statement.recordedAudience { writer.member("aud", audience.rawValue) }
            writer.member("bundle", plan.listing.bundleID.text)
            writer.member("caller", request.callerID.text)
            writer.member("ev", event.name)
            writer.member("kid", plan.key.id.text)
            if let id = plan.listing.offerID { writer.member("offer", id.text) }
            writer.member("outcome", record.decision.outcome.rawValue)
            writer.member("product", plan.listing.productID.text)
        case (.authorization(let plan), .googlePlay(let listing)):
            writer.member("base", listing.basePlanID.text)
            writer.member("caller", request.callerID.text)
            writer.member("ev", event.name)
            if case .failure(.fault(let fault)) = plan.offer { writer.member("fault", fault.code) }
            writer.member("offer", listing.offerID.text)
            writer.member("outcome", record.decision.outcome.rawValue)
            writer.member("package", listing.packageName.text)
            writer.member("product", listing.productID.text)
        case (.authorization, .appStore), (.preview, _): break
        }
        writer.member("rid", request.requestID)
        writer.member("rule", request.offer.id.text)
        writer.member("rules", request.policyName)
        writer.member("t", recordedAt.milliseconds)
        write(users: request, &writer)
        writer.member("v", 1)
        write(reasons: record.decision, &writer)
    }

    /// Everything the customer is known as, each as a pseudonym.
    private static func write(users request: DecisionRequest, _ writer: inout JSONWriter) {
        writer.name("users")
        writer.beginArray()
        for (_, pseudonym) in request.identities {
            writer.string { $0.append(contentsOf: pseudonym.recordText) }
        }
        writer.endArray()
    }

    /// The findings that were not met, as rule and code; sentences could repeat what a customer's attributes hold.
    private static func write(reasons decision: Decision, _ writer: inout JSONWriter) {
        writer.name("why")
        writer.beginArray()
        for finding in decision.reasons.prefix(16) {
            writer.beginObject()
            writer.member("answer", finding.answer.rawValue)
            writer.member("code", finding.code.rawValue)
            writer.member("rule", finding.rule)
            writer.endObject()
        }
        writer.endArray()
    }

    private static func writeEvent(_ event: AuditEvent, _ recordedAt: Timestamp, _ writer: inout JSONWriter) {
        var members = details(of: event)
        members.append(("ev", .text(event.name)))
        members.append(("t", .integer(recordedAt.milliseconds)))
        members.append(("v", .integer(1)))
        for (name, value) in members.sorted(by: { $0.name < $1.name }) {
            writer.name(text: name)
            switch value {
            case .text(let text): writer.string(text)
            case .integer(let integer): writer.integer(integer)
            }
        }
    }

    enum Detail {
        case text(String)
        case integer(Int64)
    }

    private static func details(of event: AuditEvent) -> [(name: String, value: Detail)] {
        switch event {
        case .signature, .authorization, .refusal, .serviceStopped, .recordsResumed: []
        case .signatureFailed(let grantID, let keyID, let form, let reason):
            [
                ("grant", .text(grantID.description)), ("kid", .text(keyID.text)), ("fmt", .text(form.rawValue)),
                ("why", .text(reason)),
            ]
        case .serviceStarted(let version): [("version", .text(version))]
        case .keyLoaded(let keyID, let digest, let status):
            [("kid", .text(keyID.text)), ("spki", .text(digest)), ("status", .text(status.rawValue))]
        case .serviceAccountLoaded(let name, let digest):
            [("account", .text(name.email.text)), ("kid", .text(name.keyID.text)), ("spki", .text(digest))]
        case .keyDisabled(let keyID), .keyEnabled(let keyID): [("kid", .text(keyID.text))]
        case .configurationLoaded(let policy, let keys): [("rules", .text(policy)), ("keys", .text(keys))]
        case .configurationRefused(let issues): [("issues", .integer(Int64(issues)))]
        case .callerCreated(let caller, let role, let keyID):
            [("caller", .text(caller.text)), ("role", .text(role.rawValue)), ("ck", .text(keyID))]
        case .callerKeyAdded(let caller, let keyID): [("caller", .text(caller.text)), ("ck", .text(keyID))]
        case .callerRevoked(let caller, let keyID):
            [("caller", .text(caller.text))] + (keyID.map { [("ck", .text($0))] } ?? [])
        case .recordsExported(let from, let count): [("from", .integer(from)), ("count", .integer(count))]
        case .notificationReceived(let receipt, let bundleID): details(of: receipt, bundleID)
        case .redemption(let entry, let bundleID): details(of: entry, bundleID)
        case .googlePlayMessageReceived(let message, let app): details(of: message, app)
        case .googlePlayRedemption(let entry, let app): details(of: entry, app)
        case .customerTransferred(let transfer):
            details(of: transfer)
        case .subscriptionTransferred(let transfer): details(of: transfer)
        case .storeTokenSigned(let keyID, let bundleID, let digest, let expiresAt):
            [
                ("kid", .text(keyID.text)), ("bundle", .text(bundleID.text)), ("digest", .text(digest)),
                ("exp", .integer(expiresAt.seconds)),
            ]
        case .googleAssertionSigned(let name, let digest, let expiresAt):
            [
                ("account", .text(name.email.text)), ("kid", .text(name.keyID.text)), ("digest", .text(digest)),
                ("exp", .integer(expiresAt.seconds)),
            ]
        }
    }

    private static func details(
        of receipt: NotificationReceipt,
        _ bundleID: BundleID
    ) -> [(name: String, value: Detail)] {
        [
            ("bundle", .text(bundleID.text)), ("env", .text(receipt.environment)),
            ("notification", .text(receipt.id.description)), ("ts", .integer(receipt.signedAt.milliseconds)),
            ("type", .text(receipt.type)),
        ] + (receipt.subtype.map { [("subtype", .text($0))] } ?? [])
    }

    private static func details(of transfer: CustomerTransfer) -> [(name: String, value: Detail)] {
        let app = transfer.app
        return [
            ("caller", .text(transfer.callerID.text)),
            ("from", .text(String(decoding: transfer.from.recordText, as: UTF8.self))),
            ("to", .text(String(decoding: transfer.to.recordText, as: UTF8.self))),
        ] + (app.bundleID.map { [("bundle", .text($0.text))] } ?? [])
            + (app.googlePlay.map { [("package", .text($0.packageName.text))] } ?? [])
    }

    private static func details(of transfer: SubscriptionTransfer) -> [(name: String, value: Detail)] {
        let (app, chain): ((name: String, value: Detail), String) =
            switch transfer.store {
            case .appStore(let bundleID): (("bundle", .text(bundleID.text)), "chain")
            case .googlePlay(let packageName): (("package", .text(packageName.text)), "purchase")
            }
        return [
            app, (chain, .text(text(ofKey: transfer.subscription))), ("from", .text(text(ofKey: transfer.from))),
            ("to", .text(text(ofKey: transfer.to))),
        ]
    }

    /// The key of a pseudonym, as the ledger's tables have it.
    static func text(ofKey key: [UInt8]) -> String {
        String(decoding: Base64.encodeURL(key), as: UTF8.self)
    }

    /// The chain is told by the key of its pseudonym.
    private static func details(
        of entry: RedemptionTable.Entry,
        _ bundleID: BundleID
    ) -> [(name: String, value: Detail)] {
        let redemption = entry.redemption
        var details: [(name: String, value: Detail)] = [
            ("bundle", .text(bundleID.text)),
            ("chain", .text(text(ofKey: redemption.key.chain.bytes))),
            ("env", .text(redemption.environment.rawValue)), ("match", .text(entry.match.rawValue)),
            ("offer", .text(redemption.offerID ?? "")),
            ("product", .text(redemption.productID)), ("src", .text(redemption.source.rawValue)),
            ("state", .text(redemption.state.name)), ("ts", .integer(redemption.redeemedAt.milliseconds)),
        ]
        if let grantID = entry.grantID { details.append(("grant", .text(grantID.description))) }
        if let settledAt = redemption.state.settledAt { details.append(("settled", .integer(settledAt.milliseconds))) }
        return details
    }
}

extension JSONWriter {
    /// A member whose text is out of a list, an identifier or a digest; none of them needs an escape.
    fileprivate mutating func member(_ name: StaticString, _ value: String) {
        self.name(name)
        string(plain: value)
    }

    fileprivate mutating func member(_ name: StaticString, _ value: UniqueID) {
        self.name(name)
        string { value.append(to: &$0) }
    }

    fileprivate mutating func member(_ name: StaticString, _ value: Int64) {
        self.name(name)
        integer(value)
    }
}
