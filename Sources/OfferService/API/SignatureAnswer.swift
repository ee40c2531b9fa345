// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

/// The body of an answer that has a signature.
struct SignatureAnswer: Sendable {
    private let signed: SignedOffer
    private let showsFindings: Bool

    init(_ signed: SignedOffer, showsFindings: Bool) {
        self.signed = signed
        self.showsFindings = showsFindings
    }

    var bytes: [UInt8] {
        var writer = JSONWriter(reserving: 2048)
        write(to: &writer)
        return writer.bytes
    }

    func write(to writer: inout JSONWriter) {
        let (grant, plan) = (signed.grant, signed.plan)
        writer.beginObject()
        writer.name("grantId")
        writer.string { grant.id.append(to: &$0) }
        if case .promotionalOffer(let offerID, _, _) = plan.statement {
            writer.member("identifier", plain: offerID.text)
        }
        writer.member("keyIdentifier", plain: plan.key.id.text)
        writer.name("nonce")
        writer.string { grant.terms.nonce.append(to: &$0) }
        writer.name("timestamp")
        writer.integer(grant.terms.signedAt.milliseconds)
        if case .introductoryOfferEligibility(let transactionID) = plan.statement {
            writer.name("allowIntroductoryOffer")
            writer.boolean(grant.terms.allows)
            writer.member("transactionId", plain: transactionID.text)
        }
        writeSignatures(to: &writer)
        if case .promotionalOffer = plan.statement {
            writer.name("expiresAt")
            writer.string { grant.terms.signedAt.adding(hours: 24).appendRFC3339(to: &$0) }
        }
        writer.name("decision")
        writeDecision(to: &writer)
        writer.endObject()
    }

    private func writeSignatures(to writer: inout JSONWriter) {
        if let signature = signed.signature {
            writer.name("signature")
            writer.string { $0.append(contentsOf: signature) }
        }
        switch signed.plan.binding {
        case .none: break
        case .appAccountToken(let token):
            writer.name("appAccountToken")
            writer.string { token.append(to: &$0) }
        case .applicationUsername(let username):
            writer.name("applicationUsername")
            writer.string(username.text)
        }
        if let jws = signed.jws {
            writer.name("jws")
            writer.string { $0.append(contentsOf: jws) }
        }
    }

    private func writeDecision(to writer: inout JSONWriter) {
        switch signed.grant.basis {
        case .decision(let decision):
            DecisionJSON(decision, of: signed.request.offer, policyName: signed.request.policyName)
                .write(showsFindings: showsFindings, to: &writer)
        case .replay(let decision): decision.write(showsFindings: showsFindings, to: &writer)
        }
    }
}
