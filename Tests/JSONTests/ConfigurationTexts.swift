// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

/// What people may write in configuration files, and what they may not.
@Suite struct ConfigurationTexts {
    typealias Row = AcceptedTexts.Row
    typealias RefusedRow = RefusedTexts.Row

    static let accepted = [
        Row("// a file\n{ /* two\n lines */ a: 1, } // end", .object([.init("a", .integer(1))])),
        Row("/***/1/* * / */", .integer(1)),
        Row("//\r1", .integer(1)),
        Row("// é\u{2028}1", .integer(1)),
        Row("[1,\n 2,\n]", .array([.integer(1), .integer(2)])),
        Row("\u{FEFF}\u{A0}\u{3000}\u{B}\u{C}\u{2029}1", .integer(1)),
        Row(
            "{$_a9: 1, null: 2, 'b c': 3, \"d\": 4, Infinity: 5}",
            .object([
                .init("$_a9", .integer(1)), .init("null", .integer(2)), .init("b c", .integer(3)),
                .init("d", .integer(4)), .init("Infinity", .integer(5)),
            ])
        ),
        Row("'it\\'s \"it\"'", .text("it's \"it\"")),
        Row("'a\tb'", .text("a\tb")),
        Row(#"'\x41\xe9\v\0\a\ \é'"#, .text("Aé\u{B}\0a é")),
        Row("'a\\\nb\\\r\nc\\\rd\\\u{2028}e'", .text("abcde")),
        Row("'\u{2028}'", .text("\u{2028}")),
        Row("+5", .integer(5)),
        Row("0x1F", .integer(31)),
        Row("-0Xff", .integer(-255)),
        Row("0x7fffffffffffffff", .integer(.max)),
        Row("-0x8000000000000000", .integer(.min)),
        Row("0x8000000000000000", .fraction(9_223_372_036_854_775_808)),
        Row(".5", .fraction(0.5)),
        Row("-.5e1", .fraction(-5)),
        Row("5.", .fraction(5)),
        Row("+1.5", .fraction(1.5)),
        Row("5.e1", .fraction(50)),
    ]

    static let refused = [
        RefusedRow("// nothing", .empty, at: 10),
        RefusedRow("1 /* open", .unexpectedEnd, at: 9),
        RefusedRow("1 /*/", .unexpectedEnd, at: 5),
        RefusedRow("/", .unexpectedEnd, at: 1),
        RefusedRow("/ 1", .expectedValue, at: 0),
        RefusedRow("# 1", .expectedValue, at: 0),
        RefusedRow("[,]", .expectedValue, at: 1, "/0"),
        RefusedRow("[1,,]", .expectedValue, at: 3, "/1"),
        RefusedRow("{,}", .expectedName, at: 1),
        RefusedRow("{9a: 1}", .expectedName, at: 1),
        RefusedRow("{é: 1}", .expectedName, at: 1),
        RefusedRow("{a-b: 1}", .expectedColon, at: 2, "/a"),
        RefusedRow("{a: 1, 'a': 2}", .repeatedName, at: 7, "/a"),
        RefusedRow("{a: 1, \"\\x61\": 2}", .repeatedName, at: 7, "/a"),
        RefusedRow("{a: 1, \"a\": 2}", .repeatedName, at: 7, "/a"),
        RefusedRow("{\"a\": 1, 'a': 2}", .repeatedName, at: 9, "/a"),
        RefusedRow("{'a': 1, \"a\": 2}", .repeatedName, at: 9, "/a"),
        RefusedRow("{'a': 1, a: 2}", .repeatedName, at: 9, "/a"),
        RefusedRow("{'b': 1, \"a\": 2, 'a': 3}", .repeatedName, at: 17, "/a"),
        RefusedRow("NaN", .notFinite, at: 0),
        RefusedRow("{a: -Infinity}", .notFinite, at: 5, "/a"),
        RefusedRow("+Infinity", .notFinite, at: 1),
        RefusedRow("[010]", .invalidNumber, at: 1, "/0"),
        RefusedRow("0x", .unexpectedEnd, at: 2),
        RefusedRow("[0xg]", .invalidNumber, at: 1, "/0"),
        RefusedRow("[0x1.8]", .invalidNumber, at: 1, "/0"),
        RefusedRow("[.]", .invalidNumber, at: 1, "/0"),
        RefusedRow("[+-1]", .invalidNumber, at: 1, "/0"),
        RefusedRow("'a\"", .unexpectedEnd, at: 3),
        RefusedRow("'a\nb'", .controlCharacter, at: 2),
        RefusedRow("'\u{1B}'", .controlCharacter, at: 1),
        RefusedRow("'\\\u{1B}'", .controlCharacter, at: 1),
        RefusedRow(#"'\1'"#, .invalidEscape, at: 1),
        RefusedRow(#"'\01'"#, .invalidEscape, at: 1),
        RefusedRow(#"'\x4'"#, .invalidEscape, at: 1),
        RefusedRow(#"'\ud800'"#, .loneSurrogate, at: 1),
        RefusedRow([0x2F, 0x2F, 0xC3, 0x28, 0x0A, 0x31], .invalidUTF8, at: 2),
        RefusedRow([0x2F, 0x2A, 0xFF, 0x2A, 0x2F, 0x31], .invalidUTF8, at: 2),
        RefusedRow([0x27, 0xED, 0xA0, 0x80, 0x27], .invalidUTF8, at: 1),
        RefusedRow([0x5C, 0x31], .expectedValue, at: 0),
        RefusedRow([0x27, 0x5C, 0xC3, 0x27], .invalidUTF8, at: 1),
        RefusedRow([0xFF, 0xFE, 0x31, 0x00], .invalidUTF8, at: 0),
    ]

    /// Few names are compared with each other, and many are put in a set.
    @Test(arguments: [2, 16, 17, 100], ["a", "'a'", "\"a\"", "'\\x61'"])
    func `a name comes once, however it is written and among however many`(count: Int, repeated: String) throws {
        let others = (0..<count - 2).map { "'z\($0)': 0, " }.joined()
        for first in ["a", "'a'", "\"a\""] {
            let text = "{\(first): 1, \(others)\(repeated): 2}"
            let error = try #require(refusal(Array(text.utf8), .configuration))
            #expect(error.kind == .repeatedName)
            #expect(error.offset == text.utf8.count - repeated.utf8.count - 4)
        }
    }

    @Test(arguments: accepted)
    func `what JSON5 adds is read in configuration, and only there`(row: Row) throws {
        #expect(try tree(row.text, .configuration) == row.tree)
        #expect(refusal(Array(row.text.utf8)) != nil)
    }

    @Test(arguments: refused)
    func `what is wrong in a configuration file is refused with reason, place and pointer`(row: RefusedRow) throws {
        let error = try #require(refusal(row.text, .configuration))
        #expect(error.kind == row.kind)
        #expect(error.offset == row.offset)
        #expect(error.pointer == row.pointer)
    }
}
