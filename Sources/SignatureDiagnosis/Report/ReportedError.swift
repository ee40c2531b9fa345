// SPDX-License-Identifier: Apache-2.0
import JSON

/// What StoreKit reported; underlying errors are recorded and never interpreted.
///
/// Source: Apple, [SKError.Code](https://developer.apple.com/documentation/storekit/skerror/code) and
/// [Product.PurchaseError](https://developer.apple.com/documentation/storekit/product/purchaseerror).
package struct ReportedError: Sendable, Hashable {
    /// One error of the chain.
    package struct Level: Sendable, Hashable {
        /// As `SKErrorDomain`, or the name of a StoreKit 2 error.
        package let domain: String
        /// The number within the domain; 0 of a name without one.
        package let code: Int64
    }

    /// The reported error, then what lies under it; at most four.
    package let chain: [Level]
    /// The code of `SKErrorDomain` that it is, by its domain or by the name of StoreKit 2; `nil` of everything else.
    package let storeKitCode: Int64?

    private static let mostLevels = 4

    /// Reads `{domain, code, name, underlying}`, `{code}` or the name of a StoreKit 2 error, as `invalidOfferSignature`.
    init?(_ value: JSONValue, at pointer: String) throws(ReportError) {
        if value.isNull { return nil }
        if let name = value.string {
            guard Self.isName(name) else { throw ReportError(pointer, Self.expectedName) }
            storeKitCode = Self.code(named: name)
            chain = [Level(domain: name, code: storeKitCode ?? 0)]
            return
        }
        guard let object = value.object else { throw ReportError(pointer, "an object with domain and code, or a name") }
        let name = try Self.name("name", of: object, at: pointer)
        let domain = try Self.name("domain", of: object, at: pointer)
        let named = name.flatMap(Self.code) ?? domain.flatMap(Self.code)
        let code = object["code"].flatMap { $0.isNull ? nil : $0 }
        guard let code = code == nil ? named ?? (name == nil ? nil : 0) : code?.integer else {
            throw ReportError("\(pointer)/code", "an integer")
        }
        storeKitCode = named ?? ((domain ?? (name == nil ? Self.domain : "")) == Self.domain ? code : nil)
        let first = Level(domain: domain ?? name ?? Self.domain, code: code)
        chain = [first] + (try Self.underlying(object, at: pointer))
    }

    private static func underlying(
        _ object: JSONObject,
        at pointer: String
    ) throws(ReportError) -> [Level] {
        guard let value = object["underlying"], !value.isNull else { return [] }
        let list = "\(pointer)/underlying"
        if value.object != nil { return try nested(value, at: list) }
        guard let array = value.array, array.count < mostLevels else {
            throw ReportError(list, "an array of at most \(mostLevels - 1) objects with domain and code")
        }
        var levels: [Level] = []
        for (place, element) in array.enumerated() {
            levels.append(try level(element, at: "\(list)/\(place)"))
        }
        return levels
    }

    /// An error within the other, as `NSUnderlyingErrorKey` has it.
    private static func nested(_ value: JSONValue, at pointer: String) throws(ReportError) -> [Level] {
        var levels: [Level] = []
        var (next, pointer): (JSONValue?, String) = (value, pointer)
        while let value = next, !value.isNull {
            guard levels.count < mostLevels - 1 else {
                throw ReportError(pointer, "at most \(mostLevels) levels of errors")
            }
            levels.append(try level(value, at: pointer))
            next = value.object?["underlying"]
            pointer += "/underlying"
        }
        return levels
    }

    private static func level(_ value: JSONValue, at pointer: String) throws(ReportError) -> Level {
        guard let object = value.object else { throw ReportError(pointer, "an object with domain and code") }
        guard let domain = try name("domain", of: object, at: pointer) else {
            throw ReportError("\(pointer)/domain", expectedName)
        }
        guard let code = object["code"]?.integer else { throw ReportError("\(pointer)/code", "an integer") }
        return Level(domain: domain, code: code)
    }

    private static func name(
        _ member: String,
        of object: JSONObject,
        at pointer: String
    ) throws(ReportError) -> String? {
        guard let value = object[member], !value.isNull else { return nil }
        guard let text = value.string, isName(text) else { throw ReportError("\(pointer)/\(member)", expectedName) }
        return text
    }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || [0x2D, 0x2E, 0x5F].contains(byte)
            }
    }

    /// Of a name alone, or with the type that it is of: `Product.PurchaseError.invalidOfferSignature`.
    private static func code(named name: String) -> Int64? {
        name.split(separator: ".").last.flatMap { codes[String($0)] }
    }

    private static let expectedName = "1 to 64 of A-Z a-z 0-9 . _ -"
    private static let domain = "SKErrorDomain"

    /// StoreKit 2's names, as the codes that StoreKit 1 has for the same.
    private static let codes: [String: Int64] = [
        "invalidOfferIdentifier": 11, "invalidOfferSignature": 12, "missingOfferParameters": 13,
        "invalidOfferPrice": 14, "ineligibleForOffer": 18, "userCancelled": 2, "productUnavailable": 5,
        "notAvailableInStorefront": 5,
    ]
}
