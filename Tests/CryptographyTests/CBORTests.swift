// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import Cryptography

/// Which texts are read as CBOR: of each value one.
struct CBORTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: [UInt8]
        let fault: CBORFault

        init(_ testDescription: String, _ fault: CBORFault, _ bytes: [UInt8]) {
            (self.testDescription, self.fault, self.bytes) = (testDescription, fault, bytes)
        }
    }

    static let rows = [
        Row("nothing", .truncated, []),
        Row("a byte after the value", .trailingBytes, [0x00, 0x00]),
        Row("bytes that are missing", .truncated, [0x42, 1]),
        Row("a length that is missing", .truncated, [0x58]),
        Row("a length of 2^63", .truncated, [0x5B, 0x80, 0, 0, 0, 0, 0, 0, 0]),
        Row("elements that are missing", .truncated, [0x82, 1]),
        Row("a value that is missing", .truncated, [0xA1, 1]),
        Row("bytes of indefinite length", .indefiniteLength, [0x5F, 0x41, 1, 0xFF]),
        Row("a text of indefinite length", .indefiniteLength, [0x7F, 0x61, 0x61, 0xFF]),
        Row("an array of indefinite length", .indefiniteLength, [0x9F, 0xFF]),
        Row("a map of indefinite length", .indefiniteLength, [0xBF, 0xFF]),
        Row("23 in two bytes", .notShortest, [0x18, 23]),
        Row("255 in three bytes", .notShortest, [0x19, 0, 255]),
        Row("65,535 in five bytes", .notShortest, [0x1A, 0, 0, 255, 255]),
        Row("2^32 - 1 in nine bytes", .notShortest, [0x1B, 0, 0, 0, 0, 255, 255, 255, 255]),
        Row("a length in more bytes than it needs", .notShortest, [0x58, 1, 7]),
        Row("2^63", .otherType, [0x1B, 0x80, 0, 0, 0, 0, 0, 0, 0]),
        Row("-1 - 2^63", .otherType, [0x3B, 0x80, 0, 0, 0, 0, 0, 0, 0]),
        Row("a length of a reserved kind", .otherType, [0x5C]),
        Row("a tag", .otherType, [0xC0, 0x60]),
        Row("true", .otherType, [0xF5]),
        Row("null", .otherType, [0xF6]),
        Row("a floating-point number", .otherType, [0xF9, 0, 0]),
        Row("a break without a beginning", .otherType, [0xFF]),
        Row("bytes as a key", .otherType, [0xA1, 0x41, 1, 1]),
        Row("a key twice", .repeatedKey, [0xA2, 1, 1, 1, 2]),
        Row("a text twice", .repeatedKey, [0xA2, 0x61, 0x61, 1, 0x61, 0x61, 1]),
        Row("a text that is not UTF-8", .notUTF8, [0x62, 0xC3, 0x28]),
        Row("five levels", .tooDeep, [0x81, 0x81, 0x81, 0x81, 0]),
        Row("65 values", .tooManyValues, [0x98, 64] + [UInt8](repeating: 0, count: 64)),
        Row("a count beyond all bounds", .tooManyValues, [0x9A, 0xFF, 0xFF, 0xFF, 0xFF]),
        Row("16,385 bytes", .tooLarge, [0x59, 0x3F, 0xFE] + [UInt8](repeating: 0, count: 16_382)),
    ]

    @Test(arguments: rows)
    func `refuses what has another reading`(row: Row) {
        #expect(throws: row.fault) { try CBORValue(row.bytes) }
    }

    @Test
    func `reads each kind, up to the bounds`() throws {
        let values: [(CBORDraft, CBORValue)] = [
            (.integer(.max), .integer(.max)), (.integer(.min), .integer(.min)), (.integer(23), .integer(23)),
            (.integer(24), .integer(24)), (.integer(256), .integer(256)), (.integer(65_536), .integer(65_536)),
            (.integer(1 << 32), .integer(1 << 32)), (.bytes([]), .bytes([])), (.text("é"), .text("é")),
            (.array([.array([.array([.integer(-1)])])]), .array([.array([.array([.integer(-1)])])])),
            (
                .map([(.text("a"), .integer(1)), (.integer(-1), .text(""))]),
                .map([.text("a"): .integer(1), .integer(-1): .text("")])
            ),
            (
                .array([CBORDraft](repeating: .integer(0), count: 63)),
                .array([CBORValue](repeating: .integer(0), count: 63))
            ),
            (
                .bytes([UInt8](repeating: 7, count: 16_381)), .bytes([UInt8](repeating: 7, count: 16_381))
            ),
        ]
        for (draft, value) in values { #expect(try CBORValue(draft.encoded) == value) }
    }
}
