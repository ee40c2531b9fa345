// SPDX-License-Identifier: Apache-2.0
import Configuration
import JSON
import Ledger
import OfferDomain
import ServiceRuntime

/// The body of an answer that has a signature; in functions, since a value of its own would copy and count all of the offer.
extension SignedOffer {
    func answer(showsFindings: Bool) -> [UInt8] {
        var writer = JSONWriter(reserving: 2048)
        write(showsFindings: showsFindings, to: &writer)
        return writer.bytes
    }

    func write(showsFindings: Bool, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("grantId", id: grant.id)
        if case .promotionalOffer(let offerID, _, _) = plan.subject {
            writer.member("identifier", plain: offerID.text)
        }
        writer.member("keyIdentifier", plain: plan.key.id.text)
        writer.member("nonce", id: grant.terms.nonce)
        writer.member("timestamp", integer: grant.terms.signedAt.milliseconds)
        if case .introductoryOfferEligibility(let transactionID) = plan.subject {
            writer.name("allowIntroductoryOffer")
            writer.boolean(grant.terms.allows)
            writer.member("transactionId", plain: transactionID.text)
        }
        writeSignatures(to: &writer)
        if case .promotionalOffer = plan.subject {
            writer.member("expiresAt", rfc3339: grant.terms.signedAt.adding(hours: 24))
        }
        writer.name("decision")
        writeDecision(showsFindings, to: &writer)
        writer.endObject()
    }

    private func writeSignatures(to writer: inout JSONWriter) {
        if let signature { writer.member("signature", plain: signature.span) }
        switch plan.binding {
        case .none: break
        case .appAccountToken(let token): writer.member("appAccountToken", id: token)
        case .applicationUsername(let username):
            writer.name("applicationUsername")
            writer.string(username.text)
        }
        if let jws { writer.member("jws", plain: jws.span) }
    }

    private func writeDecision(_ showsFindings: Bool, to writer: inout JSONWriter) {
        switch grant.basis {
        case .decision(let decision):
            DecisionJSON(decision, of: request.offer, policyName: request.policyName)
                .write(showsFindings: showsFindings, to: &writer)
        case .replay(let decision): decision.write(showsFindings: showsFindings, to: &writer)
        }
    }
}
