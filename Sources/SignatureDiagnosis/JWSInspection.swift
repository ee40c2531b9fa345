// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
import OfferDomain

/// Reads parts of a compact JWS without trusting them.
enum CompactJSON {
    static func object(_ part: Substring) -> JSONObject? {
        guard let bytes = Base64.decodeURL(Array(part.utf8)) else { return nil }
        return (try? JSONDocument(bytes, limits: SignatureReport.limits))?.root.object
    }

    static func claims(of jws: String) -> JSONObject? {
        let parts = jws.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 3 ? object(parts[1]) : nil
    }

    /// Whether it is a purchase that the App Store signed, and not what was signed for the App Store.
    static func isTransaction(_ jws: String) -> Bool {
        guard let claims = claims(of: jws), claims["aud"] == nil else { return false }
        return claims["originalTransactionId"] != nil && claims["purchaseDate"] != nil
    }
}

/// Lists in what a JWS differs from what Apple expects.
///
/// Source: Apple, [Generating JWS to sign App Store requests](https://developer.apple.com/documentation/storekit/generating-jws-to-sign-app-store-requests).
struct JWSInspection {
    private let jws: String
    private let knowledge: DiagnosisKnowledge

    init(_ jws: String, _ knowledge: DiagnosisKnowledge) {
        (self.jws, self.knowledge) = (jws, knowledge)
    }

    func inspect(_ report: SignatureReport, into diagnosis: inout Diagnosis) {
        let parts = jws.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = CompactJSON.object(parts[0]), let claims = CompactJSON.object(parts[1])
        else {
            diagnosis.verdict = .formatWrong
            return diagnosis.add(.jwsForm)
        }
        inspect(header, &diagnosis)
        inspectTime(of: claims, attemptedAt: report.attemptedAtMilliseconds, &diagnosis)
        inspectClaims(claims, &diagnosis)
        inspectNames(in: claims, keyID: header["kid"]?.string, report, &diagnosis)
        inspectTransaction(of: claims, report, &diagnosis)
        verify(parts, keyID: header["kid"]?.string, claims: claims, &diagnosis)
        conclude(&diagnosis)
    }

    /// What is only possible does not make it wrong.
    private func conclude(_ diagnosis: inout Diagnosis) {
        let formFaults: [SignatureFault] = [.jwsForm, .jwsSignatureDER, .notDecodable]
        let faults = diagnosis.findings.filter { $0.certainty != .possible }.map(\.fault)
        if faults.contains(where: { !formFaults.contains($0) }) {
            diagnosis.verdict = .payloadDiffers
        } else if !faults.isEmpty {
            diagnosis.verdict = .formatWrong
        } else if !diagnosis.signedDigests.isEmpty {
            diagnosis.verdict = .signedCorrectly
        }
    }

    private func inspect(_ header: JSONObject, _ diagnosis: inout Diagnosis) {
        let isRight =
            header["alg"]?.string == "ES256" && header["typ"]?.string == "JWT"
            && header["kid"]?.string?.isEmpty == false
            && header.count == 3
        if !isRight { diagnosis.add(.jwsHeader) }
    }

    private func inspectTime(of claims: JSONObject, attemptedAt attempt: Int64?, _ diagnosis: inout Diagnosis) {
        guard let issuedAt = claims["iat"]?.integer, (1_000_000_000..<100_000_000_000).contains(issuedAt) else {
            return diagnosis.add(.jwsTime)
        }
        if let now = knowledge.now, issuedAt > now / 1000 + 300 { return diagnosis.add(.jwsTime) }
        guard let reference = attempt ?? knowledge.now else { return }
        // The attempt is timed by the device's clock.
        if issuedAt > reference / 1000 + 300 { return diagnosis.add(.jwsTime, .likely) }
        if reference / 1000 - issuedAt > 24 * 3600 { diagnosis.add(.jwsTime, .possible) }
    }

    /// Holds the claims against what the app attached, and against the key ring and the catalog where they are known.
    private func inspectNames(
        in claims: JSONObject,
        keyID: String?,
        _ report: SignatureReport,
        _ diagnosis: inout Diagnosis
    ) {
        let issuer = knowledge.keys.first { $0.id == keyID && keyID != nil }?.issuerID
        if let issuer, claims["iss"]?.string.map({ $0.lowercased() != issuer }) ?? false { diagnosis.add(.jwsIssuer) }
        let fields = report.effective
        func differs(_ claim: String, _ attached: String?) -> Bool {
            guard let attached, let text = claims[claim]?.string else { return false }
            return text != attached
        }
        // What the app was given is what was signed: so what it attached is the mistake.
        func isOfApp(_ claim: String, _ received: String?) -> Bool { received != nil && !differs(claim, received) }
        let received = report.received
        if differs("bid", fields.bundleID) {
            diagnosis.add(isOfApp("bid", received.bundleID) ? .otherBundleAttached : .bundleOfOtherApp)
        }
        if differs("productId", fields.productID) {
            diagnosis.add(isOfApp("productId", received.productID) ? .otherProductAttached : .otherProduct)
        }
        if differs("offerIdentifier", fields.offerID) {
            diagnosis.add(isOfApp("offerIdentifier", received.offerID) ? .otherOfferAttached : .otherOffer)
        }
        guard let product = claims["productId"]?.string, let offer = claims["offerIdentifier"]?.string,
            knowledge.bundleIDs.contains(claims["bid"]?.string ?? ""), !knowledge.offersByProduct.isEmpty
        else { return }
        if knowledge.offersByProduct[product]?.contains(offer) != true { diagnosis.add(.jwsOffer, .likely) }
    }

    private func inspectClaims(_ claims: JSONObject, _ diagnosis: inout Diagnosis) {
        if claims["iss"]?.string.flatMap({ UniqueID($0) }) == nil { diagnosis.add(.jwsIssuer) }
        let nonce = claims["nonce"]?.string ?? ""
        // Apple's own library for Swift writes it in upper case.
        if UniqueID(nonce.lowercased()) == nil { diagnosis.add(.jwsNonce) }
        guard let members = Self.members[claims["aud"]?.string ?? ""] else { return diagnosis.add(.jwsAudience) }
        let names = claims.map(\.name)
        let hasOthers = names.contains { !Self.common.contains($0) && members[$0] == nil }
        let lacksSome = members.contains { name, member in member.isRequired && claims[name] == nil }
        let isOfOtherType = members.contains { name, member in claims[name].map { $0.kind != member.kind } ?? false }
        let isRepeated = Set(names).count != names.count
        let lacksBundle = (claims["bid"]?.string ?? "").isEmpty
        let hasOtherID = claims["transactionId"]?.string.map { id in !id.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        let isEmpty = members.keys.contains { claims[$0]?.string?.isEmpty == true }
        if isEmpty || hasOthers || lacksSome || isOfOtherType || isRepeated || lacksBundle || hasOtherID == true {
            diagnosis.add(.jwsClaims)
        }
    }

    private static let common: Set = ["iss", "iat", "aud", "bid", "nonce"]

    private typealias Member = (kind: JSONKind, isRequired: Bool)

    private static let members: [String: [String: Member]] = [
        "promotional-offer": [
            "productId": (.string, true), "offerIdentifier": (.string, true), "transactionId": (.string, false),
        ],
        "introductory-offer-eligibility": [
            "productId": (.string, true), "allowIntroductoryOffer": (.boolean, true), "transactionId": (.string, true),
        ],
        "advanced-commerce-api": ["request": (.string, true)],
    ]

    /// Another renewal of the same subscription has another id, so a difference proves nothing.
    private func inspectTransaction(of claims: JSONObject, _ report: SignatureReport, _ diagnosis: inout Diagnosis) {
        guard let signed = claims["transactionId"]?.string,
            let reported = report.signedTransaction.flatMap(CompactJSON.claims)
        else { return }
        let ids = ["transactionId", "originalTransactionId", "appTransactionId"].compactMap { reported[$0]?.string }
        if !ids.isEmpty, !ids.contains(signed) { diagnosis.add(.jwsTransaction, .possible) }
    }

    private func verify(
        _ parts: [Substring],
        keyID: String?,
        claims: JSONObject,
        _ diagnosis: inout Diagnosis
    ) {
        guard let bytes = Base64.decodeURL(Array(parts[2].utf8)) else { return diagnosis.add(.jwsForm) }
        guard let (signature, isDER) = Self.signature(bytes) else { return diagnosis.add(.notDecodable) }
        if isDER { diagnosis.add(.jwsSignatureDER) }
        diagnosis.triedPayloads += 1
        let digest = SHA256.digest(of: Array("\(parts[0]).\(parts[1])".utf8))
        let candidates = (try? KeyRecovery(signature).candidates(digest)) ?? []
        let spkis = Set(knowledge.keys.map(\.publicKey.spki))
        let pins = Set(knowledge.pins.map(\.digest))
        let known = candidates.first { spkis.contains($0) || pins.contains(SHA256.digest(of: $0)) }
        guard let spki = known ?? keyOfBoth(signature, among: candidates, &diagnosis) else {
            return explainNothing(keyID, &diagnosis)
        }
        // A token for the App Store Server API is no offer, and none is on record.
        if claims["aud"]?.string != "appstoreconnect-v1" { diagnosis.signedDigests.append(digest) }
        _ = knowledge.judge(spki, named: keyID, isOfBoth: known == nil, &diagnosis)
    }

    /// r and s side by side, or in DER, of numbers that a signature can have.
    private static func signature(_ bytes: [UInt8]) -> (signature: ECDSASignature, isDER: Bool)? {
        let raw = ECDSASignature(rawRS: bytes).map { ($0, false) }
        guard let found = raw ?? ECDSASignature(der: bytes).map({ ($0, true) }), found.0.isInRange else { return nil }
        return found
    }

    private func explainNothing(_ keyID: String?, _ diagnosis: inout Diagnosis) {
        if let keyID, knowledge.keyIDs.contains(keyID) { return diagnosis.add(.jwsNotVerified) }
        diagnosis.cannotDecide("needs-public-key")
        if knowledge.otherReport?.jws == nil || diagnosis.notDecidable.contains("same-signature-twice") {
            diagnosis.cannotDecide("needs-second-signature")
        }
    }

    /// The key that may have made the JWS of both reports.
    private func keyOfBoth(
        _ own: ECDSASignature,
        among candidates: [[UInt8]],
        _ diagnosis: inout Diagnosis
    ) -> [UInt8]? {
        guard let parts = knowledge.otherReport?.jws?.split(separator: ".", omittingEmptySubsequences: false),
            parts.count == 3,
            let (signature, _) = Base64.decodeURL(Array(parts[2].utf8)).flatMap(Self.signature)
        else { return nil }
        guard signature.rawRS.prefix(32) != own.rawRS.prefix(32) else {
            diagnosis.cannotDecide("same-signature-twice")
            return nil
        }
        diagnosis.triedPayloads += 1
        let digest = SHA256.digest(of: Array("\(parts[0]).\(parts[1])".utf8))
        let others = Set((try? KeyRecovery(signature).candidates(digest)) ?? [])
        return candidates.first { others.contains($0) }
    }
}
