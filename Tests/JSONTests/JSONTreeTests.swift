// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

/// Values that are put together and then written.
struct JSONTreeTests {
    static let rows: [(tree: JSONTree, json: String)] = [
        (.null, "null"), (.boolean(true), "true"), (.integer(-7), "-7"), (.text("a \"b\"\n"), #""a \"b\"\n""#),
        ([], "[]"), (.object([]), "{}"), (.texts(["b", "a"]), #"["b","a"]"#),
        (
            ["z": .integer(1), "a": .null, "left out": nil, "m": [.integer(1), ["k": .text("v")]]],
            #"{"z":1,"a":null,"m":[1,{"k":"v"}]}"#
        ),
        (["entry": .written(Array(#"{"v":1}"#.utf8)), "n": .integer(2)], #"{"entry":{"v":1},"n":2}"#),
        (.object([("a\"b", .integer(Int64.min))]), #"{"a\"b":-9223372036854775808}"#),
    ]

    @Test(arguments: rows.indices) func `writes members in their order, and leaves out those that are nil`(row: Int) {
        #expect(String(decoding: Self.rows[row].tree.bytes, as: UTF8.self) == Self.rows[row].json)
    }

    @Test func `writes a value that was read without spaces, with members in the order of their names`() throws {
        let text = #"{ "b" : [1.50, "\u0061", {"y": null, "x": true}], "a": 2e3, "é": "\n" }"#
        var writer = JSONWriter()
        writer.value(try JSONDocument(Array(text.utf8)).root)
        #expect(
            String(decoding: writer.bytes, as: UTF8.self) == #"{"a":2e3,"b":[1.50,"a",{"x":true,"y":null}],"é":"\n"}"#
        )
    }
}
