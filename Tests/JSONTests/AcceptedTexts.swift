// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

/// Texts that RFC 8259 allows, and what they say.
@Suite struct AcceptedTexts {
    struct Row: CustomTestStringConvertible, Sendable {
        let text: String
        let tree: Tree

        init(_ text: String, _ tree: Tree) {
            (self.text, self.tree) = (text, tree)
        }

        var testDescription: String { text.debugDescription }
    }

    static let values = [
        Row("null", .null),
        Row("true", .boolean(true)),
        Row(" false\n", .boolean(false)),
        Row("\t\r\n 7 \t\r\n", .integer(7)),
        Row("[]", .array([])),
        Row("[ ]", .array([])),
        Row("{}", .object([])),
        Row("{ }", .object([])),
        Row(#""""#, .text("")),
        Row("[[], {}, [null]]", .array([.array([]), .object([]), .array([.null])])),
        Row(#"{"":0}"#, .object([.init("", .integer(0))])),
        Row(
            #"{"a":{"b":[1,"c"]},"d":false}"#,
            .object([
                .init("a", .object([.init("b", .array([.integer(1), .text("c")]))])), .init("d", .boolean(false)),
            ])
        ),
        Row(
            #"{"a":1,"A":2,"a ":3}"#,
            .object([.init("a", .integer(1)), .init("A", .integer(2)), .init("a ", .integer(3))])
        ),
    ]

    static let numbers = [
        Row("0", .integer(0)),
        Row("-0", .number(-0.0, integer: 0)),
        Row("-1", .integer(-1)),
        Row("9223372036854775807", .integer(.max)),
        Row("-9223372036854775808", .integer(.min)),
        Row("9223372036854775808", .fraction(9_223_372_036_854_775_808)),
        Row("-9223372036854775809", .fraction(-9_223_372_036_854_775_808)),
        Row("92233720368547758070", .fraction(92_233_720_368_547_758_080)),
        Row("123456789012345678901234567890", .fraction(123_456_789_012_345_677_877_719_597_056)),
        Row("1.0", .fraction(1)),
        Row("1e3", .fraction(1000)),
        Row("1E+2", .fraction(100)),
        Row("1e-2", .fraction(0.01)),
        Row("0e0", .fraction(0)),
        Row("-1.5e+300", .fraction(-1.5e300)),
        Row("2.2250738585072011e-308", .fraction(Double(bitPattern: 0x000F_FFFF_FFFF_FFFF))),
        Row("1e-400", .fraction(0)),
        Row("1e400", .number(nil, integer: nil)),
        Row("-1e400", .number(nil, integer: nil)),
    ]

    static let strings = [
        Row(#""\" \\ \/ \b \f \n \r \t""#, .text("\" \\ / \u{8} \u{C} \n \r \t")),
        Row(#""\u0041\u00e9\u20AC\uD83D\uDE00""#, .text("Aé€😀")),
        Row(#""\u0000""#, .text("\0")),
        Row(#""\uFFFF\uFFFE\uFDD0""#, .string([0xEF, 0xBF, 0xBF, 0xEF, 0xBF, 0xBE, 0xEF, 0xB7, 0x90])),
        Row(#""\uDBFF\uDFFF\uD800\uDC00""#, .text("\u{10FFFF}\u{10000}")),
        Row(
            "\"\u{7F}\u{80}\u{7FF}\u{800}\u{D7FF}\u{E000}\u{10000}\u{10FFFF}\"",
            .text("\u{7F}\u{80}\u{7FF}\u{800}\u{D7FF}\u{E000}\u{10000}\u{10FFFF}")
        ),
        Row("\"\u{2028}\u{2029}\u{FEFF}\"", .text("\u{2028}\u{2029}\u{FEFF}")),
        Row("\"e\u{301}\"", .text("e\u{301}")),
        Row(#""it's""#, .text("it's")),
        Row("\"a/*b*/c//d\"", .text("a/*b*/c//d")),
        Row(#"{"\u0061\n":1}"#, .object([.init("a\n", .integer(1))])),
    ]

    @Test(arguments: values + numbers + strings)
    func `a text that RFC 8259 allows says what it says`(row: Row) throws {
        #expect(try tree(row.text) == row.tree)
        #expect(try tree(row.text, .configuration) == row.tree)
    }

    @Test func `names that look alike but differ in bytes are kept apart`() throws {
        let document = try JSONDocument(Array("{\"\u{E9}\":1,\"e\u{301}\":2}".utf8))
        let object = try #require(document.root.object)
        #expect(object["\u{E9}"]?.integer == 1)
        #expect(object["e\u{301}"]?.integer == 2)
    }
}
