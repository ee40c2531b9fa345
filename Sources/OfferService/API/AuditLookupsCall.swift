// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP
import JSON
import OfferDomain

/// `POST /v1/audit/lookups`: whether a signature that somebody has is on record, and verifies.
struct AuditLookupsCall: Sendable {
    let desk: AuditDesk

    /// Answers auditors and administrators; to others it would tell whether a guess is right.
    func respond(
        to request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request.headers, at: now).requireReading()
        try request.requireJSON()
        let presented = try AuditLookupRequest(request.body).presented
        let trace = try await desk.search { search throws(AuditReadError) in try search.trace(presented) }
        var count = 0
        if case .recorded = trace { count = 1 }
        let query = AuditQuery(fields: [.nonce: presented.nonce, .digest: presented.digest.hex])
        await desk.note(AuditReading(caller: caller.id, route: .auditLookups, query: query, count: count))
        guard case .recorded(let index, let entry) = trace else { throw .request(.noRecord(NoRecord(trace))) }
        let key = snapshot.keyRing.keys.first { $0.id == presented.keyID }?.privateKey?.publicKey
        return Self.response(index, entry, key?.verifies(presented.signature, of: presented.digest))
    }

    private static func response(_ index: Int64, _ entry: [UInt8], _ verifies: Bool?) -> Response {
        var writer = JSONWriter(reserving: entry.count + 96)
        writer.beginObject()
        writer.name("index")
        writer.integer(index)
        writer.name("entry")
        writer.value(json: entry)
        writer.name("signatureVerifies")
        if let verifies { writer.boolean(verifies) } else { writer.null() }
        writer.endObject()
        return .json(writer.bytes)
    }
}

/// Why a signature is not on record, as far as can be told.
package struct NoRecord: Sendable {
    /// The entry that has the nonce, and which of the members sent it has otherwise.
    package let near: (index: Int64, differences: [String])?

    package init(_ trace: SignatureTrace) {
        if case .sameNonce(let index, let differences) = trace { near = (index, differences) } else { near = nil }
    }

    /// A sentence for the one who looks.
    package var description: String {
        guard let near else {
            return
                "No entry has this digest or this nonce: either it was not signed by this service, or a field differs."
        }
        if near.differences.isEmpty {
            return "Entry \(near.index) has the nonce and every other field that records hold. So appAccountToken or "
                + "applicationUsername (of a JWS, another claim) differs from what was signed; records don't hold it."
        }
        return "Entry \(near.index) has the nonce, and differs in \(near.differences.joined(separator: ", "))."
    }
}

/// What a caller of `POST /v1/audit/lookups` sends.
struct AuditLookupRequest: Sendable {
    let presented: PresentedSignature

    init(_ body: [UInt8]) throws(Refusal) {
        let document: JSONDocument
        do { document = try JSONDocument(body) } catch { throw .request(.malformedJSON(error)) }
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        let presented: PresentedSignature?
        if reader.member("jws") != nil {
            presented = reader.required("jws", "a compact JWS for the App Store, signed with ES256") { value in
                value.stringBytes.flatMap(PresentedSignature.init(jws:))
            }
        } else {
            presented = try Self.original(&reader)
        }
        reader.finish()
        guard mismatches.all.isEmpty, let presented else { throw .invalid(mismatches) }
        self.presented = presented
    }

    private static func original(_ reader: inout ObjectReader) throws(Refusal) -> PresentedSignature? {
        let bundleID = reader.required("bundleId", text: BundleID.init)
        let productID = reader.required("productId", text: ProductID.init)
        let offerID = reader.required("offerId", text: OfferID.init)
        let keyID = reader.required("keyIdentifier", text: KeyID.init)
        let nonce = reader.required("nonce", "a UUID, as 8-4-4-4-12 hexadecimal digits") { value in
            value.stringSlice.flatMap { UniqueID(utf8: $0) }
        }
        let timestamp = reader.required("timestamp", "milliseconds since 1970 UTC") { value in
            value.integer.flatMap(Timestamp.init(exactlyMilliseconds:))
        }
        let binding = SignatureRequest.readBinding(&reader, .promotionalOffer)
        let signature = reader.required("signature", "the signature in base64") { value in
            value.stringBytes.flatMap(PresentedSignature.signature(base64:))
        }
        guard let bundleID, let productID, let offerID, let keyID, let nonce, let timestamp, let signature else {
            return nil
        }
        let payload = PromotionalOfferPayload(
            bundleID: bundleID,
            keyID: keyID,
            productID: productID,
            offerID: offerID,
            binding: binding,
            nonce: nonce,
            timestamp: timestamp
        )
        do { return try PresentedSignature(payload, signature) } catch { return nil }
    }
}
