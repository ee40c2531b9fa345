// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import JSON
import OfferDomain
import ServiceRuntime

/// Entries of decisions: written for each request, so straight into the writer, in the order of their names.
extension AuditEntry {
    static func write(
        _ record: SignatureRecord,
        of event: AuditEvent,
        at recordedAt: Timestamp,
        to writer: inout JSONWriter
    ) {
        let (request, terms) = (record.request, record.terms)
        let (key, listing) = (record.plan.key, record.plan.listing)
        if let audience = record.plan.subject.recordedAudience {
            writer.name("allow")
            writer.boolean(terms.allows)
            writer.member("aud", plain: audience.rawValue)
        }
        writer.member("bundle", plain: listing.bundleID.text)
        writer.member("caller", plain: request.callerID.text)
        if let client = record.plan.client { write(client, &writer) }
        writer.member("digest", upTo: SHA256Digest.hexBytes) { record.intent.digest.appendHex(to: &$0) }
        writer.member("ev", plain: event.name.rawValue)
        writer.member("fmt", plain: record.intent.form.rawValue)
        write(genuineApp: request, &writer)
        writer.member("grant", id: terms.id)
        writer.member("kid", plain: key.id.text)
        writer.member("nonce", id: terms.nonce)
        if let id = listing.offerID { writer.member("offer", plain: id.text) }
        writer.member("product", plain: listing.productID.text)
        writer.member("rid", id: request.requestID)
        writer.member("rule", plain: request.offer.id.text)
        writer.member("rules", plain: request.policyName)
        writer.member("spki", plain: key.publicKeyDigest)
        write(record.stored, &writer)
        writer.member("t", integer: recordedAt.milliseconds)
        writer.member("ts", integer: terms.signedAt.milliseconds)
        write(users: record.namesUsers ? request : nil, &writer)
        writer.member("v", integer: 1)
        if let denial = record.denial { write(reasons: denial, &writer) }
    }

    static func write(
        _ record: AuthorizationRecord,
        of event: AuditEvent,
        at recordedAt: Timestamp,
        to writer: inout JSONWriter
    ) {
        let (request, terms, listing) = (record.request, record.terms, record.plan.listing)
        writer.member("base", plain: listing.basePlanID.text)
        writer.member("caller", plain: request.callerID.text)
        writer.member("ev", plain: event.name.rawValue)
        write(genuineApp: request, &writer)
        writer.member("grant", id: terms.id)
        writer.member("offer", plain: listing.offerID.text)
        writer.member("package", plain: listing.packageName.text)
        writer.member("product", plain: listing.productID.text)
        writer.member("rid", id: request.requestID)
        writer.member("rule", plain: request.offer.id.text)
        writer.member("rules", plain: request.policyName)
        write(record.stored, &writer)
        writer.member("t", integer: recordedAt.milliseconds)
        writer.member("ts", integer: terms.signedAt.milliseconds)
        write(users: record.namesUsers ? request : nil, &writer)
        writer.member("v", integer: 1)
    }

    static func write(
        _ record: RefusalRecord,
        of event: AuditEvent,
        at recordedAt: Timestamp,
        to writer: inout JSONWriter
    ) {
        let request = record.request
        switch request.grantable {
        case .signature(let plan):
            if let audience = plan.subject.recordedAudience { writer.member("aud", plain: audience.rawValue) }
            writer.member("bundle", plain: plan.listing.bundleID.text)
            writer.member("caller", plain: request.callerID.text)
            writer.member("ev", plain: event.name.rawValue)
            write(genuineApp: request, &writer)
            writer.member("kid", plain: plan.key.id.text)
            if let id = plan.listing.offerID { writer.member("offer", plain: id.text) }
            writer.member("outcome", plain: record.decision.outcome.rawValue)
            writer.member("product", plain: plan.listing.productID.text)
        case .authorization(let plan):
            let listing = plan.listing
            writer.member("base", plain: listing.basePlanID.text)
            writer.member("caller", plain: request.callerID.text)
            writer.member("ev", plain: event.name.rawValue)
            if case .failure(.fault(let fault)) = plan.offer { writer.member("fault", plain: fault.code) }
            write(genuineApp: request, &writer)
            writer.member("offer", plain: listing.offerID.text)
            writer.member("outcome", plain: record.decision.outcome.rawValue)
            writer.member("package", plain: listing.packageName.text)
            writer.member("product", plain: listing.productID.text)
        case .preview: break
        }
        writer.member("rid", id: request.requestID)
        writer.member("rule", plain: request.offer.id.text)
        writer.member("rules", plain: request.policyName)
        write(record.stored, &writer)
        writer.member("t", integer: recordedAt.milliseconds)
        write(users: request, &writer)
        writer.member("v", integer: 1)
        write(reasons: record.decision, &writer)
    }

    /// In the order of the names, as everything in an entry.
    private static func write(_ client: ReportedClient, _ writer: inout JSONWriter) {
        writer.name("client")
        writer.beginObject()
        for (name, text) in [("library", client.library), ("os", client.os)] as [(StaticString, String?)] {
            guard let text else { continue }
            writer.name(name)
            writer.string(text)
        }
        if let storeKit = client.storeKit { writer.member("storeKit", integer: storeKit) }
        if let version = client.version {
            writer.name("version")
            writer.string(version)
        }
        writer.endObject()
    }

    /// Writes what the app has proven about itself; nothing if it has proven nothing.
    private static func write(genuineApp request: DecisionRequest, _ writer: inout JSONWriter) {
        guard let proof = request.origin.genuineApp else { return }
        writer.name("genuine")
        writer.beginObject()
        writer.member("by", plain: proof.method.rawValue)
        switch proof.evidence {
        case .appAttest(let environment): writer.member("environment", plain: environment.rawValue)
        case .playIntegrity(let device, let isLicensed):
            writer.member("device", plain: device.rawValue)
            if let isLicensed {
                writer.name("licensed")
                writer.boolean(isLicensed)
            }
        }
        if let origin = proof.origin { writer.member("origin", plain: origin.rawValue) }
        writer.endObject()
    }

    /// Everything the customer is known as, each as a pseudonym; nothing without a request.
    private static func write(users request: DecisionRequest?, _ writer: inout JSONWriter) {
        writer.name("users")
        guard let request else {
            writer.beginArray()
            return writer.endArray()
        }
        writer.value(json: request.users)
    }

    /// The names of attributes and facts that the decision took from what a backend had stored.
    private static func write(_ stored: StoredNames, _ writer: inout JSONWriter) {
        if let names = stored.attributes { write("stored", names: Attributes.recorded(names, mostBytes: 256), &writer) }
        if !stored.facts.isEmpty { write("storedFacts", names: stored.facts, &writer) }
    }

    private static func write(_ name: StaticString, names: [String], _ writer: inout JSONWriter) {
        writer.name(name)
        writer.beginArray()
        for name in names { writer.string(name) }
        writer.endArray()
    }

    /// The findings that were not met, as rule and code; sentences could repeat what a customer's attributes hold.
    private static func write(reasons decision: Decision, _ writer: inout JSONWriter) {
        writer.name("why")
        writer.beginArray()
        for finding in decision.reasons.prefix(16) {
            writer.beginObject()
            writer.member("answer", plain: finding.answer.rawValue)
            writer.member("code", plain: finding.code.rawValue)
            // For `not`, the rule that must not hold: no other member gives the reason.
            if finding.rule == "not", let child = finding.children.first {
                writer.member("of", plain: child.code.rawValue)
            }
            writer.member("rule", plain: finding.rule)
            writer.endObject()
        }
        writer.endArray()
    }
}
