// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

struct GooglePlayIdentifierTests {
    @Test(arguments: IdentifierTests.hostile)
    func `admits nothing hostile`(row: IdentifierTests.Hostile) {
        #expect(throws: IdentifierError.self) { try PackageName(utf8: row.bytes) }
        #expect(throws: IdentifierError.self) { try GooglePlayProductID(utf8: row.bytes) }
        #expect(throws: IdentifierError.self) { try BasePlanID(utf8: row.bytes) }
        #expect(throws: IdentifierError.self) { try GooglePlayOfferID(utf8: row.bytes) }
        #expect(throws: IdentifierError.self) { try OfferTag(utf8: row.bytes) }
        guard row.error != .tooLong(limit: 255) else { return }
        #expect(throws: IdentifierError.self) { try PurchaseToken(utf8: row.bytes) }
    }

    @Test(arguments: Array(UInt8.min...UInt8.max))
    func `admits exactly the listed bytes`(byte: UInt8) {
        let isLowercase = (0x61...0x7A).contains(byte)
        let isLetter = isLowercase || (0x41...0x5A).contains(byte)
        let isDigit = (0x30...0x39).contains(byte)
        let name = [0x61, byte]
        #expect(((try? PackageName(utf8: name)) != nil) == (isLetter || isDigit || [0x5F, 0x2E].contains(byte)))
        #expect(((try? PackageName(utf8: [byte])) != nil) == isLetter)
        let isPlain = isLowercase || isDigit
        #expect(((try? GooglePlayProductID(utf8: name)) != nil) == (isPlain || [0x5F, 0x2E].contains(byte)))
        #expect(((try? GooglePlayProductID(utf8: [byte])) != nil) == isPlain)
        #expect(((try? BasePlanID(utf8: name)) != nil) == (isPlain || byte == 0x2D))
        #expect(((try? BasePlanID(utf8: [byte])) != nil) == isPlain)
        #expect(((try? GooglePlayOfferID(utf8: name)) != nil) == (isPlain || [0x5F, 0x2D].contains(byte)))
        #expect(((try? GooglePlayOfferID(utf8: [byte])) != nil) == isPlain)
        #expect(((try? OfferTag(utf8: [byte])) != nil) == (isPlain || byte == 0x2D))
        #expect(((try? PurchaseToken(utf8: [byte])) != nil) == (0x21...0x7E).contains(byte))
    }

    @Test
    func `keeps each to its length`() throws {
        func letters(_ count: Int) -> String { String(repeating: "a", count: count) }
        #expect(throws: Never.self) { try PackageName(letters(255)) }
        #expect(throws: IdentifierError.tooLong(limit: 255)) { try PackageName(letters(256)) }
        #expect(throws: Never.self) { try GooglePlayProductID(letters(40)) }
        #expect(throws: IdentifierError.tooLong(limit: 40)) { try GooglePlayProductID(letters(41)) }
        #expect(throws: Never.self) { try BasePlanID(letters(63)) }
        #expect(throws: IdentifierError.tooLong(limit: 63)) { try BasePlanID(letters(64)) }
        #expect(throws: Never.self) { try GooglePlayOfferID(letters(63)) }
        #expect(throws: IdentifierError.tooLong(limit: 63)) { try GooglePlayOfferID(letters(64)) }
        #expect(throws: Never.self) { try OfferTag(letters(20)) }
        #expect(throws: IdentifierError.tooLong(limit: 20)) { try OfferTag(letters(21)) }
        #expect(throws: Never.self) { try PurchaseToken(letters(1500)) }
        #expect(throws: IdentifierError.tooLong(limit: 1500)) { try PurchaseToken(letters(1501)) }
    }

    @Test(arguments: ["-", "--", "-monthly"])
    func `takes no base plan for the wildcard of a path`(text: String) {
        #expect(throws: IdentifierError.notAllowed(.scalar("-"), offset: 0)) { try BasePlanID(text) }
    }

    @Test(arguments: [".", "..", ".com.example", "_a"])
    func `takes no package for a step of a path`(text: String) {
        #expect(throws: IdentifierError.self) { try PackageName(text) }
    }

    @Test
    func `admits the ids that exist in the wild, as they stand`() throws {
        #expect(try PackageName("com.example.My_App2").text == "com.example.My_App2")
        #expect(try GooglePlayProductID("premium.v2_year").text == "premium.v2_year")
        #expect(try BasePlanID("p1m-autorenewing").text == "p1m-autorenewing")
        #expect(try GooglePlayOfferID("monthly_subscription_cancel_offer").text == "monthly_subscription_cancel_offer")
        #expect(try OfferTag("rc-customer-center").text == "rc-customer-center")
    }

    @Test
    func `shows nothing of a purchase token, however it is printed`() throws {
        let token = try PurchaseToken("nofbklffmgaepgcndkpeogpm.AO-J1Ow")
        var dumped = ""
        dump(token, to: &dumped)
        for text in ["\(token)", String(reflecting: token), "\([token])", String(reflecting: Optional(token)), dumped] {
            #expect(!text.contains("AO-J1Ow"))
            #expect(text.contains("a purchase token"))
        }
    }
}
