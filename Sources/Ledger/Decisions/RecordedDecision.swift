// SPDX-License-Identifier: Apache-2.0
package import JSON
package import OfferDomain

/// A ``DecisionJSON`` on record, read back for a retry.
package struct RecordedDecision: Sendable {
    private let json: [UInt8]
    /// What was decided then.
    package let outcome: Outcome
    private let policyName: String
    private let nextEligibleAt: String?

    /// Findings are nested as deep as rules are, and each rule takes two levels.
    private static let limits = JSONLimits(maximumBytes: 4_194_304, maximumDepth: 64, maximumNodes: 262_144)

    /// `nil` if it is no decision that this service wrote.
    package init?(_ json: [UInt8]) {
        guard let object = (try? JSONDocument(json, limits: Self.limits))?.root.object,
            let outcome = object["outcome"]?.string.flatMap(Outcome.init), let policyName = object["policy"]?.string
        else { return nil }
        self.json = json
        self.outcome = outcome
        self.policyName = policyName
        nextEligibleAt = object["nextEligibleAt"]?.string
    }

    /// Writes the decision as the service first answered it, with or without its findings.
    package func write(showsFindings: Bool, to writer: inout JSONWriter) {
        if showsFindings { return writer.value(json: json) }
        writer.beginObject()
        writer.name("outcome")
        writer.string(plain: outcome.rawValue)
        writer.name("policy")
        writer.string(policyName)
        if let nextEligibleAt {
            writer.name("nextEligibleAt")
            writer.string(nextEligibleAt)
        }
        writer.endObject()
    }
}
