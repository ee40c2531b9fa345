// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import JSON
import Ledger
import OfferDomain
import Storage
import TransparencyLog

/// `POST /v1/audit/lookups`: whether a given signature or answer is on record, and verifies.
struct AuditLookupsCall: Sendable {
    let searches: LogSearches
    let unrecorded: UnrecordedSignatures

    /// Answers auditors and administrators; to others it would tell whether a guess is right.
    func respond(
        to request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request, at: now).requireReading()
        try request.requireJSON()
        let asked = try AuditLookupRequest(request.body)
        let trace = try await searches.read { [ring = snapshot.keyRing] connection, index throws(AuditReadError) in
            let search = try AuditSearch(connection: connection, format: index.format, tail: index.tail)
            var trace = try asked.trace(in: search)
            if case .absent(var absence) = trace {
                let signers = try KnownSigners(ring, search)
                absence.madeBy = try search.unrecordedMaker(of: asked.signatures(connection), signers)
                trace = .absent(absence)
            }
            return trace
        }
        let found: [FoundEntry] = if case .recorded(let entries) = trace { entries } else { [] }
        let reading = AuditQueryUse(caller: caller.id, call: .lookups, query: asked.query, count: found.count)
        await searches.note(reading)
        if case .absent(let absence) = trace {
            if let key = absence.madeBy { unrecorded.note(key) }
            throw .request(.noRecord(absence))
        }
        return Self.response(found, snapshot.keyRing)
    }

    private static func response(_ found: [FoundEntry], _ keyRing: KeyRing) -> Response {
        let entries = found.map { members(of: $0, keyRing) }
        let further = JSONTree.array(entries.dropFirst().map { .object($0) })
        return .json(.object((entries.first ?? []) + [("further", further)]))
    }

    private static func members(of found: FoundEntry, _ keyRing: KeyRing) -> [(name: String, value: JSONTree)] {
        let key = keyRing.keys.first { $0.id == found.signature?.keyID }?.privateKey?.publicKey
        var verifies = JSONTree.null
        if let key, let signature = found.signature {
            verifies = .boolean(key.verifies(signature.signature, of: signature.digest))
        }
        return [("index", .integer(found.index)), ("entry", .written(found.entry)), ("signatureVerifies", verifies)]
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

    /// Every signature that was sent, over all that it may have been made over.
    func signatures(_ connection: any DatabaseConnection) throws(AuditReadError) -> [PresentedSignature] {
        switch self {
        case .signature(let presented): return [presented]
        case .answers(let answers):
            var all: [PresentedSignature] = []
            for answer in answers { all += try answer.signatures(connection) }
            return all
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
            presented = Self.original(&reader)
        }
        reader.finish()
        guard mismatches.all.isEmpty, let presented else { throw .invalid(mismatches) }
        self = .signature(presented)
    }

    private static func original(_ reader: inout ObjectReader) -> PresentedSignature? {
        var fields = SignedFields()
        fields.bundleID = reader.required("bundleId", text: BundleID.init)
        fields.productID = reader.required("productId", text: ProductID.init)
        fields.offerID = reader.required("offerId", text: OfferID.init)
        fields.keyID = reader.required("keyIdentifier", text: KeyID.init)
        fields.nonce = reader.required("nonce", "a UUID, as 8-4-4-4-12 hexadecimal digits") { value in
            value.stringSlice.flatMap { UniqueID(utf8: $0) }
        }
        fields.timestamp = reader.required("timestamp", "milliseconds since 1970 UTC") { value in
            value.integer.flatMap(Timestamp.init(exactlyMilliseconds:))
        }
        fields.binding = PurchaseBinding(&reader, takesUsername: true)
        fields.signature = reader.required("signature", "the signature in base64") { value in
            value.stringBytes.flatMap(PresentedSignature.signature(base64:))
        }
        return PresentedSignature(fields)
    }
}
