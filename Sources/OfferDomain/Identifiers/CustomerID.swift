// SPDX-License-Identifier: Apache-2.0

/// What the app's own backend calls a customer: a UUID, a SHA-256 in hexadecimal, or 1 to 64 bytes from 0x21 to 0x7E.
///
/// UUIDs and SHA-256 digests are held in lowercase, everything else as it was given.
package struct CustomerID: Hashable, Sendable, CustomStringConvertible {
    /// Folded to lowercase only where it is a UUID or a SHA-256.
    package let text: String

    /// Takes what a caller sent.
    package init(_ text: String) throws(IdentifierError) {
        try self.init(utf8: Array(text.utf8)[...])
    }

    /// Takes bytes as a request has them; all but ASCII is refused.
    package init(utf8 bytes: [UInt8]) throws(IdentifierError) {
        try self.init(utf8: bytes[...])
    }

    /// Takes bytes as a request has them; all but ASCII is refused.
    package init(utf8 bytes: ArraySlice<UInt8>) throws(IdentifierError) {
        try IdentifierShape.customerName.check(bytes.span)
        let ignoresCase = bytes.count == 64 && bytes.allSatisfy { $0.hexadecimalValue != nil }
        if ignoresCase || UniqueID(utf8: bytes.span) != nil {
            self.text = String(decoding: bytes.map(\.asciiLowercased), as: UTF8.self)
        } else {
            self.text = String(decoding: bytes, as: UTF8.self)
        }
    }

    /// The id itself, which is a customer's: not for logs.
    package var description: String { text }

    /// The form that caps are counted under; see ``CustomerIdentity/capBytes``.
    package var canonicalForCaps: [UInt8] { CustomerIdentity.folded(text) }
}
