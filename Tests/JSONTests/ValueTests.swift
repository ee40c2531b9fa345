// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

/// How a document's values are looked at.
@Suite struct ValueTests {
    let document: JSONDocument

    init() throws {
        let text = #"{"a":[1,{"b":"x\ny"},null], "dé/":true, "e":"plain", "f":{}, "g":[]}"#
        document = try JSONDocument(Array(text.utf8))
    }

    private func member(_ name: String) throws -> JSONValue {
        try #require(document.root.object?[name])
    }

    @Test func `members keep their order and are found by name`() throws {
        let object = try #require(document.root.object)
        #expect(object.map(\.name) == ["a", "dé/", "e", "f", "g"])
        #expect(object.count == 5)
        #expect(object["e"]?.string == "plain")
        #expect(object["dé/"]?.bool == true)
        #expect(object["b"] == nil, "a name that lies deeper")
        #expect(object["E"] == nil)
    }

    @Test func `names are compared without being unescaped by the caller`() throws {
        let object = try #require(try JSONDocument(Array(#"{"\u0061b":1}"#.utf8)).root.object)
        let member = try #require(object.first { _ in true })
        #expect(member.isNamed("ab"))
        #expect(!member.isNamed("a"))
        #expect(member.nameBytes == Array("ab".utf8))
        #expect(object["ab"]?.integer == 1)
    }

    @Test func `returns the place of a member that is found`() throws {
        let text = #"{"ba":[{"b":0}],"a":1,"\u0062":2,"bb":3}"#
        let root = try JSONDocument(Array(text.utf8)).root
        #expect(root.find("ba")?.place == 0)
        #expect(root.find("a")?.place == 1)
        #expect(root.find("b")?.place == 2)
        #expect(root.find("b")?.value.integer == 2)
        #expect(root.find("bb")?.value.integer == 3)
        #expect(root.find("c") == nil)
        #expect(root.find("\\u0062") == nil, "a name as it is written")
        #expect(root.memberCount == 4)
        let list = try #require(root.find("ba")?.value)
        #expect(list.find("b") == nil, "a list has no members")
        #expect(list.memberCount == 0 && list.nameLengths == 0)
    }

    /// The reader looks at eight bytes at once, so each of them is tried, in strings that end with the text and before it.
    @Test(arguments: 0...24)
    func `finds a special character anywhere in a string`(length: Int) throws {
        for place in 0...length {
            let (head, tail) = (String(repeating: "a", count: place), String(repeating: "b", count: length - place))
            for (written, meant) in [(#"\""#, "\""), (#"\\"#, "\\"), ("é", "é"), ("\u{7F}", "\u{7F}"), ("😀", "😀")] {
                for end in ["", "                "] {
                    let document = try JSONDocument(Array("\"\(head)\(written)\(tail)\"\(end)".utf8))
                    #expect(document.root.string == head + meant + tail)
                }
            }
            for control in ["\u{1F}", "\n", "\0"] {
                let error = #expect(throws: JSONError.self) {
                    try JSONDocument(Array("\"\(head)\(control)\(tail)\"".utf8))
                }
                #expect(error?.kind == .controlCharacter)
                #expect(error?.offset == 1 + place)
            }
        }
    }

    @Test func `elements keep their order`() throws {
        let array = try #require(try member("a").array)
        #expect(array.map(\.kind) == [.number, .object, .null])
        #expect(array.count == 3)
        #expect(!array.isEmpty)
        #expect(try member("g").array?.isEmpty == true)
        #expect(try member("f").object?.isEmpty == true)
    }

    @Test func `a value of one kind is nothing else`() throws {
        let array = try member("a")
        #expect(array.object == nil && array.string == nil && array.stringBytes == nil && array.bool == nil)
        #expect(array.integer == nil && array.double == nil && !array.isNull)
        let string = try member("e")
        #expect(string.array == nil && string.bool == nil && string.double == nil && string.kind == .string)
        let bool = try member("dé/")
        #expect(bool.integer == nil && bool.string == nil && bool.kind == .boolean)
    }

    @Test func `a string is compared as bytes`() throws {
        let string = try member("e")
        #expect(string.string(equals: "plain"))
        #expect(!string.string(equals: "plai"))
        #expect(!string.string(equals: "plainer"))
        #expect(!string.string(equals: "plaid"))
        let escaped = try #require(try member("a").array?.dropFirst().first { _ in true }?.object?["b"])
        #expect(escaped.string(equals: "x\ny"))
        #expect(!escaped.string(equals: #"x\ny"#))
    }

    @Test func `a value knows its offset and its pointer`() throws {
        let inner = try #require(try member("a").array?.dropFirst().first { _ in true }?.object?["b"])
        #expect(inner.offset == 13)
        #expect(Array(inner.text) == Array(#""x\ny""#.utf8))
        #expect(inner.pointer == "/a/1/b")
        #expect(try member("dé/").pointer == "/dé~1")
        #expect(document.root.pointer.isEmpty)
    }

    @Test func `reports places as lines and columns`() throws {
        let text = Array("[1,\n  é, x]\r\n\r".utf8)
        let error = try #require(refusal(text))
        #expect(error.kind == .expectedValue)
        #expect(error.position(in: text) == (2, 3))
        let document = try JSONDocument(Array("[1,\r\n\"é\", 2,\r3]".utf8))
        let places = try #require(document.root.array).map { document.position(of: $0.offset) }
        #expect(places.map(\.line) == [1, 2, 2, 3])
        #expect(places.map(\.column) == [2, 1, 6, 1])
    }

    @Test func `an error is one sentence that cannot play tricks on a terminal`() throws {
        let error = try #require(refusal(Array("{\"\\u001b[2J\u{202E}é\":x}".utf8)))
        #expect(error.description == #"A value is expected (at /\u{1b}[2J\u{202e}é, byte 18)."#)
        for character in ["a", "\u{202E}", "\u{1F600}"] {
            let name = String(repeating: character, count: 500)
            #expect(try #require(refusal(Array("{\"\(name)\":x}".utf8))).description.utf8.count < 250)
        }
        #expect(refusal([])?.description == "There is no JSON value (at byte 0).")
    }
}
