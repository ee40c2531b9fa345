// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON

/// Finds out why a signature was refused, from a report and public key data; it uses no network and signs nothing.
package struct SignatureDiagnoser: Sendable {
    private let knowledge: DiagnosisKnowledge

    /// Takes what is known beside the report.
    package init(_ knowledge: DiagnosisKnowledge) { self.knowledge = knowledge }

    /// What is wrong, proved where it can be.
    package func diagnose(_ report: SignatureReport) -> Diagnosis {
        var diagnosis = Diagnosis()
        diagnosis.reportedErrors = report.error?.chain ?? []
        diagnosis.triedKeys = knowledge.keys.count + knowledge.pins.count
        if let text = report.signature, report.hasSignedFields || report.jws == nil {
            inspect(text, report, into: &diagnosis)
            if let jws = report.jws {
                var second = Diagnosis()
                JWSInspection(jws, knowledge).inspect(report, into: &second)
                diagnosis.merge(second)
            }
        } else if let jws = report.jws {
            JWSInspection(jws, knowledge).inspect(report, into: &diagnosis)
        }
        Circumstances(report, knowledge).judge(&diagnosis)
        if diagnosis.verdict == .undecided, diagnosis.notDecidable.isEmpty {
            diagnosis.cannotDecide("unknown-mistake")
        }
        return diagnosis
    }

    private func inspect(_ text: String, _ report: SignatureReport, into diagnosis: inout Diagnosis) {
        guard let decoded = SignatureText(text) else {
            diagnosis.verdict = .formatWrong
            return diagnosis.add(.notDecodable)
        }
        var search = SignatureSearch(
            RecoveredKeys(decoded.signature, Variations(report, knowledge)),
            second(to: decoded.signature, &diagnosis),
            keys: Set(knowledge.keys.map(\.publicKey.spki)),
            pins: Set(knowledge.pins.map(\.digest))
        )
        let hits = search.hits()
        diagnosis.triedPayloads = search.payloads
        for fault in decoded.faults {
            // Any 64 bytes may be r and s.
            diagnosis.add(fault, fault == .rawSignature && hits.isEmpty ? .likely : .proved)
        }
        if !report.hasSignedFields {
            diagnosis.lacking = report.effective.unknown.map(\.member)
            diagnosis.cannotDecide("needs-fields")
        }
        guard let first = hits.first else {
            if !search.isComplete { diagnosis.cannotDecide("search-not-complete") }
            if report.namesNoAccount {
                diagnosis.lacking.append("appAccountToken")
                diagnosis.cannotDecide("needs-fields")
            }
            return explainNothing(&diagnosis)
        }
        conclude(from: first, among: hits, of: decoded, report, &diagnosis)
    }

    /// What the other report has; `nil` if that is the same signature, which is made by the same key over anything.
    private func second(to signature: ECDSASignature, _ diagnosis: inout Diagnosis) -> RecoveredKeys? {
        guard let other = knowledge.otherReport, let text = other.signature, let second = SignatureText(text) else {
            return nil
        }
        // A holder of one signature can write it in other forms; r is the same in all of them.
        guard second.signature.rawRS.prefix(32) != signature.rawRS.prefix(32) else {
            diagnosis.cannotDecide("same-signature-twice")
            return nil
        }
        return RecoveredKeys(second.signature, Variations(other, knowledge))
    }

    /// Takes in what was proved of the payload.
    private func conclude(
        from first: SignatureSearch.Hit,
        among hits: [SignatureSearch.Hit],
        of decoded: SignatureText,
        _ report: SignatureReport,
        _ diagnosis: inout Diagnosis
    ) {
        diagnosis.signedDigests.append(first.digest)
        diagnosis.notDecidable.removeAll { $0 == "same-signature-twice" }
        // Of explanations that lead to the same bytes, only the shortest are reported.
        let least = hits.map(\.faults.count).min()
        for fault in hits.map(\.faults).filter({ $0.count == least }).joined() { diagnosis.add(fault) }
        let isAttachedWrong = first.faults.contains(.otherKeyIDAttached)
        let named = isAttachedWrong ? report.received.keyID : report.effective.keyID
        let isOtherKey = knowledge.judge(first.spki, named: named, isOfBoth: first.isOfBoth, &diagnosis)
        let isPayloadRight = hits.contains { $0.faults.isEmpty } && !isOtherKey
        diagnosis.verdict =
            !isPayloadRight
            ? .payloadDiffers
            : !decoded.faults.isEmpty ? .formatWrong : report.hasSignedFields ? .signedCorrectly : .undecided
    }

    private func explainNothing(_ diagnosis: inout Diagnosis) {
        if !diagnosis.findings.isEmpty { diagnosis.verdict = .formatWrong }
        if knowledge.keys.isEmpty && knowledge.pins.isEmpty { diagnosis.cannotDecide("needs-public-key") }
        if knowledge.otherReport?.signature == nil || diagnosis.notDecidable.contains("same-signature-twice") {
            diagnosis.cannotDecide("needs-second-signature")
        } else {
            diagnosis.cannotDecide("unknown-mistake")
        }
    }
}

extension DiagnosisKnowledge {
    /// Takes in who signed; true if the key that is known by the named id is another one.
    func judge(
        _ spki: [UInt8],
        named keyID: String?,
        isOfBoth: Bool,
        _ diagnosis: inout Diagnosis
    ) -> Bool {
        let digest = SHA256.digest(of: spki)
        let signers = keys.filter { $0.publicKey.spki == spki }
        let ids = signers.compactMap(\.id) + pins.filter { $0.digest == digest }.compactMap(\.id)
        let signer = ids.first { $0 == keyID } ?? ids.first
        diagnosis.signedBy = signer
        if signers.isEmpty {
            diagnosis.recoveredKey = digest.hex
            diagnosis.isKeyOfBothReports = isOfBoth
        }
        guard let keyID else { return false }
        let isOtherKey = signer.map { $0 != keyID } ?? keyIDs.contains(keyID)
        if isOtherKey { diagnosis.add(.keyIDMismatch) }
        return isOtherKey
    }
}
