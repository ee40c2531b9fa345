// SPDX-License-Identifier: Apache-2.0

/// A form of customer id that can't be guessed if it is made at random, or with a key.
package enum CustomerIDForm: String, CaseIterable, Hashable, Sendable, CustomStringConvertible {
    case uuid, sha256, ulid

    /// What an error message tells the caller to send.
    package var description: String {
        switch self {
        case .uuid: "a UUID with its hyphens"
        case .sha256: "64 hexadecimal digits"
        case .ulid: "a ULID (26 of Crockford's Base32 digits)"
        }
    }

    /// Whether the id has this form.
    package func admits(_ id: CustomerID) -> Bool {
        let bytes = Array(id.text.utf8)
        return switch self {
        case .uuid: UniqueID(utf8: bytes.span) != nil
        case .sha256: bytes.count == 64 && bytes.allSatisfy { $0.hexadecimalValue != nil }
        case .ulid: bytes.count == 26 && bytes[0] <= 0x37 && bytes.allSatisfy(Self.crockfordDigits.contains)
        }
    }

    private static let crockfordDigits = Set("0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz".utf8)
}
