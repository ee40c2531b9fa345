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
    package let error: ReportedError?
    /// The compact JWS of the transaction that came of the purchase.
    package let signedTransaction: String?
    /// When the app asked to buy, in milliseconds since 1970.
    package let attemptedAtMilliseconds: Int64?

    /// Whether it has what an original signature is made over; an answer of the service with both forms may lack some of it.
    var hasSignedFields: Bool {
        let fields = effective
        return ![fields.bundleID, fields.keyID, fields.productID, fields.offerID, fields.nonce, fields.timestamp]
            .contains(nil)
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

    /// The SHA-256 of the signature in DER, however it is written; of both forms, that of the original one.
    package var signatureDigest: SHA256Digest? {
        if let signature = signature.flatMap({ SignatureText($0)?.signature }) {
            return SHA256.digest(of: signature.der)
        }
        guard let last = jws?.split(separator: ".").last, let bytes = Base64.decodeURL(Array(last.utf8)),
            let signature = ECDSASignature(rawRS: bytes) ?? ECDSASignature(der: bytes)
        else { return nil }
        return SHA256.digest(of: signature.der)
    }

    /// Every nonce that may have been signed: the received one, the attached one, and that of the JWS.
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

    /// Reads a report.
    ///
    /// - Throws: What is wrong with it, and what was expected.
    package init(json bytes: [UInt8]) throws(ReportError) {
        guard bytes.count <= Self.mostBytes else { throw ReportError("", "a report of at most 64 KiB") }
        let document: JSONDocument
        do { document = try JSONDocument(bytes) } catch { throw ReportError("", "JSON: \(error)") }
        try self.init(document.root)
    }

    /// Reads a report out of a text that has more.
    ///
    /// - Throws: What is wrong with it, and what was expected.
    package init(_ root: JSONValue) throws(ReportError) {
        guard let object = root.object else { throw ReportError("", "a JSON object") }
        let reader = ReportReader(object)
        received = try reader.fields(at: "")
        if let inner = object["attached"], !inner.isNull {
            guard let inner = inner.object else { throw ReportError("/attached", "an object") }
            attached = try ReportReader(inner).fields(at: "/attached")
        } else {
            attached = OfferFields()
        }
        signature = try reader.text("signature")
        jws = try reader.text("jws", or: "signatureJws")
        customerNames = [try reader.text("customerId"), try reader.text("anonymousId")].compactMap(\.self)
        error = if let value = object["error"] { try ReportedError(value, at: "/error") } else { nil }
        signedTransaction = try reader.text("signedTransaction")
        attemptedAtMilliseconds = try reader.milliseconds("attemptedAt")
        guard signature != nil || jws != nil else {
            throw ReportError("/signature", "the text of the signature, or its compact form in /jws")
        }
    }
}

/// What a signature names; each as it was written.
package struct OfferFields: Sendable, Hashable {
    package var bundleID: String?
    package var keyID: String?
    package var productID: String?
    package var offerID: String?
    package var appAccountToken: String?
    package var applicationUsername: String?
    package var nonce: String?
    /// A number as it was written, also one that is no integer.
    package var timestamp: String?

    package init() {}

    func filled(from other: OfferFields) -> OfferFields {
        var fields = self
        fields.bundleID = bundleID ?? other.bundleID
        fields.keyID = keyID ?? other.keyID
        fields.productID = productID ?? other.productID
        fields.offerID = offerID ?? other.offerID
        if appAccountToken == nil, applicationUsername == nil {
            fields.appAccountToken = other.appAccountToken
            fields.applicationUsername = other.applicationUsername
        }
        fields.nonce = nonce ?? other.nonce
        fields.timestamp = timestamp ?? other.timestamp
        return fields
    }
}

/// What is wrong with a report.
package struct ReportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// RFC 6901; empty of the report as a whole.
    package let pointer: String
    package let expected: String

    init(_ pointer: String, _ expected: String) {
        (self.pointer, self.expected) = (pointer, expected)
    }

    package var description: String {
        pointer.isEmpty ? "The report: expected \(expected)" : "\(pointer): expected \(expected)"
    }
}

/// Reads the members of a report as they are written.
struct ReportReader {
    private let object: JSONObject

    init(_ object: JSONObject) { self.object = object }

    func text(_ name: String, at base: String = "") throws(ReportError) -> String? {
        guard let value = object[name], !value.isNull else { return nil }
        guard let text = value.string, text.utf8.count <= 16 * 1024 else {
            throw ReportError("\(base)/\(name)", "a text of at most 16 KiB")
        }
        return text
    }

    /// The first member of the two that is there.
    func text(_ name: String, or other: String, at base: String = "") throws(ReportError) -> String? {
        if let text = try text(name, at: base) { return text }
        return try text(other, at: base)
    }

    func fields(at base: String) throws(ReportError) -> OfferFields {
        var fields = OfferFields()
        fields.bundleID = try text("bundleId", at: base)
        fields.keyID = try text("keyIdentifier", or: "keyId", at: base)
        fields.productID = try text("productId", at: base)
        fields.offerID = try text("offerId", or: "identifier", at: base)
        fields.appAccountToken = try text("appAccountToken", at: base)
        fields.applicationUsername = try text("applicationUsername", at: base)
        fields.nonce = try text("nonce", at: base)
        fields.timestamp = try numeral("timestamp", at: base)
        return fields
    }

    /// A number as it is written, or a text that should have been one.
    private func numeral(_ name: String, at base: String) throws(ReportError) -> String? {
        guard let value = object[name], !value.isNull else { return nil }
        if let text = value.string, text.utf8.count <= 64 { return text }
        guard value.kind == .number, value.text.count <= 64 else {
            throw ReportError("\(base)/\(name)", "a number")
        }
        return String(decoding: value.text, as: UTF8.self)
    }

    func milliseconds(_ name: String) throws(ReportError) -> Int64? {
        guard let value = object[name], !value.isNull else { return nil }
        guard let number = value.integer else { throw ReportError("/\(name)", "milliseconds since 1970, an integer") }
        return number
    }
}
