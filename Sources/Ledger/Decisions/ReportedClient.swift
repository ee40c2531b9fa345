// SPDX-License-Identifier: Apache-2.0
import Configuration
package import JSON

/// The client library of an app, as the app names it: what a failure may have in common with others.
package struct ReportedClient: Hashable, Sendable {
    /// The library's name, such as an SDK's.
    package let library: String?
    /// The library's version.
    package let version: String?
    /// The operating system and its version.
    package let os: String?
    /// 1 or 2.
    package let storeKit: Int64?

    /// How long each text may be.
    package static let mostBytes = 64

    /// Reads `{library, version, os, storeKit}`; `nil` if something in it is not as expected, which is noted.
    package init?(_ value: JSONValue, into mismatches: Mismatches) {
        let before = mismatches.count
        var reader = ObjectReader(value, into: mismatches)
        let expected = "1 to \(Self.mostBytes) printable ASCII characters"
        library = reader.optional("library", "\(expected), other than \(CallerID.retention)") { value in
            Self.text(value).flatMap { $0 == CallerID.retention.text ? nil : $0 }
        }
        version = reader.optional("version", expected, as: Self.text)
        os = reader.optional("os", expected, as: Self.text)
        storeKit = reader.optional("storeKit", "1 or 2") { $0.integer.flatMap { [1, 2].contains($0) ? $0 : nil } }
        reader.finish()
        guard mismatches.count == before else { return nil }
    }

    /// An SDK that names itself in header fields of its own; what is not as expected is left out.
    package init(library: String, version: ArraySlice<UInt8>?, os: [ArraySlice<UInt8>?], storeKit: Int64? = nil) {
        self.library = library
        self.version = version.flatMap { Self.accepted(String(decoding: $0, as: UTF8.self)) }
        let system = os.compactMap(\.self).map { String(decoding: $0, as: UTF8.self) }
        self.os = Self.accepted(system.joined(separator: " "))
        self.storeKit = storeKit
    }

    /// The client of retention offers: the App Store.
    package static let appStoreRetention = ReportedClient(library: CallerID.retention.text, version: nil, os: [])

    /// The same as the record of a signature has it; `nil` if the record has none.
    init?(recorded object: JSONObject?) {
        guard let object else { return nil }
        library = object["library"]?.string
        version = object["version"]?.string
        os = object["os"]?.string
        storeKit = object["storeKit"]?.integer
    }

    /// Library and version, as metrics and findings name them; `nil` if neither is known.
    package var name: String? {
        let parts = [library, version].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    private static func text(_ value: JSONValue) -> String? { value.string.flatMap(accepted) }

    private static func accepted(_ text: String) -> String? {
        guard (1...mostBytes).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        return text
    }
}
