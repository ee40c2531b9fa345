// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// A diagnosis as it is recorded, without data of a customer.
package struct DiagnosisRecord: Hashable, Sendable {
    /// Who asked for the diagnosis.
    package let caller: CallerID
    /// SHA-256 of the signature in DER, in hexadecimal; `nil` if none could be read.
    package let digest: String?
    /// The verdict's name, as the answer has it.
    package let verdict: String
    /// The names of the faults, as the answer has them.
    package let findings: [String]
    /// The app that the report names; `nil` if it names none.
    package let app: BundleID?

    package init(caller: CallerID, digest: String?, verdict: String, findings: [String], app: BundleID?) {
        (self.caller, self.digest, self.verdict) = (caller, digest, verdict)
        (self.findings, self.app) = (findings, app)
    }
}

extension AuditEntry {
    /// The names in `findings` are out of a closed list.
    static func details(of record: DiagnosisRecord) -> [Member] {
        [
            ("caller", .text(record.caller.text)), ("verdict", .text(record.verdict)),
            ("findings", .list(record.findings.map { .text($0) })),
        ] + (record.app.map { [("bundle", .text($0.text))] } ?? [])
            + (record.digest.map { [("digest", .text($0))] } ?? [])
    }
}
