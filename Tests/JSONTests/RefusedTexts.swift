// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

/// Texts that the strict dialect refuses, why, where, and in which value.
@Suite struct RefusedTexts {
    struct Row: CustomTestStringConvertible, Sendable {
        let text: [UInt8]
        let kind: JSONError.Kind
        let offset: Int
        let pointer: String

        init(_ text: String, _ kind: JSONError.Kind, at offset: Int, _ pointer: String = "") {
            self.init(Array(text.utf8), kind, at: offset, pointer)
        }

        init(_ text: [UInt8], _ kind: JSONError.Kind, at offset: Int, _ pointer: String = "") {
            (self.text, self.kind, self.offset, self.pointer) = (text, kind, offset, pointer)
        }

        /// A string of just these bytes, with the fault at its first.
        init(string bytes: [UInt8], _ kind: JSONError.Kind) {
            self.init([0x22] + bytes + [0x22], kind, at: 1)
        }

        var testDescription: String { String(decoding: text, as: UTF8.self).debugDescription }
    }

    static let structure = [
        Row("", .empty, at: 0),
        Row(" \n\t", .empty, at: 3),
        Row("[", .unexpectedEnd, at: 1),
        Row("]", .expectedValue, at: 0),
        Row(",", .expectedValue, at: 0),
        Row("[1", .unexpectedEnd, at: 2),
        Row("[1,", .unexpectedEnd, at: 3),
        Row("[1,]", .expectedValue, at: 3, "/1"),
        Row("[,1]", .expectedValue, at: 1, "/0"),
        Row("[1,,2]", .expectedValue, at: 3, "/1"),
        Row("[1 2]", .expectedCommaOrEnd, at: 3),
        Row("[1}", .expectedCommaOrEnd, at: 2),
        Row("[1]]", .trailingText, at: 3),
        Row("1 2", .trailingText, at: 2),
        Row("{}\0", .trailingText, at: 2),
        Row("[]\u{FEFF}", .trailingText, at: 2),
        Row("{", .unexpectedEnd, at: 1),
        Row("{1:2}", .expectedName, at: 1),
        Row("{a:2}", .expectedName, at: 1),
        Row("{'a':2}", .expectedName, at: 1),
        Row("{,}", .expectedName, at: 1),
        Row(#"{"a"}"#, .expectedColon, at: 4, "/a"),
        Row(#"{"a",1}"#, .expectedColon, at: 4, "/a"),
        Row(#"{"a":}"#, .expectedValue, at: 5, "/a"),
        Row(#"{"a"::1}"#, .expectedValue, at: 5, "/a"),
        Row(#"{"a":1,}"#, .expectedName, at: 7),
        Row(#"{"a":1 "b":2}"#, .expectedCommaOrEnd, at: 7),
        Row(#"{"a":1]"#, .expectedCommaOrEnd, at: 6),
        Row(#"{"a":[0,{"b/c~d":[x]}]}"#, .expectedValue, at: 18, "/a/1/b~1c~0d/0"),
        Row("[1]//", .trailingText, at: 3),
        Row("/**/1", .expectedValue, at: 0),
        Row("[\u{A0}1]", .expectedValue, at: 1, "/0"),
        Row("[\u{C}1]", .expectedValue, at: 1, "/0"),
        Row([0xEF, 0xBB, 0xBF, 0x31], .byteOrderMark, at: 0),
        Row([0xFF, 0xFE, 0x31, 0x00], .expectedValue, at: 0),
        Row([0x31, 0x00], .trailingText, at: 1),
        Row([0x00, 0x31], .expectedValue, at: 0),
    ]

    static let words = [
        Row("True", .expectedValue, at: 0),
        Row("truth", .expectedValue, at: 0),
        Row("tru", .unexpectedEnd, at: 3),
        Row("truex", .trailingText, at: 4),
        Row("nul\0", .expectedValue, at: 0),
        Row("undefined", .expectedValue, at: 0),
        Row("NaN", .notFinite, at: 0),
        Row("[Infinity]", .notFinite, at: 1, "/0"),
        Row("[-Infinity]", .notFinite, at: 2, "/0"),
        Row("'a'", .expectedValue, at: 0),
    ]

    static let numbers = [
        Row("+1", .expectedValue, at: 0),
        Row("-", .unexpectedEnd, at: 1),
        Row("[-]", .invalidNumber, at: 1, "/0"),
        Row("[--1]", .invalidNumber, at: 1, "/0"),
        Row("[01]", .invalidNumber, at: 1, "/0"),
        Row("[-01]", .invalidNumber, at: 1, "/0"),
        Row("[00]", .invalidNumber, at: 1, "/0"),
        Row("[.5]", .expectedValue, at: 1, "/0"),
        Row("[-.5]", .invalidNumber, at: 1, "/0"),
        Row("[5.]", .invalidNumber, at: 1, "/0"),
        Row("[5.e1]", .invalidNumber, at: 1, "/0"),
        Row("[1e]", .invalidNumber, at: 1, "/0"),
        Row("[1e+]", .invalidNumber, at: 1, "/0"),
        Row("[1e1.5]", .invalidNumber, at: 1, "/0"),
        Row("[1.2.3]", .invalidNumber, at: 1, "/0"),
        Row("[1-2]", .invalidNumber, at: 1, "/0"),
        Row("[0x1F]", .invalidNumber, at: 1, "/0"),
        Row("[1n]", .invalidNumber, at: 1, "/0"),
        Row("[1_000]", .invalidNumber, at: 1, "/0"),
        Row("[\u{FF11}]", .expectedValue, at: 1, "/0"),
    ]

    static let strings = [
        Row(#"""#, .unexpectedEnd, at: 1),
        Row(#"["a]"#, .unexpectedEnd, at: 4, "/0"),
        Row("[\"a\nb\"]", .controlCharacter, at: 3, "/0"),
        Row("[\"\t\"]", .controlCharacter, at: 2, "/0"),
        Row("[\"\0\"]", .controlCharacter, at: 2, "/0"),
        Row("[\"\u{1F}\"]", .controlCharacter, at: 2, "/0"),
        Row(#"["\a"]"#, .invalidEscape, at: 2, "/0"),
        Row(#"["\x41"]"#, .invalidEscape, at: 2, "/0"),
        Row(#"["\0"]"#, .invalidEscape, at: 2, "/0"),
        Row(#"["\'"]"#, .invalidEscape, at: 2, "/0"),
        Row(#"["\U0041"]"#, .invalidEscape, at: 2, "/0"),
        Row(#"["\u004"]"#, .invalidEscape, at: 2, "/0"),
        Row(#"["\u004g"]"#, .invalidEscape, at: 2, "/0"),
        Row(#"["\u+041"]"#, .invalidEscape, at: 2, "/0"),
        Row("[\"\\\n\"]", .invalidEscape, at: 2, "/0"),
        Row("[\"\\é\"]", .invalidEscape, at: 2, "/0"),
        Row(#"["\ud83d"]"#, .loneSurrogate, at: 2, "/0"),
        Row(#"["\ude00"]"#, .loneSurrogate, at: 2, "/0"),
        Row(#"["\ude00\ude00"]"#, .loneSurrogate, at: 2, "/0"),
        Row(#"["\ud83d\n"]"#, .loneSurrogate, at: 2, "/0"),
        Row(#"["\ud83dx\ude00"]"#, .loneSurrogate, at: 2, "/0"),
        Row(#"["\ud83d\ud83d"]"#, .loneSurrogate, at: 2, "/0"),
        Row(#"["\ude00\ud83d"]"#, .loneSurrogate, at: 2, "/0"),
        Row(#"["\ud83d\u0041"]"#, .loneSurrogate, at: 2, "/0"),
        Row(#"["\ud83d\ue000"]"#, .loneSurrogate, at: 2, "/0"),
        Row(#"{"\ud83d":1}"#, .loneSurrogate, at: 2),
        Row(#""\"#, .unexpectedEnd, at: 2),
        Row(#""\u12"#, .unexpectedEnd, at: 5),
        Row(#""\ud83d\u"#, .unexpectedEnd, at: 9),
    ]

    /// The rows of RFC 3629's table, each at its edge.
    static let utf8 = [
        Row(string: [0x80], .invalidUTF8),
        Row(string: [0xBF], .invalidUTF8),
        Row(string: [0xC0, 0x80], .invalidUTF8),
        Row(string: [0xC0, 0xAF], .invalidUTF8),
        Row(string: [0xC1, 0xBF], .invalidUTF8),
        Row(string: [0xC3], .invalidUTF8),
        Row(string: [0xC3, 0x28], .invalidUTF8),
        Row(string: [0xE0, 0x9F, 0xBF], .invalidUTF8),
        Row(string: [0xE2, 0x82], .invalidUTF8),
        Row(string: [0xE2, 0x28, 0xA1], .invalidUTF8),
        Row(string: [0xED, 0xA0, 0x80], .invalidUTF8),
        Row(string: [0xED, 0xBF, 0xBF], .invalidUTF8),
        Row(string: [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80], .invalidUTF8),
        Row(string: [0xF0, 0x8F, 0xBF, 0xBF], .invalidUTF8),
        Row(string: [0xF0, 0x9F, 0x98], .invalidUTF8),
        Row(string: [0xF4, 0x90, 0x80, 0x80], .invalidUTF8),
        Row(string: [0xF5, 0x80, 0x80, 0x80], .invalidUTF8),
        Row(string: [0xF8, 0x88, 0x80, 0x80, 0x80], .invalidUTF8),
        Row(string: [0xFE], .invalidUTF8),
        Row(string: [0xFF], .invalidUTF8),
        Row([0x22, 0xE2, 0x82], .invalidUTF8, at: 1),
        Row([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D], .invalidUTF8, at: 2),
    ]

    static let repeats = [
        Row(#"{"a":1,"a":2}"#, .repeatedName, at: 7, "/a"),
        Row(#"{"a":1,"b":{"x":[1]},"a":1}"#, .repeatedName, at: 21, "/a"),
        Row(#"{"a":1,"\u0061":2}"#, .repeatedName, at: 7, "/a"),
        Row(#"{"\u0061":1,"a":2}"#, .repeatedName, at: 12, "/a"),
        Row(#"{"/":1,"\/":2}"#, .repeatedName, at: 7, "/~1"),
        Row(#"{"":1,"":2}"#, .repeatedName, at: 6, "/"),
        Row(#"[{"b":{"é":1,"\u00E9":2}}]"#, .repeatedName, at: 14, "/0/b/é"),
    ]

    @Test(arguments: structure + words + numbers + strings + utf8 + repeats)
    func `a text that RFC 8259 does not allow is refused with reason, place and pointer`(row: Row) throws {
        let error = try #require(refusal(row.text))
        #expect(error.kind == row.kind)
        #expect(error.offset == row.offset)
        #expect(error.pointer == row.pointer)
    }

    @Test(arguments: [16, 17, 300])
    func `the last of many names may not repeat the first`(count: Int) throws {
        let names = (0..<count - 1).map { #""n\#($0)":0"# }.joined(separator: ",")
        #expect(refusal(Array("{\(names)}".utf8)) == nil)
        let error = try #require(refusal(Array("{\(names),\"\\u006e0\":0}".utf8)))
        #expect(error.kind == .repeatedName)
        #expect(error.pointer == "/n0")
        #expect(error.offset == names.utf8.count + 2)
    }

    @Test func `a text cut anywhere is refused, and the pointer names what was being read`() {
        let text = Array(#"{"ab":[true,{"c":"x\u00e9é"},-1.5e3,null],"d":{}}"#.utf8)
        for length in 0..<text.count {
            let error = refusal(Array(text[..<length]))
            #expect(error != nil, "\(length) bytes were accepted")
            #expect(error?.pointer == Self.pointer(afterCuttingAt: length), "cut after \(length) bytes")
        }
        #expect(refusal(text) == nil)
    }

    /// Worked out by hand for the text above: from which length on which pointer holds.
    private static func pointer(afterCuttingAt length: Int) -> String {
        let starts: [(Int, String)] = [
            (0, ""), (5, "/ab"), (8, "/ab/0"), (11, "/ab"), (13, "/ab/1"), (16, "/ab/1/c"), (28, "/ab/1"), (29, "/ab"),
            (31, "/ab/2"), (32, "/ab"), (33, "/ab/2"), (34, "/ab"), (35, "/ab/2"), (36, "/ab"), (38, "/ab/3"),
            (41, "/ab"), (42, ""), (46, "/d"), (49, ""),
        ]
        return starts.last { $0.0 <= length }?.1 ?? "?"
    }
}
