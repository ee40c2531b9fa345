// SPDX-License-Identifier: Apache-2.0
import Configuration
import JSON
import Ledger
import OfferDomain
import ServiceRuntime

/// The body of an answer that authorizes an offer at Google Play.
struct AuthorizationAnswer: Sendable {
    private let authorized: AuthorizedOffer
    private let showsFindings: Bool

    init(_ authorized: AuthorizedOffer, showsFindings: Bool) {
        self.authorized = authorized
        self.showsFindings = showsFindings
    }

    var bytes: [UInt8] {
        let (grant, offer) = (authorized.grant, authorized.offer)
        var writer = JSONWriter(reserving: 2048)
        writer.beginObject()
        writer.member("grantId", id: grant.id)
        for (name, id) in [
            ("packageName", offer.key.packageName.text), ("productId", offer.key.productID.text),
            ("basePlanId", offer.key.basePlanID.text), ("offerId", offer.key.offerID.text),
        ] {
            writer.name(text: name)
            writer.string(id)
        }
        writeTags(to: &writer)
        writePhases(to: &writer)
        writer.name("obfuscatedAccountId")
        writer.string(plain: authorized.accountID.text)
        writer.name("obfuscatedProfileId")
        writer.string(plain: authorized.mark.text)
        writer.member("expiresAt", rfc3339: grant.terms.signedAt.adding(hours: Store.authorizationHours))
        writer.member("catalogReadAt", rfc3339: offer.readAt)
        writer.name("ifMissingOnDevice")
        writer.string("offerNothing")
        writer.name("decision")
        writeDecision(to: &writer)
        writer.endObject()
        return writer.bytes
    }

    /// Those that a device shows on the offer, and where those that hide it are.
    private func writeTags(to writer: inout JSONWriter) {
        writer.name("offerTags")
        writer.beginArray()
        for tag in authorized.offer.tags.all { writer.string(tag.text) }
        writer.endArray()
        writer.name("hideTags")
        writer.beginArray()
        for found in authorized.offer.hideTags {
            writer.beginObject()
            writer.name("tag")
            writer.string(found.tag.text)
            writer.name("foundOn")
            writer.string(plain: found.place.rawValue)
            writer.endObject()
        }
        writer.endArray()
    }

    private func writePhases(to writer: inout JSONWriter) {
        writer.name("phases")
        writer.beginArray()
        for phase in authorized.offer.phases {
            writer.beginObject()
            writer.name("kind")
            writer.string("\(phase.kind)")
            writer.name("duration")
            writer.string("\(phase.duration)")
            writer.name("recurrenceCount")
            writer.integer(Int64(phase.recurrenceCount))
            writer.endObject()
        }
        writer.endArray()
    }

    private func writeDecision(to writer: inout JSONWriter) {
        let request = authorized.request
        switch authorized.grant.basis {
        case .decision(let decision):
            DecisionJSON(decision, of: request.offer, policyName: request.policyName)
                .write(showsFindings: showsFindings, to: &writer)
        case .replay(let decision): decision.write(showsFindings: showsFindings, to: &writer)
        }
    }
}
