// SPDX-License-Identifier: Apache-2.0

/// An app's name of a customer before login: 1 to 64 bytes from 0x21 to 0x7E, held in lowercase.
///
/// SDKs make one for each installation, mostly a UUID; it does not prove who sends it.
package struct AnonymousID: Hashable, Sendable, CustomStringConvertible {
    /// In lowercase.
    package let text: String

    /// Takes what an app sent, and folds it to lowercase.
    package init(_ text: String) throws(IdentifierError) {
        try self.init(utf8: Array(text.utf8)[...])
    }

    /// Takes bytes from a request; it refuses everything except ASCII.
    package init(utf8 bytes: [UInt8]) throws(IdentifierError) {
        try self.init(utf8: bytes[...])
    }

    /// Takes bytes from a request; it refuses everything except ASCII.
    package init(utf8 bytes: ArraySlice<UInt8>) throws(IdentifierError) {
        try IdentifierShape.customerName.check(bytes.span)
        text = String(decoding: bytes.map(\.asciiLowercased), as: UTF8.self)
    }

    /// The id itself, which is a customer's: not for logs.
    package var description: String { text }
}
