// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

@Suite("An unknown member")
struct UnknownMemberTests {
    @Test
    func `is reported with each known name once`() throws {
        let document = try JSONDocument(Array(#"{"bundle":"a","bundleId":"b"}"#.utf8))
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        _ = reader.required("bundleId", "a string", as: \.string)
        _ = reader.optional("status", "a string", as: \.string)
        reader.finish()
        #expect(
            mismatches.all.map(\.message) == [
                "is not a known member; did you mean “bundleId”? (known: bundleId, status)"
            ]
        )
    }

    @Test
    func `is reported with the hint that the object has no known members`() throws {
        let mismatches = Mismatches()
        ObjectReader(try JSONDocument(Array(#"{"x":1}"#.utf8)).root, into: mismatches).finish()
        #expect(mismatches.all.map(\.message) == ["is not a known member (there is none here)"])
    }

    @Test(arguments: [20, 21, 100])
    func `is reported up to twenty times per object, and then only counted`(count: Int) throws {
        let members = (0..<count).map { #""unheard\#($0)":0"# }.joined(separator: ",")
        let document = try JSONDocument(Array(#"{"known":1,\#(members)}"#.utf8))
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        _ = reader.required("known", "an integer", as: \.integer)
        reader.finish()
        let named = mismatches.all.filter { $0.message.contains("is not a known member") }
        #expect(named.map(\.pointer) == (0..<20).map { "/unheard\($0)" })
        let rest = mismatches.all.dropFirst(20)
        #expect(rest.map(\.pointer) == (count > 20 ? [""] : []))
        #expect(rest.map(\.message) == (count > 20 ? ["has \(count - 20) more members that are not known"] : []))
    }
}
