// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestSupport
import Testing

struct SecretObjectTests {
    private func object(_ text: String) throws -> SecretObject { try SecretObject(secret(Array(text.utf8))) }

    @Test
    func `takes out the strings that are asked for, unescaped`() throws {
        let object = try object(
            #" { "a" : "x\n\r\t\b\f\"\\\/\u003d\u0041", "b":"", "n":-1.5e+3,"t":true,"z":null, "q": "ü" } "#
        )
        #expect(try object.text("a") == "x\n\r\t\u{8}\u{C}\"\\/=A")
        #expect(try object.secret("a")?.count == 11)
        #expect(try object.text("b") == "" && object.secret("b")?.count == 0)
        #expect(try object.text("c") == nil && object.secret("c") == nil)
        #expect(throws: SecretObjectError.notString(name: "n")) { try object.text("n") }
        #expect(throws: SecretObjectError.notString(name: "z")) { try object.secret("z") }
    }

    @Test
    func `ignores members that are not read, and refuses to read one that is not ASCII`() throws {
        let object = try object(#"{"a": "ä", "b": "\u00e4", "c": "\ud83d", "d": "plain"}"#)
        #expect(try object.text("d") == "plain")
        for name: StaticString in ["a", "b", "c"] {
            #expect(throws: SecretObjectError.notASCII) { try object.text(name) }
            #expect(throws: SecretObjectError.notASCII) { try object.secret(name) }
        }
    }

    @Test(arguments: [
        "", " ", "[]", "\"a\"", "{", "{\"a\"", "{\"a\":", "{\"a\":\"", "{\"a\":\"b", "{\"a\":\"b\"", "{\"a\":\"b\",}",
        "{\"a\":\"b\"}x", "{\"a\":\"b\"}{}", "{\"a\" \"b\"}", "{a:\"b\"}", "{'a':'b'}", "{\"a\":[]}", "{\"a\":{}}",
        "{\"a\":\"\\x\"}", "{\"a\":\"\\u12\"}", "{\"a\":\"\\u12G4\"}", "{\"a\":\"\\", "{\"a\":\"b\nc\"}",
        "{\"\\u0061\":\"b\"}", "{\"ä\":\"b\"}", "{\"a\":,\"b\":1}", "{\"a\":}", "\u{FEFF}{\"a\":\"b\"}",
    ])
    func `refuses what is no flat object`(text: String) throws {
        if text.isEmpty {
            #expect(throws: SecretObjectError.malformed(offset: 0)) { try object(text) }
        } else {
            let error = #expect(throws: SecretObjectError.self) { try object(text) }
            guard case .malformed(let offset) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect((0...text.utf8.count).contains(offset))
        }
    }

    @Test
    func `refuses a name that comes twice, an empty object, and very many members`() throws {
        #expect(throws: SecretObjectError.repeatedName) { try object(#"{"a":"1","b":"2","a":"3"}"#) }
        #expect(throws: SecretObjectError.empty) { try object(" { } ") }
        let many = (0..<65).map { "\"m\($0)\":1" }.joined(separator: ",")
        #expect(throws: SecretObjectError.self) { try object("{\(many)}") }
    }

    @Test
    func `cut anywhere, a service account's file is refused or lacks what was cut`() throws {
        let draft = ServiceAccountDraft(pem: Array("-----BEGIN PRIVATE KEY-----\nAAAA\n".utf8))
        for count in 0..<draft.bytes.count - 2 {
            #expect(throws: SecretObjectError.self) { try SecretObject(secret(Array(draft.bytes.prefix(count)))) }
        }
        #expect(try SecretObject(secret(draft.bytes)).secret("private_key")?.count == 33)
    }
}
