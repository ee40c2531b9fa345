// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import JSON

/// An object is not looked through for a name that none of its members can have.
struct NameLengthTests {
    @Test(arguments: [0, 1, 5, 61, 62, 63, 64, 200])
    func `records the length of each name`(length: Int) throws {
        let name = String(repeating: "x", count: length)
        let object = try object(#"{"\#(name)":{"deeper":1},"other":[{"within":2}]}"#)
        let expected: UInt64 = 1 << UInt64(min(63, length)) | 1 << 5
        #expect(object.nameLengths == expected)
    }

    @Test func `counts bytes`() throws {
        #expect(try object(#"{"é":1,"中":2}"#).nameLengths == 1 << 2 | 1 << 3)
    }

    @Test func `has none where there is no member`() throws {
        #expect(try object("{}").nameLengths == 0)
    }

    @Test func `rules no name out where one has escapes`() throws {
        #expect(try object(#"{"other":1,"\u0069d":2}"#).nameLengths == .max)
    }

    private func object(_ text: String) throws -> JSONValue {
        try JSONDocument(Array(text.utf8)).root
    }
}
