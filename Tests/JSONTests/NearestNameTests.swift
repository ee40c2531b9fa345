// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

/// Which name is suggested for a misspelt one.
@Suite struct NearestNameTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        let suggestion: String?

        init(_ name: String, _ suggestion: String?) {
            (self.name, self.suggestion) = (name, suggestion)
        }

        var testDescription: String { name }
    }

    static let names = ["bundleId", "productId", "offerId", "status", "formats", "id", "lapsed"]

    static let rows = [
        Row("bundleID", "bundleId"),
        Row("bundelId", "bundleId"),
        Row("bundle_id", "bundleId"),
        Row("prodcutId", "productId"),
        Row("format", "formats"),
        Row("Status", "status"),
        Row("sttaus", "status"),
        Row("oferId", "offerId"),
        Row("di", "id"),
        Row("lpased", "lapsed"),
        Row("", nil),
        Row("xyz", nil),
        Row("colour", nil),
        Row("sxyzus", nil),
        Row("attributes", nil),
        Row(String(repeating: "status", count: 20), nil),
    ]

    @Test(arguments: rows)
    func `a misspelt name suggests the one that was meant`(row: Row) {
        #expect(nearest(to: row.name, among: Self.names) == row.suggestion)
    }

    @Test func `of equally near names the earlier is suggested`() {
        #expect(nearest(to: "cat", among: ["bat", "hat"]) == "bat")
        #expect(nearest(to: "cat", among: []) == nil)
    }
}
