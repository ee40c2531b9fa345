// SPDX-License-Identifier: Apache-2.0
import JSON
package import OfferDomain

/// A decision as the `decision` member of an answer.
package enum DecisionJSON {
    /// The whole decision as a JSON text.
    package static func bytes(of decision: Decision, policyName: String, showsFindings: Bool = true) -> [UInt8] {
        var writer = JSONWriter(reserving: 1024)
        write(decision, policyName: policyName, showsFindings: showsFindings, to: &writer)
        return writer.bytes
    }

    /// Writes what is told of a grant to who may not see its findings.
    static func writeEligible(policyName: String, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.name("outcome")
        writer.string(Outcome.eligible.rawValue)
        writer.name("policy")
        writer.string(policyName)
        writer.endObject()
    }

    /// Writes a decision; without its findings only the outcome is told, and when to ask again.
    static func write(
        _ decision: Decision,
        policyName: String,
        showsFindings: Bool,
        to writer: inout JSONWriter
    ) {
        writer.beginObject()
        writer.name("outcome")
        writer.string(decision.outcome.rawValue)
        writer.name("policy")
        writer.string(policyName)
        if let instant = decision.nextEligibleAt {
            writer.name("nextEligibleAt")
            writer.string(instant.rfc3339)
        }
        if showsFindings {
            writer.name("findings")
            write(decision.findings, &writer)
        }
        writer.endObject()
    }

    private static func write(_ findings: [Finding], _ writer: inout JSONWriter) {
        writer.beginArray()
        for finding in findings {
            writer.beginObject()
            writer.name("rule")
            writer.string(finding.rule)
            writer.name("answer")
            writer.string(finding.answer.rawValue)
            writer.name("code")
            writer.string(finding.code.rawValue)
            writer.name("because")
            writer.string(finding.because)
            if let instant = finding.nextEligibleAt {
                writer.name("nextEligibleAt")
                writer.string(instant.rfc3339)
            }
            if !finding.children.isEmpty {
                writer.name("findings")
                write(finding.children, &writer)
            }
            writer.endObject()
        }
        writer.endArray()
    }
}
