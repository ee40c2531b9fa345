// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
import OfferDomain

/// Reads parts of a compact JWS without trusting them.
enum CompactJSON {
    static func object(_ part: Substring) -> JSONObject? {
        guard let bytes = Base64.decodeURL(Array(part.utf8)) else { return nil }
        return (try? JSONDocument(bytes))?.root.object
    }

    static func claims(of jws: String) -> JSONObject? {
        let parts = jws.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 3 ? object(parts[1]) : nil
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
        inspectTime(claims, &diagnosis)
        inspectClaims(claims, &diagnosis)
        inspectNames(claims, header["kid"]?.string, report, &diagnosis)
        let hasFaults = !diagnosis.findings.isEmpty
        verify(parts, header["kid"]?.string, &diagnosis)
        if hasFaults { diagnosis.verdict = .payloadDiffers }
    }

    private func inspect(_ header: JSONObject, _ diagnosis: inout Diagnosis) {
        let isRight =
            header["alg"]?.string == "ES256" && header["typ"]?.string == "JWT"
            && header["kid"]?.string?.isEmpty == false
            && header.count == 3
        if !isRight { diagnosis.add(.jwsHeader) }
    }

    private func inspectTime(_ claims: JSONObject, _ diagnosis: inout Diagnosis) {
        guard let issuedAt = claims["iat"]?.integer, (1_000_000_000..<100_000_000_000).contains(issuedAt) else {
            return diagnosis.add(.jwsTime)
        }
        if let now = knowledge.now, issuedAt > now / 1000 + 300 { diagnosis.add(.jwsTime) }
    }

    /// Holds the claims against what the app attached, and against the key ring and the catalog where they are known.
    private func inspectNames(
        _ claims: JSONObject,
        _ keyID: String?,
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
        if differs("bid", fields.bundleID) { diagnosis.add(.bundleOfOtherApp) }
        if differs("productId", fields.productID) { diagnosis.add(.otherProduct) }
        if differs("offerIdentifier", fields.offerID) { diagnosis.add(.otherOffer) }
        guard let product = claims["productId"]?.string, let offer = claims["offerIdentifier"]?.string,
            knowledge.bundleIDs.contains(claims["bid"]?.string ?? "")
        else { return }
        if knowledge.offersByProduct[product]?.contains(offer) != true { diagnosis.add(.jwsOffer, .likely) }
    }

    private func inspectClaims(_ claims: JSONObject, _ diagnosis: inout Diagnosis) {
        if claims["iss"]?.string.flatMap({ UniqueID($0) }) == nil { diagnosis.add(.jwsIssuer) }
        let nonce = claims["nonce"]?.string ?? ""
        if UniqueID(nonce) == nil || nonce != nonce.lowercased() { diagnosis.add(.jwsNonce) }
        guard let members = Self.members[claims["aud"]?.string ?? ""] else { return diagnosis.add(.jwsAudience) }
        let names = claims.map(\.name)
        let hasOthers = names.contains { !Self.common.contains($0) && members[$0] == nil }
        let lacksSome = members.contains { name, member in member.isRequired && claims[name] == nil }
        let isOfOtherType = members.contains { name, member in claims[name].map { $0.kind != member.kind } ?? false }
        let isRepeated = Set(names).count != names.count
        let lacksBundle = (claims["bid"]?.string ?? "").isEmpty
        let hasOtherID = claims["transactionId"]?.string.map { id in !id.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        if hasOthers || lacksSome || isOfOtherType || isRepeated || lacksBundle || hasOtherID == true {
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
    ]

    private func verify(_ parts: [Substring], _ keyID: String?, _ diagnosis: inout Diagnosis) {
        guard let bytes = Base64.decodeURL(Array(parts[2].utf8)) else {
            diagnosis.verdict = .formatWrong
            return diagnosis.add(.jwsForm)
        }
        var signature = ECDSASignature(rawRS: bytes)
        if signature == nil, let der = ECDSASignature(der: bytes) {
            signature = der
            diagnosis.add(.jwsSignatureDER)
        }
        guard let signature else {
            diagnosis.verdict = .formatWrong
            return diagnosis.add(.notDecodable)
        }
        let digest = SHA256.digest(of: Array("\(parts[0]).\(parts[1])".utf8))
        judge(signature, digest, keyID, &diagnosis)
    }

    private func judge(
        _ signature: ECDSASignature,
        _ digest: SHA256Digest,
        _ keyID: String?,
        _ diagnosis: inout Diagnosis
    ) {
        diagnosis.triedPayloads += 1
        if let signer = knowledge.keys.first(where: { $0.publicKey.verifies(signature, of: digest) }) {
            diagnosis.signedBy = signer.id
            diagnosis.signedDigest = digest
            if let id = signer.id, id != keyID { diagnosis.add(.keyIDMismatch) }
            diagnosis.verdict = diagnosis.findings.isEmpty ? .signedCorrectly : .payloadDiffers
            return
        }
        let pins = Set(knowledge.pins).union(pinsOfOtherReport)
        let candidates = (try? KeyRecovery(signature).candidates(digest)) ?? []
        if let spki = candidates.first(where: { pins.contains(SHA256.digest(of: $0)) }) {
            diagnosis.recoveredKey = SHA256.digest(of: spki).hex
            diagnosis.signedDigest = digest
            diagnosis.verdict = diagnosis.findings.isEmpty ? .signedCorrectly : .payloadDiffers
            return
        }
        if knowledge.keys.contains(where: { $0.id == keyID && keyID != nil }) {
            diagnosis.add(.jwsNotVerified)
            diagnosis.verdict = .payloadDiffers
        } else if diagnosis.findings.isEmpty {
            diagnosis.notDecidable.append("needs-public-key")
            if knowledge.otherReport?.jws == nil { diagnosis.notDecidable.append("needs-second-signature") }
        }
    }

    /// The digest of each key that may have made the JWS of the other report.
    private var pinsOfOtherReport: Set<SHA256Digest> {
        guard let parts = knowledge.otherReport?.jws?.split(separator: ".", omittingEmptySubsequences: false),
            parts.count == 3,
            let signature = Base64.decodeURL(Array(parts[2].utf8)).flatMap(ECDSASignature.init(rawRS:))
        else { return [] }
        let digest = SHA256.digest(of: Array("\(parts[0]).\(parts[1])".utf8))
        return Set(((try? KeyRecovery(signature).candidates(digest)) ?? []).map { SHA256.digest(of: $0) })
    }
}
