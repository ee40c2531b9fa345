// SPDX-License-Identifier: Apache-2.0
package import Cryptography
import JSON
import Ledger
package import OfferDomain
package import TransparencyLog

/// A signature as an app has it, with what it was made over.
package struct PresentedSignature: Sendable {
    /// What was signed, digested: what a record names.
    package let digest: SHA256Digest
    /// The signature itself; a record need not have it, because it names the digest.
    package let signature: ECDSASignature
    /// The key that is said to have made it.
    package let keyID: KeyID
    /// In lowercase, as records have it.
    package let nonce: String
    let form: SignatureForm
    /// What was sent, by its name in the request and in a record; those that a record has of them.
    let members: [(name: String, recordedAs: String, value: Value)]

    enum Value: Hashable, Sendable {
        case text(String)
        case milliseconds(Int64)
        case seconds(Int64)
    }

    /// The original form: what the app received and attached.
    package init(_ payload: PromotionalOfferPayload, _ signature: ECDSASignature) throws(PayloadError) {
        digest = SHA256.digest(of: try payload.bytes())
        self.signature = signature
        keyID = payload.keyID
        nonce = payload.nonce.description
        form = .v1
        members = [
            ("bundleId", "bundle", .text(payload.offer.bundleID.text)),
            ("productId", "product", .text(payload.offer.productID.text)),
            ("offerId", "offer", .text(payload.offer.offerID.text)),
            ("keyIdentifier", "kid", .text(payload.keyID.text)),
            ("timestamp", "ts", .milliseconds(payload.timestamp.milliseconds)),
        ]
    }

    /// The original form out of what is known of it; `nil` if something lacks, or can't be signed.
    package init?(_ fields: SignedFields) {
        guard let bundleID = fields.bundleID, let productID = fields.productID, let offerID = fields.offerID,
            let keyID = fields.keyID, let nonce = fields.nonce, let timestamp = fields.timestamp,
            let signature = fields.signature
        else { return nil }
        let payload = PromotionalOfferPayload(
            offer: AppStoreOfferKey(bundleID: bundleID, productID: productID, offerID: offerID),
            keyID: keyID,
            binding: fields.binding,
            nonce: nonce,
            timestamp: timestamp
        )
        do { try self.init(payload, signature) } catch { return nil }
    }

    /// A compact JWS (RFC 7515 section 7.1) as this service makes them; nil for anything else.
    package init?(jws: [UInt8]) {
        let parts = jws.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard jws.count <= 8192, parts.count == 3, let header = Self.object(parts[0]),
            let claims = Self.object(parts[1]),
            let keyID = header["kid"]?.string.flatMap({ try? KeyID($0) }),
            let nonce = claims["nonce"]?.string.flatMap({ UniqueID($0) }),
            let signature = Base64.decodeURL(Array(parts[2])).flatMap(ECDSASignature.init(rawRS:))
        else { return nil }
        digest = SHA256.digest(of: jws[..<parts[1].endIndex])
        self.signature = signature
        self.keyID = keyID
        self.nonce = nonce.description
        form = .jws
        let texts = [("bid", "bundle"), ("productId", "product"), ("offerIdentifier", "offer")]
        members =
            texts.compactMap { name, recorded in claims[name]?.string.map { (name, recorded, .text($0)) } }
            + [("kid", "kid", .text(keyID.text))]
            + (claims["iat"]?.integer.map { [("iat", "ts", .seconds($0))] } ?? [])
    }

    /// A signature in Base64, as DER or as r and s side by side; one in Base64 twice is unwrapped, and either alphabet and
    /// missing padding are taken: which signature it is stays certain.
    package static func signature(base64 text: [UInt8]) -> ECDSASignature? {
        var next = SignatureText.decoded(text)
        for _ in 0..<2 {
            guard let bytes = next else { return nil }
            if let signature = ECDSASignature(der: bytes) ?? (bytes.count == 64 ? ECDSASignature(rawRS: bytes) : nil) {
                return signature
            }
            next = SignatureText.decoded(bytes)
        }
        return nil
    }

    private enum SignatureText {
        static func decoded(_ text: [UInt8]) -> [UInt8]? {
            let digits = text.filter { ![0x3D, 0x0A, 0x0D, 0x20].contains($0) }
            return Base64.decodeURL(digits.map { $0 == 0x2B ? 0x2D : $0 == 0x2F ? 0x5F : $0 })
        }
    }

    private static func object(_ part: ArraySlice<UInt8>) -> JSONObject? {
        guard let bytes = Base64.decodeURL(Array(part)) else { return nil }
        return (try? JSONDocument(bytes))?.root.object
    }

    /// The names of what was sent that a record says otherwise.
    func differences(from entry: JSONObject) -> [String] {
        members.filter { member in
            guard let recorded = entry[member.recordedAs] else { return true }
            return switch member.value {
            case .text(let text): !recorded.string(equals: text)
            case .milliseconds(let time): recorded.integer != time
            case .seconds(let time): recorded.integer.map { Timestamp(milliseconds: $0).seconds } != time
            }
        }.map(\.name)
    }
}

/// What an app received and attached with an original signature, as far as it is known.
package struct SignedFields: Sendable {
    /// The app whose ID is part of what was signed.
    package var bundleID: BundleID?
    /// Apple's `keyIdentifier`.
    package var keyID: KeyID?
    /// Apple's `productIdentifier`.
    package var productID: ProductID?
    /// Apple's `offerIdentifier`.
    package var offerID: OfferID?
    /// Apple's `appAccountToken`, or the `applicationUsername` of original StoreKit, or neither.
    package var binding = PurchaseBinding.none
    /// Apple's `nonce`.
    package var nonce: UniqueID?
    /// Apple's `timestamp`.
    package var timestamp: Timestamp?
    /// The signature that the app received.
    package var signature: ECDSASignature?

    /// Nothing is known yet.
    package init() {}
}

/// What the log has of a signature.
package enum SignatureTrace: Sendable {
    /// It is on record; of several entries, the first.
    case recorded(index: Int64, entry: [UInt8])
    /// Not it, but another one of the same nonce; what was sent is on record otherwise in these members.
    case sameNonce(index: Int64, differences: [String])
    case none
}

extension AuditSearch {
    /// Looks for the record of a signature.
    package func trace(_ presented: PresentedSignature) throws(AuditReadError) -> SignatureTrace {
        if let found = try first(1, [.event: "sign.intent", .digest: presented.digest.hex]).first {
            return .recorded(index: found.index, entry: found.entry)
        }
        var closest: (index: Int64, differences: [String])?
        for found in try first(16, [.event: "sign.intent", .nonce: presented.nonce]) {
            guard let entry = (try? JSONDocument(found.entry))?.root.object,
                entry["fmt"]?.string(equals: presented.form.rawValue) == true
            else { continue }
            let differences = presented.differences(from: entry)
            if differences.count < closest?.differences.count ?? .max { closest = (found.index, differences) }
        }
        return closest.map { .sameNonce(index: $0.index, differences: $0.differences) } ?? .none
    }

    /// The first entries that match, at least one if there is any, however many pages it takes.
    func first(
        _ count: Int,
        _ fields: [AuditQuery.Field: String]
    ) throws(AuditReadError) -> [(index: Int64, entry: [UInt8])] {
        let query = AuditQuery(fields: fields, limit: count)
        var position: Int64?
        repeat {
            let page = try page(query, from: position)
            if !page.entries.isEmpty { return page.entries }
            position = page.next
        } while position != nil
        return []
    }
}

extension NoRecord {
    /// What came of a search without a record.
    package init(_ trace: SignatureTrace, madeBy: KeyID? = nil) {
        if case .sameNonce(let index, let differences) = trace {
            self.init(near: (index, differences), madeBy: madeBy)
        } else {
            self.init(near: nil, madeBy: madeBy)
        }
    }
}
