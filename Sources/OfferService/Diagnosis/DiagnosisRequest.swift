// SPDX-License-Identifier: Apache-2.0
import JSON
import Ledger
import OfferDomain
import SignatureDiagnosis

/// What a caller of `POST /v1/diagnoses` sends: what the app received and attached, what StoreKit said, and what came of it.
struct DiagnosisRequest: Sendable {
    let report: SignatureReport
    /// Of an answer of the service as it is.
    let grantID: UniqueID?
    /// Whether the store is to be asked, too, and about which transaction.
    let asksStore: Bool
    let transactionID: TransactionID?

    /// A signed transaction has its certificates with it.
    private static let limits = JSONLimits(
        maximumBytes: 65_536,
        maximumDepth: 12,
        maximumNodes: 2048,
        maximumStringBytes: 32_768
    )

    init(_ body: [UInt8]) throws(Refusal) {
        let document: JSONDocument
        do { document = try JSONDocument(body, limits: Self.limits) } catch { throw .request(.malformedJSON(error)) }
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        // Read as they are written, by the report itself.
        for name in Self.reportMembers + Self.answerMembers { _ = reader.member(name) }
        Self.readInner(reader.member("attached"), members: Self.fieldMembers, into: mismatches)
        if let error = reader.member("error"), error.kind == .object {
            Self.readInner(error, members: ["domain", "code", "name", "underlying"], into: mismatches)
        }
        _ = reader.member("client").map { ReportedClient($0, into: mismatches) }
        grantID = reader.optional("grantId", "a UUID, as 8-4-4-4-12 hexadecimal digits") { value in
            value.stringSlice.flatMap { UniqueID(utf8: $0) }
        }
        asksStore = reader.optional("askStore", "true or false") { $0.bool } ?? false
        transactionID = reader.optional("transactionId", text: TransactionID.init)
        reader.finish()
        let report: SignatureReport?
        do throws(ReportError) {
            report = try SignatureReport(document.root)
        } catch {
            report = nil
            Self.add(error, of: document.root, to: mismatches)
        }
        guard mismatches.all.isEmpty, let report else { throw .invalid(mismatches) }
        self.report = report
    }

    private static let fieldMembers: [StaticString] = [
        "bundleId", "keyIdentifier", "keyId", "productId", "offerId", "identifier", "offerIdentifier",
        "appAccountToken", "applicationUsername", "nonce", "timestamp",
    ]

    private static let reportMembers =
        fieldMembers + [
            "signature", "jws", "signatureJws", "customerId", "anonymousId", "error", "signedTransaction",
            "attemptedAt",
        ]

    /// Those of an answer of the service that say nothing of a signature.
    private static let answerMembers: [StaticString] = ["decision", "expiresAt"]

    private static func readInner(_ value: JSONValue?, members names: [StaticString], into mismatches: Mismatches) {
        guard let value else { return }
        var reader = ObjectReader(value, into: mismatches)
        for name in names { _ = reader.member(name) }
        reader.finish()
    }

    private static func add(_ error: ReportError, of root: JSONValue, to mismatches: Mismatches) {
        guard !mismatches.all.contains(where: { $0.pointer == error.pointer }) else { return }
        let isMissing =
            root.object?[String(error.pointer.dropFirst())].map(\.isNull) ?? (error.pointer.count { $0 == "/" } == 1)
        mismatches.add(
            Mismatch(
                pointer: error.pointer,
                offset: 0,
                message: "\(isMissing ? "is missing; " : "")expected \(error.expected)"
            )
        )
    }
}
