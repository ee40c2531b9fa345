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
        diagnosis.triedKeys = knowledge.keys.count
        if let text = report.signature, report.hasSignedFields || report.jws == nil {
            inspect(text, report, into: &diagnosis)
        } else if let jws = report.jws {
            JWSInspection(jws, knowledge).inspect(into: &diagnosis)
        }
        Circumstances(report).judge(&diagnosis)
        return diagnosis
    }

    private func inspect(_ text: String, _ report: SignatureReport, into diagnosis: inout Diagnosis) {
        guard let decoded = SignatureText(text) else {
            diagnosis.verdict = .formatWrong
            return diagnosis.add(.notDecodable)
        }
        let variations = Variations(report, knowledge)
        var search = SignatureSearch(variations, knowledge.keys)
        let hits = search.hits(decoded.signature)
        diagnosis.triedPayloads = search.payloads
        for fault in decoded.faults { diagnosis.add(fault) }
        if let hit = hits.first {
            diagnosis.signedBy = hit.key.id
            conclude(hits.map(\.faults), named: variations.base[.keyID], by: hit.key.id, decoded, &diagnosis)
        } else {
            recover(report, variations, decoded, &diagnosis)
        }
    }

    /// Takes in what was proved of the payload.
    private func conclude(
        _ explanations: [[SignatureFault]],
        named keyID: [UInt8],
        by signer: String?,
        _ decoded: SignatureText,
        _ diagnosis: inout Diagnosis
    ) {
        // Of explanations that come to the same bytes, all are told.
        for fault in explanations.joined() { diagnosis.add(fault) }
        let isOtherKey = signer.map { Array($0.utf8) != keyID } ?? false
        if isOtherKey { diagnosis.add(.keyIDMismatch) }
        let isPayloadRight = explanations.contains([]) && !isOtherKey
        diagnosis.verdict =
            !isPayloadRight ? .payloadDiffers : decoded.faults.isEmpty ? .signedCorrectly : .formatWrong
    }

    /// Looks for the key itself: under a pin, or as the one that two reports have in common.
    private func recover(
        _ report: SignatureReport,
        _ variations: Variations,
        _ decoded: SignatureText,
        _ diagnosis: inout Diagnosis
    ) {
        var search = RecoveringSearch()
        var pins = Set(knowledge.pins)
        if let other = knowledge.otherReport, let text = other.signature, let second = SignatureText(text) {
            var otherSearch = RecoveringSearch()
            let own = search.candidates(decoded.signature, variations)
            pins.formUnion(own.intersection(otherSearch.candidates(second.signature, Variations(other, knowledge))))
        }
        if !pins.isEmpty {
            var pinned = RecoveringSearch()
            if let found = pinned.hits(decoded.signature, variations, pins: pins) {
                diagnosis.recoveredKey = SHA256.digest(of: found.spki).hex
                diagnosis.triedPayloads += pinned.payloads
                return conclude(found.faults, named: [], by: nil, decoded, &diagnosis)
            }
            diagnosis.triedPayloads += pinned.payloads
        }
        diagnosis.triedPayloads += search.payloads
        explainNothing(report, &diagnosis)
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

    /// Source: Apple, [SKError.Code](https://developer.apple.com/documentation/storekit/skerror/code); other codes are not
    /// interpreted.
    private func judgeError(_ diagnosis: inout Diagnosis) {
        guard let error = report.error else { return }
        let isRight = [.signedCorrectly, .undecided].contains(diagnosis.verdict)
        let isStoreKit =
            ["SKErrorDomain", "StoreKit.Product.PurchaseError"].contains(error.domain) || Int64(error.domain) == nil
        guard isStoreKit else { return }
        switch error.code {
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
