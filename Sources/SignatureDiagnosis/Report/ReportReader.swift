// SPDX-License-Identifier: Apache-2.0
import JSON

/// Reads the members of a report as they are written.
struct ReportReader {
    private let object: JSONObject

    init(_ object: JSONObject) { self.object = object }

    /// The most bytes of an identifier: each goes into thousands of payloads.
    static let mostIdentifierBytes = 256
    /// The most bytes of a customer's name.
    static let mostNameBytes = 1024

    /// The first of the members that is there.
    func text(
        _ names: String...,
        at base: String = "",
        atMost most: Int = mostIdentifierBytes
    ) throws(ReportError) -> String? {
        for name in names {
            guard let value = object[name], !value.isNull else { continue }
            guard let text = value.string, text.utf8.count <= most else {
                let size = most < 4096 ? "\(most) bytes" : "\(most / 1024) KiB"
                throw ReportError("\(base)/\(name)", "a text of at most \(size)")
            }
            return text
        }
        return nil
    }

    func fields(at base: String, isAttached: Bool = false) throws(ReportError) -> OfferFields {
        var fields = OfferFields()
        fields.bundleID = try text("bundleId", at: base)
        fields.keyID = try text("keyIdentifier", "keyId", at: base)
        fields.productID = try text("productId", at: base)
        fields.offerID = try text("offerId", "identifier", "offerIdentifier", at: base)
        fields.appAccountToken = try text("appAccountToken", at: base, atMost: Self.mostNameBytes)
        fields.applicationUsername = try text("applicationUsername", at: base, atMost: Self.mostNameBytes)
        fields.nonce = try text("nonce", at: base)
        fields.timestamp = try numeral("timestamp", at: base)
        fields.isTimestampText = object["timestamp"]?.string != nil
        for (name, aliases) in Self.aliases where Self.isNothing(object[name], isAttached) {
            if !aliases.contains(where: { object[$0].map { !$0.isNull } ?? false }) { fields.nothing.insert(name) }
        }
        for (name, aliases) in Self.aliases where aliases.contains(where: { Self.isNothing(object[$0], isAttached) }) {
            if object[name] == nil { fields.nothing.insert(name) }
        }
        fields.forgetEmpty()
        return fields
    }

    /// The members of the payload, with the other names that they have.
    private static let aliases: [(String, [String])] = [
        ("bundleId", []), ("keyIdentifier", ["keyId"]), ("productId", []),
        ("offerId", ["identifier", "offerIdentifier"]), ("appAccountToken", []), ("applicationUsername", []),
        ("nonce", []), ("timestamp", []),
    ]

    /// Whether a member says that there is nothing.
    ///
    /// What the app was given is not known where it is `null`.
    private static func isNothing(_ value: JSONValue?, _ isAttached: Bool) -> Bool {
        guard let value else { return false }
        return value.isNull ? isAttached : value.string?.isEmpty == true
    }

    static let fieldNames = aliases.flatMap { [$0.0] + $0.1 }

    static let names =
        fieldNames + [
            "attached", "signature", "jws", "signatureJws", "customerId", "anonymousId", "error", "signedTransaction",
            "attemptedAt", "client", "grantId", "decision", "expiresAt", "askStore", "transactionId",
        ]

    /// A sentence for each of the first members that nothing reads; with the name that was meant, if one is near.
    func hints(at base: String, among names: [String]) -> [String] {
        let hints: [String] = object.compactMap { member in
            let name = member.name
            guard !names.contains(name) else { return nil }
            let near = Self.others[name.lowercased()] ?? nearest(to: name, among: names)
            return "\(base)/\(name): unknown" + (near.map { "; did you mean \($0)?" } ?? ", not read")
        }
        return Array(hints.prefix(8))
    }

    /// What other libraries call the members, in lower case.
    private static let others = [
        "kid": "keyIdentifier", "keyid": "keyIdentifier", "sku": "productId", "productidentifier": "productId",
        "bundleidentifier": "bundleId",
        "bid": "bundleId", "username": "applicationUsername", "token": "appAccountToken", "uuid": "nonce",
        "transaction": "signedTransaction",
    ]

    /// A number as it is written, or a text that should have been one.
    private func numeral(_ name: String, at base: String) throws(ReportError) -> String? {
        guard let value = object[name], !value.isNull else { return nil }
        if let text = value.string, text.utf8.count <= 64 { return text }
        guard value.kind == .number, value.text.count <= 64 else {
            throw ReportError("\(base)/\(name)", "a number")
        }
        return String(decoding: value.text, as: UTF8.self)
    }

    /// Sees that `client` is what it should be; nothing is concluded from it.
    func checkClient() throws(ReportError) {
        guard let value = object["client"], !value.isNull else { return }
        guard let client = value.object else {
            throw ReportError("/client", "an object with library, version, os and storeKit")
        }
        for name in ["library", "version", "os"] {
            guard let member = client[name], !member.isNull else { continue }
            guard let text = member.string, (1...64).contains(text.utf8.count),
                text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
            else { throw ReportError("/client/\(name)", "1 to 64 printable ASCII characters") }
        }
        guard let version = client["storeKit"], !version.isNull else { return }
        guard [1, 2].contains(version.integer) else { throw ReportError("/client/storeKit", "1 or 2") }
    }

    /// Milliseconds since 1970, out of these or of seconds.
    func instant(_ name: String) throws(ReportError) -> Int64? {
        guard let value = object[name], !value.isNull else { return nil }
        guard let number = value.integer, (0...Self.latest).contains(number) else {
            throw ReportError("/\(name)", "milliseconds since 1970, an integer of 0 to 10000000000000000")
        }
        return number < 100_000_000_000 ? number * 1000 : number
    }

    /// So far off that nothing computed of it overflows.
    private static let latest: Int64 = 10_000_000_000_000_000
}

extension OfferFields {
    /// An empty text is nothing, and not a value.
    fileprivate mutating func forgetEmpty() {
        func value(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
        bundleID = value(bundleID)
        keyID = value(keyID)
        productID = value(productID)
        offerID = value(offerID)
        appAccountToken = value(appAccountToken)
        applicationUsername = value(applicationUsername)
        nonce = value(nonce)
        timestamp = value(timestamp)
    }
}
