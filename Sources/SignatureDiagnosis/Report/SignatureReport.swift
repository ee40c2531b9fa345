// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import JSON

/// What a refused offer looked like from outside: what the server answered, what the app attached, and what StoreKit said.
///
/// Values are kept as they were written, because how they were written is what a diagnosis is about.
package struct SignatureReport: Sendable {
    /// The fields that the app was given; what it attached instead is in ``attached``.
    package private(set) var received: OfferFields
    /// The fields that differ on the device, as the app handed them to StoreKit.
    package let attached: OfferFields
    /// The text of the original signature.
    package let signature: String?
    /// A compact JWS.
    package let jws: String?
    /// Further names that may have been signed instead of the account token.
    package let customerNames: [String]
    /// What StoreKit reported; nil if the report has no error.
    package let error: ReportedError?
    /// The compact JWS of the transaction that came of the purchase.
    package let signedTransaction: String?
    /// When the app asked to buy, in milliseconds since 1970.
    package let attemptedAtMilliseconds: Int64?

    /// What is wrong with the names of its members; each a sentence.
    package let hints: [String]

    /// Whether it has what an original signature is made over; an answer of the service with both forms may lack some of it.
    var hasSignedFields: Bool { effective.unknown.isEmpty }

    /// Whether it neither names an account nor says that none was attached: most signatures are made for one.
    var namesNoAccount: Bool {
        let fields = effective
        return fields[.account] == nil
            && fields.nothing.isDisjoint(with: ["appAccountToken", "applicationUsername"])
    }

    /// The fields as the App Store saw them.
    package var effective: OfferFields { attached.filled(from: received) }

    /// The app that was signed for, as what was received or the claims of the JWS name it; `nil` if neither does.
    package var signedBundleID: String? {
        received.bundleID ?? jws.flatMap(CompactJSON.claims)?["bid"]?.string
    }

    /// The app that the report is about.
    ///
    /// What the app attached comes last: another bundle id may be what is wrong.
    package var bundleID: String? { signedBundleID ?? attached.bundleID }

    /// The SHA-256 of the signature in DER, however it is written; the original form comes before the JWS.
    package var signatureDigest: SHA256Digest? {
        if let signature = signature.flatMap({ SignatureText($0)?.signature }) {
            return SHA256.digest(of: signature.der)
        }
        guard let last = jws?.split(separator: ".").last, let bytes = Base64.decodeURL(Array(last.utf8)),
            let signature = ECDSASignature(rawRS: bytes) ?? ECDSASignature(der: bytes)
        else { return nil }
        return SHA256.digest(of: signature.der)
    }

    /// Every nonce that may have been signed: the received one, the attached one, and the one in the JWS.
    package var nonces: [String] {
        [received.nonce, attached.nonce, jws.flatMap(CompactJSON.claims)?["nonce"]?.string].compactMap(\.self)
    }

    /// The ids of the reported purchase; nothing of it is verified.
    package var transaction: (id: String?, original: String?, environment: String?)? {
        signedTransaction.flatMap(CompactJSON.claims).map { claims in
            (
                claims["transactionId"]?.string, claims["originalTransactionId"]?.string,
                claims["environment"]?.string
            )
        }
    }

    /// Fills in what the report lacks of what was received, as a record has it.
    package mutating func fill(from recorded: OfferFields) { received = received.filled(from: recorded) }

    /// The most bytes that a report may have.
    package static let mostBytes = 64 * 1024

    /// A text may be as long as the report: a signed transaction has its certificates with it.
    static let limits = JSONLimits(
        maximumBytes: mostBytes,
        maximumDepth: 12,
        maximumNodes: 2048,
        maximumStringBytes: mostBytes
    )

    /// Reads a report.
    ///
    /// - Throws: What is wrong with it, and what was expected.
    package init(json bytes: [UInt8]) throws(ReportError) {
        guard bytes.count <= Self.mostBytes else { throw ReportError("", "a report of at most 64 KiB") }
        let document: JSONDocument
        do { document = try JSONDocument(bytes, limits: Self.limits) } catch { throw ReportError("", "JSON: \(error)") }
        try self.init(document.root)
    }

    /// Reads a report out of a text that has more.
    ///
    /// - Throws: What is wrong with it, and what was expected.
    package init(_ root: JSONValue) throws(ReportError) {
        guard let object = root.object else { throw ReportError("", "a JSON object") }
        let reader = ReportReader(object)
        received = try reader.fields(at: "")
        var hints = reader.hints(at: "", among: ReportReader.names)
        if let inner = object["attached"], !inner.isNull {
            guard let inner = inner.object else { throw ReportError("/attached", "an object") }
            attached = try ReportReader(inner).fields(at: "/attached", isAttached: true)
            hints += ReportReader(inner).hints(at: "/attached", among: ReportReader.fieldNames)
        } else {
            attached = OfferFields()
        }
        self.hints = hints
        try reader.checkClient()
        signature = try reader.text("signature", atMost: Self.mostBytes)
        let compact = try reader.text("jws", "signatureJws", atMost: Self.mostBytes)
        let isTransaction = compact.map(CompactJSON.isTransaction) ?? false
        jws = isTransaction ? nil : compact
        customerNames = [
            try reader.text("customerId", atMost: ReportReader.mostNameBytes),
            try reader.text("anonymousId", atMost: ReportReader.mostNameBytes),
        ].compactMap(\.self)
            .filter { !$0.isEmpty }
        error = if let value = object["error"] { try ReportedError(value, at: "/error") } else { nil }
        signedTransaction =
            try reader.text("signedTransaction", atMost: Self.mostBytes) ?? (isTransaction ? compact : nil)
        attemptedAtMilliseconds = try reader.instant("attemptedAt")
        guard signature != nil || !isTransaction else {
            throw ReportError("/jws", "the JWS of an offer; this is a purchase's, which belongs in signedTransaction")
        }
        guard signature != nil || jws != nil else {
            throw ReportError("/signature", "the text of the signature, or its compact form in /jws")
        }
    }
}

/// What is wrong with a report.
package struct ReportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// RFC 6901; empty of the report as a whole.
    package let pointer: String
    /// What should be there, as the end of a sentence.
    package let expected: String

    init(_ pointer: String, _ expected: String) {
        (self.pointer, self.expected) = (pointer, expected)
    }

    /// The pointer and what is expected there; never the value that was found.
    package var description: String {
        pointer.isEmpty ? "The report: expected \(expected)" : "\(pointer): expected \(expected)"
    }
}
