// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import OfferDomain

struct PayloadTests {
    private func payload(_ binding: PurchaseBinding) throws -> PromotionalOfferPayload {
        PromotionalOfferPayload(
            offer: AppStoreOfferKey(
                bundleID: try BundleID("com.example.app"),
                productID: try ProductID("com.example.pro.monthly"),
                offerID: try OfferID("pay_as_you_go.3 months")
            ),
            keyID: try KeyID("ABC123DEFG"),
            binding: binding,
            nonce: try #require(UniqueID("20FBA8A0-2B80-4A7D-A17F-85C1854727F8")),
            timestamp: Timestamp(milliseconds: 1_698_148_900_000)
        )
    }

    private func joined(_ texts: [String]) throws -> [UInt8] {
        var fields = SeparatedFields()
        for text in texts { try fields.append { $0.append(contentsOf: text.utf8) } }
        return try fields.joined()
    }

    private func splits(_ text: [UInt8], into parts: [Range<Int>]) -> Bool {
        SeparatedFields.splits(text.span, into: parts)
    }

    private func split(_ text: [UInt8]) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var start = 0
        while start <= text.count {
            let end = SeparatedFields.endOfPart(text.span, from: start)
            parts.append(text[start..<end])
            start = end + 3
        }
        return parts
    }

    /// A binding and the fifth field it gives.
    struct Row: CustomTestStringConvertible {
        let binding: PurchaseBinding
        let field: String
        var testDescription: String { field.isEmpty ? "none" : field }
    }

    static func rows() throws -> [Row] {
        let token = try #require(UniqueID("7E3FB204-2A6B-4B2F-9A3C-1B2C3D4E5F60"))
        return [
            Row(binding: .none, field: ""),
            Row(binding: .appAccountToken(token), field: "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"),
            Row(binding: .applicationUsername(try ApplicationUsername("Alice|7E3F")), field: "Alice|7E3F"),
        ]
    }

    @Test(arguments: try rows())
    func `joins seven fields by U+2063 in Apple's order`(row: Row) throws {
        let expected =
            "com.example.app\u{2063}ABC123DEFG\u{2063}com.example.pro.monthly\u{2063}pay_as_you_go.3 months\u{2063}"
            + row.field + "\u{2063}20fba8a0-2b80-4a7d-a17f-85c1854727f8\u{2063}1698148900000"
        let bytes = try payload(row.binding).bytes()
        #expect(bytes == Array(expected.utf8))
        #expect(split(bytes).count == 7)
    }

    @Test
    func `would sign the same bytes for two readings if a field could hold the separator`() {
        let shifted = ["b", "k", "p", "offer50\u{2063}x", "u", "n", "1"].joined(separator: "\u{2063}")
        let honest = ["b", "k", "p", "offer50", "x\u{2063}u", "n", "1"].joined(separator: "\u{2063}")
        #expect(Array(shifted.utf8) == Array(honest.utf8))
        for text in ["offer50\u{2063}x", "offer50\u{2063}\u{301}x"] {
            #expect(throws: IdentifierError.notAllowed(.scalar("\u{2063}"), offset: 7)) { try OfferID(text) }
        }
    }

    @Test(arguments: 0..<7, ["\u{2063}", "a\u{2063}\u{301}", "\u{301}", "é", "\u{0}", "\u{7F}", "Ａ", "\u{212A}", "\n"])
    func `joins no field that is not printable ASCII`(position: Int, text: String) {
        var fields = ["b", "k", "p", "o", "", "n", "1"]
        fields[position] = text
        #expect(throws: PayloadError.notPrintableASCII(field: position)) { try joined(fields) }
    }

    @Test
    func `finds the parts of what it joined where the fields were put`() {
        let separator: [UInt8] = [0xE2, 0x81, 0xA3]
        #expect(splits([0x61] + separator + [0x62], into: [0..<1, 4..<5]))
        #expect(!splits([0x61] + separator + [0x62], into: [0..<5]))
        #expect(!splits([0x61] + separator + [0x62], into: [0..<1]))
        #expect(!splits([0x61] + separator + [0x62], into: [0..<1, 4..<5, 5..<5]))
        #expect(!splits([0x61] + separator + [0x62], into: []))
        #expect(!splits([0x61, 0x61, 0x61, 0x61, 0x62], into: [0..<1, 4..<5]))
        #expect(!splits([0x61] + separator + [0x62] + separator, into: [0..<1, 4..<5]))
        #expect(split([0x61, 0xE2, 0x81]).count == 1)
        for near: [UInt8] in [[0xE2, 0x81, 0xA2], [0xE2, 0x82, 0xA3], [0xE3, 0x81, 0xA3]] {
            #expect(split(near + [0x61]).count == 1)
        }
        #expect(split(separator + separator).map(\.count) == [0, 0, 0])
    }

    @Test
    func `splits random fields into themselves`() throws {
        var random = SplitMix(seed: 4)
        for _ in 0..<500 {
            let fields = (0..<7).map { _ in
                String(
                    decoding: (0..<Int.random(in: 0...20, using: &random)).map { _ in
                        UInt8.random(in: 0x20...0x7E, using: &random)
                    },
                    as: UTF8.self
                )
            }
            let parts = split(try joined(fields))
            #expect(parts.map { String(decoding: $0, as: UTF8.self) } == fields)
        }
    }
}
