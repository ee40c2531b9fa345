// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON

/// Finds out why a signature was refused, from a report and what is public of the keys; asks nobody and signs nothing.
package struct SignatureDiagnoser: Sendable {
    private let knowledge: DiagnosisKnowledge

    package init(_ knowledge: DiagnosisKnowledge) { self.knowledge = knowledge }

    /// What is wrong, proved where it can be.
    package func diagnose(_ report: SignatureReport) -> Diagnosis {
        var diagnosis = Diagnosis()
        diagnosis.reportedErrors = report.error?.chain ?? []
        diagnosis.triedKeys = knowledge.keys.count
        if let text = report.signature, report.hasSignedFields || report.jws == nil {
            inspect(text, report, into: &diagnosis)
        } else if let jws = report.jws {
            JWSInspection(jws, knowledge).inspect(report, into: &diagnosis)
        }
        Circumstances(report).judge(&diagnosis)
        return diagnosis
    }

    private func inspect(_ text: String, _ report: SignatureReport, into diagnosis: inout Diagnosis) {
        guard let decoded = SignatureText(text) else {
            diagnosis.verdict = .formatWrong
            return diagnosis.add(.notDecodable)
        }
        for fault in decoded.faults { diagnosis.add(fault) }
        let variations = Variations(report, knowledge)
        var search = SignatureSearch(decoded.signature, variations)
        var pins = Set(knowledge.pins)
        if knowledge.keys.isEmpty { pins.formUnion(commonKeys(decoded.signature, variations)) }
        var hits = search.hits(keys: Set(knowledge.keys.map(\.publicKey.spki)), pins: pins)
        diagnosis.triedPayloads = search.payloads
        if hits.isEmpty, !knowledge.keys.isEmpty {
            let common = commonKeys(decoded.signature, variations)
            var again = SignatureSearch(decoded.signature, variations)
            hits = again.hits(keys: [], pins: common)
            diagnosis.triedPayloads += again.payloads
        }
        guard let first = hits.first else { return explainNothing(report, &diagnosis) }
        conclude(hits, first, named: variations.base[.keyID], decoded, &diagnosis)
    }

    /// The digests of the keys that may have made this signature and that of the other report.
    private func commonKeys(_ signature: ECDSASignature, _ variations: Variations) -> Set<SHA256Digest> {
        guard let other = knowledge.otherReport, let text = other.signature, let second = SignatureText(text) else {
            return []
        }
        var own = SignatureSearch(signature, variations)
        var others = SignatureSearch(second.signature, Variations(other, knowledge))
        return own.candidates().intersection(others.candidates())
    }

    /// Takes in what was proved of the payload.
    private func conclude(
        _ hits: [SignatureSearch.Hit],
        _ first: SignatureSearch.Hit,
        named keyID: [UInt8],
        _ decoded: SignatureText,
        _ diagnosis: inout Diagnosis
    ) {
        diagnosis.signedDigest = first.digest
        let signer = knowledge.keys.first { $0.publicKey.spki == first.spki }
        diagnosis.signedBy = signer?.id
        if signer == nil { diagnosis.recoveredKey = SHA256.digest(of: first.spki).hex }
        // Of explanations that come to the same bytes, all are told.
        for fault in hits.map(\.faults).joined() { diagnosis.add(fault) }
        let isOtherKey = signer?.id.map { Array($0.utf8) != keyID } ?? false
        if isOtherKey { diagnosis.add(.keyIDMismatch) }
        let isPayloadRight = hits.contains { $0.faults.isEmpty } && !isOtherKey
        diagnosis.verdict =
            !isPayloadRight ? .payloadDiffers : decoded.faults.isEmpty ? .signedCorrectly : .formatWrong
    }

    private func explainNothing(_ report: SignatureReport, _ diagnosis: inout Diagnosis) {
        if !diagnosis.findings.isEmpty { diagnosis.verdict = .formatWrong }
        if !report.hasSignedFields { diagnosis.notDecidable.append("needs-fields") }
        if knowledge.keys.isEmpty && knowledge.pins.isEmpty { diagnosis.notDecidable.append("needs-public-key") }
        if knowledge.otherReport == nil { diagnosis.notDecidable.append("needs-second-signature") }
    }
}

/// What lies outside the signature: time, what StoreKit said, and what came of the purchase.
struct Circumstances {
    private let report: SignatureReport

    init(_ report: SignatureReport) { self.report = report }

    func judge(_ diagnosis: inout Diagnosis) {
        let isRight = diagnosis.verdict == .signedCorrectly
        if let attempt = report.attemptedAtMilliseconds, let signedAt = signedAtMilliseconds,
            attempt - signedAt > 24 * 3_600_000
        {
            diagnosis.add(.expired)
            if isRight { diagnosis.verdict = .expired }
        }
        judgePurchase(&diagnosis)
        judgeError(&diagnosis)
        if [.signedCorrectly, .notEligibleAtStore].contains(diagnosis.verdict) {
            diagnosis.notDecidable += ["key-revoked", "key-of-other-team", "offer-deleted", "reused"]
        }
    }

    private var signedAtMilliseconds: Int64? {
        guard let text = report.effective.timestamp, let value = Int64(Timestamps.plain(text)) else { return nil }
        return value > 100_000_000_000 ? value : value * 1000
    }

    private func judgePurchase(_ diagnosis: inout Diagnosis) {
        guard let text = report.signedTransaction, let claims = CompactJSON.claims(of: text) else { return }
        if claims["environment"]?.string == "Xcode" {
            diagnosis.add(.xcodeEnvironment)
            if [.signedCorrectly, .undecided].contains(diagnosis.verdict) { diagnosis.verdict = .unknownKey }
            return
        }
        guard diagnosis.verdict == .signedCorrectly, claims["offerType"]?.integer == nil,
            claims["productId"]?.string == report.effective.productID
        else { return }
        diagnosis.add(.offerNotApplied, .likely)
        diagnosis.verdict = .offerNotApplied
    }

    private func judgeError(_ diagnosis: inout Diagnosis) {
        let isRight = [.signedCorrectly, .undecided].contains(diagnosis.verdict)
        switch report.error?.storeKitCode {
        case 18 where isRight:
            diagnosis.add(.notEligible, .likely)
            diagnosis.verdict = .notEligibleAtStore
        case 11: diagnosis.add(.offerUnknown, .likely)
        case 14: diagnosis.add(.offerPrice, .likely)
        case 13: diagnosis.add(.missingParameters, .likely)
        case 2: diagnosis.add(.cancelled, .possible)
        default: break
        }
    }
}
