// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferService
import Testing

@Suite("A member that nobody asked for")
struct UnknownMemberTests {
    @Test
    func `is told with each known name once`() throws {
        let document = try JSONDocument(Array(#"{"bundle":"a","bundleId":"b"}"#.utf8))
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        _ = reader.required("bundleId", "a string", \.string)
        _ = reader.optional("status", "a string", \.string)
        reader.finish()
        #expect(
            mismatches.all.map(\.message) == [
                "is not a known member; did you mean “bundleId”? (known: bundleId, status)"
            ]
        )
    }
}
