// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import JSON
package import OfferDomain
import ServiceRuntime

/// A decision as the `decision` member of an answer.
package struct DecisionJSON: Sendable {
    private let decision: Decision
    private let texts: FindingTexts
    private let policyName: String

    /// A decision about an offer, under the policy of that name.
    package init(_ decision: Decision, of offer: CatalogOffer, policyName: String) {
        self.decision = decision
        texts = offer.findingTexts
        self.policyName = policyName
    }

    /// The first thing that keeps the customer from the offer, as a sentence; the innermost where rules are nested.
    package var firstReason: String {
        guard var finding = decision.reasons.first else { return "every rule is met" }
        var negation = ""
        while let inner = finding.children.first(where: { $0.answer == finding.answer }) ?? finding.children.first {
            if finding.rule == "not" { negation += "not " }
            finding = inner
        }
        return "\(negation)\(finding.rule): \(finding.because)"
    }

    /// Whether nothing shows who the customer is, and that keeps them from the offer.
    package var lacksProof: Bool { decision.findings.contains { $0.code == .customerUnproven } }

    /// The whole decision as a JSON text.
    package var bytes: [UInt8] {
        var writer = JSONWriter(reserving: 1024)
        write(showsFindings: true, to: &writer)
        return writer.bytes
    }

    /// Writes the decision; without findings, only the outcome, the policy and when to ask again.
    package func write(showsFindings: Bool, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("outcome", plain: decision.outcome.rawValue)
        writer.member("policy", plain: policyName)
        if let instant = decision.nextEligibleAt { writer.member("nextEligibleAt", rfc3339: instant) }
        if showsFindings {
            writer.name("findings")
            texts.write(decision.findings, to: &writer)
        }
        writer.endObject()
    }
}
