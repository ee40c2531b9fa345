// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

/// What the writer writes, byte for byte.
@Suite struct WriterTests {
    private func written(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func `commas and colons are put where they belong`() {
        let text = written { writer in
            writer.beginObject()
            writer.name("a" as StaticString)
            writer.beginArray()
            writer.integer(1)
            writer.beginArray()
            writer.endArray()
            writer.null()
            writer.beginObject()
            writer.endObject()
            writer.endArray()
            writer.name(text: "b\"")
            writer.boolean(false)
            writer.name("c")
            writer.string("d")
            writer.endObject()
        }
        #expect(text == #"{"a":[1,[],null,{}],"b\"":false,"c":"d"}"#)
    }

    @Test(arguments: [Int64.min, -1, 0, 7, 10, Int64.max])
    func `members are written whole, wherever they stand`(number: Int64) {
        // Beginning with no room, so that each piece has to make its own.
        var writer = JSONWriter(reserving: 0)
        writer.beginObject()
        writer.member("a", integer: number)
        writer.member("b", plain: "text")
        writer.member("c", plain: Array("bytes".utf8).span)
        writer.member("d", upTo: 3) { target in for byte in "xyz".utf8 { target.append(byte) } }
        writer.member("e", upTo: 3) { _ in }
        writer.name("f")
        writer.beginArray()
        writer.string(upTo: 1) { $0.append(UInt8(ascii: "1")) }
        writer.string(plain: "2")
        writer.integer(number)
        writer.value(json: Array(#"["#.utf8), number, Array("]".utf8))
        writer.value(json: Array("{}".utf8))
        writer.endArray()
        writer.member("g", integer: number)
        writer.endObject()
        let expected =
            #"{"a":\#(number),"b":"text","c":"bytes","d":"xyz","e":"","f":["1","2",\#(number),[\#(number)],{}],"g":\#(number)}"#
        #expect(String(decoding: writer.bytes, as: UTF8.self) == expected)
    }

    struct StringRow: CustomTestStringConvertible, Sendable {
        let text: String
        let written: String

        var testDescription: String { written }
    }

    static let strings = [
        StringRow(text: "", written: #""""#),
        StringRow(text: "plain /</>&", written: #""plain /</>&""#),
        StringRow(text: "\u{8}\t\n\u{C}\r\"\\", written: #""\b\t\n\f\r\"\\""#),
        StringRow(text: "\0\u{1}\u{B}\u{1B}\u{1F}", written: #""\u0000\u0001\u000b\u001b\u001f""#),
        StringRow(text: "\u{7F}é\u{2028}😀", written: "\"\u{7F}é\u{2028}😀\""),
        StringRow(text: "a\r\nb", written: #""a\r\nb""#),
        StringRow(text: "e\u{301}\"\u{301}", written: "\"e\u{301}\\\"\u{301}\""),
    ]

    @Test(arguments: strings)
    func `strings have the escapes of RFC 8785 and no others`(row: StringRow) {
        #expect(Array(written { $0.string(row.text) }.utf8) == Array(row.written.utf8))
        #expect(Array(written { $0.string(utf8: Array(row.text.utf8)) }.utf8) == Array(row.written.utf8))
    }

    @Test func `bytes that are not UTF-8 do not get out`() {
        var writer = JSONWriter()
        writer.string(utf8: [0x61, 0xFF, 0x22, 0xED, 0xA0, 0x80])
        #expect(refusal(writer.bytes) == nil)
        #expect(writer.bytes.starts(with: Array("\"a\u{FFFD}\\\"".utf8)))
        // At the end of a text, too, which is not looked at eight bytes at a time.
        var short = JSONWriter()
        short.string(utf8: [0x61, 0x80])
        #expect(short.bytes == Array("\"a\u{FFFD}\"".utf8))
    }

    struct NumberRow: CustomTestStringConvertible, Sendable {
        let bits: UInt64
        let written: String

        var testDescription: String { written }
    }

    /// The samples of RFC 8785 appendix B, and the turning points of ECMAScript's layout.
    static let numbers: [NumberRow] = [
        (0x0000_0000_0000_0000 as UInt64, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7FEF_FFFF_FFFF_FFFF, "1.7976931348623157e+308"),
        (0xFFEF_FFFF_FFFF_FFFF, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xC340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44B5_2D02_C7E1_4AF5, "9.999999999999997e+22"),
        (0x44B5_2D02_C7E1_4AF6, "1e+23"),
        (0x44B5_2D02_C7E1_4AF7, "1.0000000000000001e+23"),
        (0x444B_1AE4_D6E2_EF4E, "999999999999999700000"),
        (0x444B_1AE4_D6E2_EF4F, "999999999999999900000"),
        (0x444B_1AE4_D6E2_EF50, "1e+21"),
        (0x3EB0_C6F7_A0B5_ED8C, "9.999999999999997e-7"),
        (0x3EB0_C6F7_A0B5_ED8D, "0.000001"),
        (0x41B3_DE43_5555_5553, "333333333.3333332"),
        (0x41B3_DE43_5555_5554, "333333333.33333325"),
        (0x41B3_DE43_5555_5555, "333333333.3333333"),
        (0x41B3_DE43_5555_5556, "333333333.3333334"),
        (0x41B3_DE43_5555_5557, "333333333.33333343"),
        (0xBECB_F647_612F_3696, "-0.0000033333333333333333"),
        (0x4314_3FF3_C1CB_0959, "1424953923781206.2"),
        (0.1.bitPattern, "0.1"),
        (100.0.bitPattern, "100"),
        (1e-7.bitPattern, "1e-7"),
        (1.5e-7.bitPattern, "1.5e-7"),
        (12.5.bitPattern, "12.5"),
        (Double.infinity.bitPattern, "null"),
        (Double.nan.bitPattern, "null"),
    ].map { NumberRow(bits: $0, written: $1) }

    @Test(arguments: numbers)
    func `numbers have ECMAScript's shortest form`(row: NumberRow) {
        #expect(written { $0.number(Double(bitPattern: row.bits)) } == row.written)
    }

    @Test func `any finite number reads back the same`() throws {
        var generator = RepeatableGenerator(seed: 8785)
        for _ in 0..<5000 {
            let value = Double(bitPattern: generator.next())
            guard value.isFinite else { continue }
            let text = written { $0.number(value) }
            #expect(try JSONDocument(Array(text.utf8)).root.double == value, "\(text)")
        }
    }

    @Test(arguments: [0, 1, -1, 9, 10, -10, 1_698_148_900_000, Int64.max, Int64.min])
    func `integers are written in full`(value: Int64) {
        #expect(written { $0.integer(value) } == String(value))
    }

    @Test func `whatever the writer writes is read back equal`() throws {
        var generator = RepeatableGenerator(seed: 8259)
        for _ in 0..<500 {
            let tree = randomTree(depth: 4, &generator)
            var writer = JSONWriter(reserving: 16)
            tree.write(to: &writer)
            #expect(Tree(try JSONDocument(writer.bytes, limits: generous).root) == tree)
        }
    }
}

/// A tree of any shape, with names and strings of awkward characters.
func randomTree(depth: Int, _ generator: inout RepeatableGenerator) -> Tree {
    switch Int.random(in: depth > 0 ? 0..<7 : 2..<7, using: &generator) {
    case 0:
        let count = Int.random(in: 0..<20, using: &generator)
        return .object((0..<count).map { randomMember($0, depth: depth - 1, &generator) })
    case 1:
        let count = Int.random(in: 0..<6, using: &generator)
        return .array((0..<count).map { _ in randomTree(depth: depth - 1, &generator) })
    case 2: return .text(randomText(&generator))
    case 3: return .integer(Int64(bitPattern: generator.next()) >> Int64.random(in: 0..<64, using: &generator))
    case 4: return .fraction(Double.random(in: -1...1, using: &generator) / 3)
    case 5: return .boolean(Bool.random(using: &generator))
    default: return .null
    }
}

private func randomMember(_ ordinal: Int, depth: Int, _ generator: inout RepeatableGenerator) -> Tree.Member {
    let name = String(ordinal) + randomText(&generator)
    return Tree.Member(name, randomTree(depth: depth, &generator))
}

private func randomText(_ generator: inout RepeatableGenerator) -> String {
    let scalars: [Unicode.Scalar] = [
        "a", "Z", "0", " ", "\"", "\\", "/", "\0", "\u{8}", "\n", "\r", "\u{1B}", "\u{7F}", "é", "\u{301}", "\u{2028}",
        "\u{FEFF}", "😀", "\u{10FFFF}",
    ]
    var text = ""
    for _ in 0..<Int.random(in: 0..<10, using: &generator) {
        text.unicodeScalars.append(scalars.randomElement(using: &generator) ?? "a")
    }
    return text
}
