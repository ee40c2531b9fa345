// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP
import JSON
import OfferDomain

/// `POST /v1/audit/lookups`: whether a signature or an answer that somebody has is on record, and verifies.
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
        let asked = try AuditLookupRequest(request.body)
        let trace = try await desk.search { search throws(AuditReadError) in try asked.trace(in: search) }
        let found: [FoundEntry] = if case .recorded(let entries) = trace { entries } else { [] }
        let reading = AuditReading(caller: caller.id, route: .auditLookups, query: asked.query, count: found.count)
        await desk.note(reading)
        if case .absent(let absence) = trace { throw .request(.noRecord(absence)) }
        return Self.response(found, snapshot.keyRing)
    }

    private static func response(_ found: [FoundEntry], _ keyRing: KeyRing) -> Response {
        var writer = JSONWriter(reserving: 1024 * found.count)
        writer.beginObject()
        if let first = found.first { write(first, keyRing, to: &writer) }
        writer.name("further")
        writer.beginArray()
        for entry in found.dropFirst() {
            writer.beginObject()
            write(entry, keyRing, to: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return .json(writer.bytes)
    }

    private static func write(_ found: FoundEntry, _ keyRing: KeyRing, to writer: inout JSONWriter) {
        writer.name("index")
        writer.integer(found.index)
        writer.name("entry")
        writer.value(json: found.entry)
        writer.name("signatureVerifies")
        let key = keyRing.keys.first { $0.id == found.signature?.keyID }?.privateKey?.publicKey
        if let key, let signature = found.signature {
            writer.boolean(key.verifies(signature.signature, of: signature.digest))
        } else {
            writer.null()
        }
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

/// What a caller of `POST /v1/audit/lookups` sends: a signature with all that it was made over, or an answer as it is.
enum AuditLookupRequest: Sendable {
    case signature(PresentedSignature)
    /// One, or those of a batch.
    case answers([PresentedAnswer])

    /// What is asked for, as it is recorded.
    var query: AuditQuery {
        switch self {
        case .signature(let presented):
            return AuditQuery(fields: [.nonce: presented.nonce, .digest: presented.digest.hex])
        case .answers(let answers):
            var query = AuditQuery()
            query.fields[.nonce] = answers.first?.nonce ?? answers.first?.jws?.nonce
            query.fields[.grant] = answers.first?.grantID
            return query
        }
    }

    /// The entries of everything that was sent, or why one of them is not there.
    func trace(in search: AuditSearch) throws(AuditReadError) -> AnswerTrace {
        switch self {
        case .signature(let presented):
            let trace = try search.trace(presented)
            guard case .recorded(let index, let entry) = trace else { return .absent(NoRecord(trace)) }
            return .recorded([FoundEntry(index: index, entry: entry, signature: presented)])
        case .answers(let answers):
            var found: [FoundEntry] = []
            for answer in answers {
                guard case .recorded(let entries) = try search.trace(answer) else { return try search.trace(answer) }
                found += entries
            }
            return .recorded(found)
        }
    }

    /// An answer of a batch has up to 32 grants with their findings.
    private static let limits = JSONLimits(maximumBytes: 65_536, maximumDepth: 12, maximumNodes: 8192)

    init(_ body: [UInt8]) throws(Refusal) {
        let document: JSONDocument
        do { document = try JSONDocument(body, limits: Self.limits) } catch { throw .request(.malformedJSON(error)) }
        let mismatches = Mismatches()
        if PresentedAnswer.isAnswer(document.root) {
            self = .answers(PresentedAnswer.all(in: document.root, into: mismatches))
            guard mismatches.all.isEmpty else { throw .invalid(mismatches) }
            return
        }
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
        self = .signature(presented)
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
