// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

struct IdentifierTests {
    /// A text that no name may be, with the reason it is refused for.
    struct Hostile: CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let error: IdentifierError

        init(_ name: String, _ bytes: [UInt8], _ error: IdentifierError) {
            testDescription = name
            self.bytes = bytes
            self.error = error
        }

        init(_ name: String, _ text: String, _ scalar: Unicode.Scalar, at offset: Int) {
            self.init(name, Array(text.utf8), .notAllowed(.scalar(scalar), offset: offset))
        }
    }

    static let hostile = [
        Hostile("the separator", "a\u{2063}b", "\u{2063}", at: 1),
        Hostile("the separator below a combining mark", "a\u{2063}\u{301}b", "\u{2063}", at: 1),
        Hostile("a zero-width space", "a\u{200B}", "\u{200B}", at: 1),
        Hostile("é composed", "e\u{E9}", "\u{E9}", at: 1),
        Hostile("é decomposed", "ee\u{301}", "\u{301}", at: 2),
        Hostile("the Kelvin sign", "\u{212A}", "\u{212A}", at: 0),
        Hostile("a fullwidth letter", "a\u{FF21}", "\u{FF21}", at: 1),
        Hostile("NUL", "a\u{0}b", "\u{0}", at: 1),
        Hostile("a line feed", "a\n", "\n", at: 1),
        Hostile("escape", "\u{1B}[31m", "\u{1B}", at: 0),
        Hostile("delete", "a\u{7F}", "\u{7F}", at: 1),
        Hostile("an overlong slash", [0x61, 0xC0, 0xAF], .notAllowed(.malformed(0xC0), offset: 1)),
        Hostile("an overlong separator", [0xF0, 0x82, 0x81, 0xA3], .notAllowed(.malformed(0xF0), offset: 0)),
        Hostile("a surrogate", [0xED, 0xA0, 0x80], .notAllowed(.malformed(0xED), offset: 0)),
        Hostile("half a separator", [0x61, 0xE2, 0x81], .notAllowed(.malformed(0xE2), offset: 1)),
        Hostile("nothing", [], .empty),
        Hostile("256 bytes", [UInt8](repeating: 0x61, count: 256), .tooLong(limit: 255)),
    ]

    @Test(arguments: hostile)
    func `admits nothing hostile into a bundle, product, offer or catalog id`(row: Hostile) {
        #expect(throws: row.error) { try BundleID(utf8: row.bytes) }
        #expect(throws: row.error) { try ProductID(utf8: row.bytes) }
        #expect(throws: row.error) { try OfferID(utf8: row.bytes) }
        #expect(throws: row.error) { try CatalogOfferID(utf8: row.bytes) }
        #expect(throws: row.error) { try ApplicationUsername(utf8: row.bytes) }
    }

    @Test(arguments: hostile)
    func `admits nothing hostile into the ids of fixed shape and of customers`(row: Hostile) {
        #expect(throws: IdentifierError.self) { try KeyID(utf8: row.bytes) }
        #expect(throws: IdentifierError.self) { try TransactionID(utf8: row.bytes) }
        #expect(throws: IdentifierError.self) { try CustomerID(utf8: row.bytes) }
        #expect(throws: IdentifierError.self) { try Storefront(utf8: row.bytes) }
        #expect(throws: IdentifierError.self) { try Region(utf8: row.bytes) }
        #expect(throws: IdentifierError.self) { try SubscriptionGroupID(utf8: row.bytes) }
        #expect(UniqueID(utf8: row.bytes) == nil)
    }

    @Test(arguments: hostile)
    func `refuses a string as it refuses its bytes`(row: Hostile) {
        guard let text = String(validating: row.bytes, as: UTF8.self) else { return }
        #expect(throws: IdentifierError.self) { try BundleID(text) }
        #expect(throws: IdentifierError.self) { try ProductID(text) }
        #expect(throws: IdentifierError.self) { try KeyID(text) }
        #expect(throws: IdentifierError.self) { try ApplicationUsername(text) }
        #expect(throws: IdentifierError.self) { try CustomerID(text) }
    }

    @Test(arguments: hostile)
    func `says why in visible ASCII only`(row: Hostile) {
        #expect(row.error.description.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        #expect(row.error.description.count > 10)
    }

    @Test
    func `names an invisible character by its number`() {
        #expect(throws: IdentifierError.notAllowed(.scalar("\u{2063}"), offset: 2)) { try OfferID("ab\u{2063}") }
        let error = IdentifierError.notAllowed(.scalar("\u{2063}"), offset: 2)
        #expect(error.description == "holds the character U+2063 at byte 2, which is not allowed")
        #expect("\(IdentifierError.notAllowed(.scalar("/"), offset: 0))".contains("the character / at byte 0"))
        #expect("\(IdentifierError.notAllowed(.malformed(0xC0), offset: 0))".contains("the byte 0xC0"))
    }

    @Test(arguments: ["winback_3m", "pay_as_you_go.3 months", "a b c", "A-1", String(repeating: "x", count: 255)])
    func `admits the ids that exist in the wild, as they stand`(text: String) throws {
        #expect(try OfferID(text).text == text)
        #expect(try ProductID(utf8: Array(text.utf8)).text == text)
        #expect(try CatalogOfferID(utf8: Array(text.utf8)[...]).text == text)
    }

    @Test(arguments: [(" a", 0), ("a ", 1), ("a  b", 2), (" ", 0)])
    func `admits a space only alone and inside`(text: String, offset: Int) {
        #expect(throws: IdentifierError.misplacedSpace(offset: offset)) { try OfferID(text) }
    }

    @Test
    func `admits no space into a bundle id or a user name`() {
        #expect(throws: IdentifierError.notAllowed(.scalar(" "), offset: 3)) { try BundleID("com example") }
        #expect(throws: IdentifierError.notAllowed(.scalar(" "), offset: 1)) { try ApplicationUsername("a b") }
    }

    @Test(arguments: Array(UInt8.min...UInt8.max))
    func `admits exactly the listed bytes`(byte: UInt8) {
        let isLetterOrDigit = Character(UnicodeScalar(byte)).isASCII && Character(UnicodeScalar(byte)).isLetterOrDigit
        let inProduct = isLetterOrDigit || [0x2E, 0x5F, 0x2D].contains(byte)
        #expect(((try? BundleID(utf8: [byte])) != nil) == (isLetterOrDigit || [0x2E, 0x2D].contains(byte)))
        #expect(((try? ProductID(utf8: [byte])) != nil) == inProduct)
        #expect(((try? OfferID(utf8: [byte])) != nil) == inProduct)
        #expect(((try? CatalogOfferID(utf8: [byte])) != nil) == inProduct)
        #expect(((try? SubscriptionGroupID(utf8: [byte])) != nil) == inProduct)
        #expect(((try? ApplicationUsername(utf8: [byte])) != nil) == (0x21...0x7E).contains(byte))
        #expect(((try? TransactionID(utf8: [byte])) != nil) == (0x31...0x39).contains(byte))
    }

    @Test
    func `holds a key id to ten capital letters and digits`() throws {
        #expect(try KeyID("2X9R4HXF34").text == "2X9R4HXF34")
        for text in ["2x9R4HXF34", "2X9R4HXF3", "2X9R4HXF345"] {
            #expect(throws: IdentifierError.wrongShape(expected: "\(StoreKey.shape.expectation ?? "")")) {
                try KeyID(text)
            }
        }
    }

    @Test
    func `holds a transaction id to twenty digits`() throws {
        #expect(try TransactionID("2000000123456789").text == "2000000123456789")
        for text in [String(repeating: "1", count: 21), "-1"] {
            let expected = "1 to 20 digits, and not the 0 of Xcode's local tests"
            #expect(throws: IdentifierError.wrongShape(expected: expected)) { try TransactionID(text) }
        }
    }

    @Test(arguments: [
        ("eyJhbGciOiJFUzI1NiJ9.e30.AAAA", "signed data"), ("MIIUEgYJKoZIhvcNAQcC", "receipt of StoreKit 1"),
        ("GPA.3345-1234-1234-12345", "order id of Google Play"), ("7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60", "UUID"),
    ])
    func `says what was sent in the place of a transaction id`(text: String, name: String) {
        do {
            _ = try TransactionID(text)
            Issue.record("\(text) is taken")
        } catch {
            #expect(error.description.hasPrefix("must be 1 to 20 digits") && error.description.contains(name))
        }
    }

    @Test
    func `says that a group's name is not its id`() {
        do {
            _ = try SubscriptionGroupID("Premium Plans")
            Issue.record("a name is taken")
        } catch {
            #expect(error.description.contains("digits as 21234567, and not the group's name"))
        }
    }

    @Test
    func `keeps letter case apart`() throws {
        #expect(try OfferID("Winback") != OfferID("winback"))
        #expect(try ApplicationUsername("Alice").text == "Alice")
    }
}

extension Character {
    fileprivate var isLetterOrDigit: Bool { ("A"..."Z" ~= self) || ("a"..."z" ~= self) || ("0"..."9" ~= self) }
}
