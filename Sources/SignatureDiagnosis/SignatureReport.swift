// SPDX-License-Identifier: Apache-2.0
import JSON

/// What a refused offer looked like from outside: what the server answered, what the app attached, and what StoreKit said.
///
/// Values are kept as they were written, because how they were written is what a diagnosis is about.
package struct SignatureReport: Sendable {
    /// The fields that the app was given; what it attached instead is in ``attached``.
    package let received: OfferFields
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

    /// The most bytes that a report may have.
    package static let mostBytes = 64 * 1024

    /// Reads a report.
    ///
    /// - Throws: What is wrong with it, and what was expected.
    package init(json bytes: [UInt8]) throws(ReportError) {
        guard bytes.count <= Self.mostBytes else { throw ReportError("", "a report of at most 64 KiB") }
        let document: JSONDocument
        do { document = try JSONDocument(bytes) } catch { throw ReportError("", "JSON: \(error)") }
        guard let object = document.root.object else { throw ReportError("", "a JSON object") }
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

/// What StoreKit reported; codes below the first are recorded and never interpreted.
package struct ReportedError: Sendable, Hashable {
    package let domain: String
    package let code: Int64

    /// Reads `{domain, code, underlying}`, `{code}` or the name of a StoreKit 2 error, as `invalidOfferSignature`.
    init?(_ value: JSONValue, at pointer: String) throws(ReportError) {
        if value.isNull { return nil }
        if let name = value.string {
            (domain, code) = (name, Self.codes[name] ?? 0)
            return
        }
        guard let object = value.object else { throw ReportError(pointer, "an object with domain and code, or a name") }
        let name = object["domain"]?.string ?? object["name"]?.string ?? "SKErrorDomain"
        guard let code = object["code"]?.integer ?? Self.codes[name] else {
            throw ReportError("\(pointer)/code", "an integer")
        }
        (domain, self.code) = (name, code)
    }

    /// StoreKit 2's names, as the codes that StoreKit 1 has for the same.
    private static let codes: [String: Int64] = [
        "invalidOfferIdentifier": 11, "invalidOfferSignature": 12, "missingOfferParameters": 13,
        "invalidOfferPrice": 14,
        "ineligibleForOffer": 18, "userCancelled": 2,
    ]
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
