// SPDX-License-Identifier: Apache-2.0
import Cryptography
package import JSON
import Ledger
import OfferDomain
package import TransparencyLog

/// An answer of the service, whole or in part, as a caller presents it; missing members are read from its record.
package struct PresentedAnswer: Sendable {
    let grantID: String?
    let nonce: String?
    let original: Original?
    let jws: PresentedSignature?

    /// The original signature, and the members beside it.
    struct Original: Sendable {
        let signature: ECDSASignature
        let bundleID: BundleID?
        let productID: ProductID?
        /// With the name that the member has.
        let offerID: (name: String, value: OfferID)?
        let keyID: KeyID?
        let timestamp: Timestamp?
        let binding: PurchaseBinding
    }

    /// How many answers of a batch are read.
    private static let mostInBatch = 32

    /// Whether an object is an answer or a batch of answers, and not a signature with all of its members.
    package static func isAnswer(_ value: JSONValue) -> Bool {
        guard let object = value.object else { return false }
        if ["grantId", "identifier", "results"].contains(where: { object[$0] != nil }) { return true }
        return object["nonce"] != nil
            && ["bundleId", "productId", "offerId", "jws"].allSatisfy { object[$0] == nil }
    }

    /// Reads an answer, or those of a batch that granted something; members that say nothing here are passed over.
    package static func all(in value: JSONValue, into mismatches: Mismatches) -> [PresentedAnswer] {
        var reader = ObjectReader(value, into: mismatches)
        guard reader.member("results") != nil else {
            return [PresentedAnswer(value, into: mismatches)].compactMap(\.self)
        }
        let answers = reader.elements("results", atMost: mostInBatch) { result in
            result.object?["grant"].flatMap { PresentedAnswer($0, into: mismatches) }
        }
        if answers.isEmpty { reader.note("results", "has no grant") }
        return answers
    }

    private init?(_ value: JSONValue, into mismatches: Mismatches) {
        let before = mismatches.count
        var reader = ObjectReader(value, into: mismatches)
        let uuid = "a UUID, as 8-4-4-4-12 hexadecimal digits"
        let nonce = reader.optional("nonce", uuid) { $0.stringSlice.flatMap { UniqueID(utf8: $0) } }
        let grantID = reader.optional("grantId", uuid) { $0.stringSlice.flatMap { UniqueID(utf8: $0) } }
        original = Self.original(&reader)
        jws = reader.optional("jws", "a compact JWS for the App Store, signed with ES256") { value in
            value.stringBytes.flatMap(PresentedSignature.init(jws:))
        }
        self.nonce = nonce?.description
        self.grantID = grantID?.description
        if mismatches.count == before, nonce == nil, grantID == nil, jws == nil {
            reader.note("grantId", "is missing, and so are nonce and jws; one of them is needed to find the record")
        }
        guard mismatches.count == before else { return nil }
    }

    private static func original(_ reader: inout ObjectReader) -> Original? {
        let signature = reader.optional("signature", "the signature in base64") { value in
            value.stringBytes.flatMap(Base64.decode).flatMap(ECDSASignature.init(der:))
        }
        let identifier = reader.optional("identifier", text: OfferID.init)
        let offerID = reader.optional("offerId", text: OfferID.init)
        let keyID = reader.optional("keyIdentifier", text: KeyID.init)
        let timestamp = reader.optional("timestamp", "milliseconds since 1970 UTC") { value in
            value.integer.flatMap(Timestamp.init(exactlyMilliseconds:))
        }
        let binding = PurchaseBinding(&reader, takesUsername: true)
        let bundleID = reader.optional("bundleId", text: BundleID.init)
        let productID = reader.optional("productId", text: ProductID.init)
        guard let signature else { return nil }
        return Original(
            signature: signature,
            bundleID: bundleID,
            productID: productID,
            offerID: identifier.map { ("identifier", $0) } ?? offerID.map { ("offerId", $0) },
            keyID: keyID,
            timestamp: timestamp,
            binding: binding
        )
    }
}

/// An entry that was found for an answer, or one of its signatures.
package struct FoundEntry: Sendable {
    /// The entry's place in the log, counted from 0.
    package let index: Int64
    /// The entry's bytes as the log has them: a JSON object.
    package let entry: [UInt8]
    /// What was presented and is on record in it; `nil` where nothing was but the name of the grant.
    package let signature: PresentedSignature?
}

/// What the log has of an answer: an entry for each of its signatures, or what keeps one from being found.
package enum AnswerTrace: Sendable {
    case recorded([FoundEntry])
    case absent(NoRecord)
}

// MARK: - Looking for it

extension AuditSearch {
    /// Looks for the records of an answer; without a signature, it looks for the record of the grant.
    package func trace(_ answer: PresentedAnswer) throws(AuditReadError) -> AnswerTrace {
        var found: [FoundEntry] = []
        if let original = answer.original {
            switch try trace(original, of: answer) {
            case .recorded(let entries): found += entries
            case .absent(let absence): return .absent(absence)
            }
        }
        if let jws = answer.jws {
            switch try trace(jws) {
            case .recorded(let index, let entry): found.append(FoundEntry(index: index, entry: entry, signature: jws))
            case let trace: return .absent(NoRecord(trace))
            }
        }
        if found.isEmpty { found = try grant(of: answer) }
        return found.isEmpty ? .absent(NoRecord(SignatureTrace.none)) : .recorded(found)
    }

    /// Builds what was signed from what is on record under the same nonce, and from what was presented.
    private func trace(
        _ original: PresentedAnswer.Original,
        of answer: PresentedAnswer
    ) throws(AuditReadError) -> AnswerTrace {
        var closest: (index: Int64, differences: [String])?
        for found in try entries(16, "sign.intent", of: answer) {
            guard let entry = (try? JSONDocument(found.entry))?.root.object,
                entry["fmt"]?.string(equals: SignatureForm.v1.rawValue) == true,
                let presented = original.presented(as: entry)
            else { continue }
            var differences = original.differences(from: entry)
            if let grantID = answer.grantID, entry["grant"]?.string(equals: grantID) != true {
                differences.append("grantId")
            }
            if differences.isEmpty, entry["digest"]?.string(equals: presented.digest.hex) == true {
                return .recorded([FoundEntry(index: found.index, entry: found.entry, signature: presented)])
            }
            if differences.count < closest?.differences.count ?? .max { closest = (found.index, differences) }
        }
        let near = closest.map { SignatureTrace.sameNonce(index: $0.index, differences: $0.differences) }
        return .absent(NoRecord(near ?? .none))
    }

    private func grant(of answer: PresentedAnswer) throws(AuditReadError) -> [FoundEntry] {
        for event in ["sign.intent", "authorize.intent"] {
            let found = try entries(1, event, of: answer)
            if !found.isEmpty { return found.map { FoundEntry(index: $0.index, entry: $0.entry, signature: nil) } }
        }
        return []
    }

    /// The entries that have the nonce, or of an answer without one the grant.
    private func entries(
        _ count: Int,
        _ event: String,
        of answer: PresentedAnswer
    ) throws(AuditReadError) -> [(index: Int64, entry: [UInt8])] {
        if let nonce = answer.nonce { return try first(count, [.event: event, .nonce: nonce]) }
        return try answer.grantID.map { grantID throws(AuditReadError) in
            try first(count, [.event: event, .grant: grantID])
        } ?? []
    }
}

extension PresentedAnswer.Original {
    /// What was signed if the record is right in all that was not presented; `nil` if that can't be signed.
    fileprivate func presented(as entry: JSONObject) -> PresentedSignature? {
        func recorded<Value>(_ name: String, _ make: (String) -> Value?) -> Value? {
            entry[name]?.string.flatMap(make)
        }
        guard var fields = fields(nonce: entry["nonce"]?.string) else { return nil }
        fields.bundleID = bundleID ?? recorded("bundle") { try? BundleID($0) }
        fields.productID = productID ?? recorded("product") { try? ProductID($0) }
        fields.offerID = offerID?.value ?? recorded("offer") { try? OfferID($0) }
        fields.keyID = keyID ?? recorded("kid") { try? KeyID($0) }
        fields.timestamp = timestamp ?? entry["ts"]?.integer.flatMap(Timestamp.init(exactlyMilliseconds:))
        return PresentedSignature(fields)
    }

    /// What was presented; `nil` without a nonce.
    func fields(nonce: String?) -> SignedFields? {
        guard let nonce = nonce.flatMap({ UniqueID($0) }) else { return nil }
        var fields = SignedFields()
        fields.bundleID = bundleID
        fields.productID = productID
        fields.offerID = offerID?.value
        fields.keyID = keyID
        fields.timestamp = timestamp
        fields.binding = binding
        fields.nonce = nonce
        fields.signature = signature
        return fields
    }

    /// The names of what was presented that the record says otherwise.
    fileprivate func differences(from entry: JSONObject) -> [String] {
        let texts = [
            ("bundleId", "bundle", bundleID?.text), ("productId", "product", productID?.text),
            (offerID?.name ?? "", "offer", offerID?.value.text), ("keyIdentifier", "kid", keyID?.text),
        ]
        let names = texts.compactMap { name, recorded, text in
            text.flatMap { entry[recorded]?.string(equals: $0) == true ? nil : name }
        }
        guard let timestamp, entry["ts"]?.integer != timestamp.milliseconds else { return names }
        return names + ["timestamp"]
    }
}
