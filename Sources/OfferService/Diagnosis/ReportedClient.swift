// SPDX-License-Identifier: Apache-2.0
import JSON

/// The client library of an app, as the app names it: what a failure may have in common with others.
package struct ReportedClient: Hashable, Sendable {
    package let library: String?
    package let version: String?
    package let os: String?
    /// 1 or 2.
    package let storeKit: Int64?

    /// How long each text may be.
    package static let mostBytes = 64

    /// Reads `{library, version, os, storeKit}`; `nil` if something in it is not as expected, which is noted.
    init?(_ value: JSONValue, into mismatches: Mismatches) {
        let before = mismatches.count
        var reader = ObjectReader(value, into: mismatches)
        let expected = "1 to \(Self.mostBytes) printable ASCII characters"
        library = reader.optional("library", expected, Self.text)
        version = reader.optional("version", expected, Self.text)
        os = reader.optional("os", expected, Self.text)
        storeKit = reader.optional("storeKit", "1 or 2") { $0.integer.flatMap { [1, 2].contains($0) ? $0 : nil } }
        reader.finish()
        guard mismatches.count == before else { return nil }
    }

    private static func text(_ value: JSONValue) -> String? {
        guard let text = value.string, (1...mostBytes).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        return text
    }
}
