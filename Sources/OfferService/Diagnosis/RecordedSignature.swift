// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
import Ledger
import OfferDomain
import SignatureDiagnosis
import TransparencyLog

/// A log entry about a signature that may be the reported one.
struct RecordedSignature: Sendable {
    let index: Int64
    let recordedAt: Timestamp?
    let bundleID: String?
    let productID: String?
    let offerID: String?
    let keyID: String?
    let nonce: String?
    let timestamp: Int64?
    let digest: String?
    let grantID: String?
    let isOriginal: Bool

    init?(_ found: (index: Int64, entry: [UInt8])) {
        guard let entry = (try? JSONDocument(found.entry))?.root.object else { return nil }
        index = found.index
        recordedAt = entry["t"]?.integer.map { Timestamp(milliseconds: $0) }
        bundleID = entry["bundle"]?.string
        productID = entry["product"]?.string
        offerID = entry["offer"]?.string
        keyID = entry["kid"]?.string
        nonce = entry["nonce"]?.string
        timestamp = entry["ts"]?.integer
        digest = entry["digest"]?.string
        grantID = entry["grant"]?.string
        isOriginal = entry["fmt"]?.string(equals: SignatureForm.v1.rawValue) == true
    }

    /// What a report that lacks something was about.
    var fields: OfferFields {
        var fields = OfferFields()
        fields.bundleID = bundleID
        fields.productID = productID
        fields.offerID = offerID
        fields.keyID = keyID
        fields.nonce = nonce
        fields.timestamp = timestamp.map { String($0) }
        return fields
    }
}

extension AuditSearch {
    /// The entries of signatures under one of the report's nonces, or of its grant.
    func signatures(of request: DiagnosisRequest) throws(AuditReadError) -> [RecordedSignature] {
        var found: [RecordedSignature] = []
        for nonce in request.report.nonces.compactMap({ UniqueID($0) }) {
            found += try signatures([.nonce: nonce.description])
        }
        if found.isEmpty, let grantID = request.grantID { found = try signatures([.grant: grantID.description]) }
        return found
    }

    private func signatures(_ fields: [AuditQuery.Field: String]) throws(AuditReadError) -> [RecordedSignature] {
        var fields = fields
        fields[.event] = AuditEventName.signIntent.rawValue
        return try first(16, fields).compactMap(RecordedSignature.init)
    }

    /// The entries of signatures that have the very timestamp of the report: the app may have attached another nonce.
    func signatures(at text: String?) throws(AuditReadError) -> [RecordedSignature] {
        guard let milliseconds = text.flatMap({ Int64($0) }),
            let instant = Timestamp(exactlyMilliseconds: milliseconds)
        else { return [] }
        let query = AuditQuery(
            from: instant.adding(minutes: -1),
            until: instant.adding(minutes: 1),
            fields: [.event: AuditEventName.signIntent.rawValue],
            limit: 4096
        )
        return try page(query).entries.compactMap(RecordedSignature.init).filter { $0.timestamp == milliseconds }
    }

    /// How many entries have that signature, which a retry makes more than one.
    func count(_ event: AuditEventName, digest: String) throws(AuditReadError) -> Int {
        try first(64, [.event: event.rawValue, .digest: digest]).count
    }
}
