// SPDX-License-Identifier: Apache-2.0

/// A name that a store or the catalog gave to one of its things: an app, a product, an offer, a key.
///
/// Apple joins such names with U+2063 before they are signed, so a name that held one could pass for two. What a
/// name may hold is an allow-list of ASCII bytes, checked here once; code that has an `Identifier` need not think of
/// it again. Letter case counts.
package struct Identifier<Kind: IdentifierKind>: Hashable, Sendable, CustomStringConvertible {
    /// The name, ASCII only.
    package let text: String

    /// Checks a name against the shape of its kind.
    package init(_ text: String) throws(IdentifierError) {
        try Kind.shape.check(text.utf8.span)
        self.text = text
    }

    /// Checks a name against the shape of its kind; all but ASCII is refused.
    package init(utf8 bytes: [UInt8]) throws(IdentifierError) {
        try self.init(utf8: bytes[...])
    }

    /// Checks a name against the shape of its kind; all but ASCII is refused.
    package init(utf8 bytes: ArraySlice<UInt8>) throws(IdentifierError) {
        try Kind.shape.check(bytes.span)
        self.text = String(decoding: bytes, as: UTF8.self)
    }

    /// What another kind has checked already, and checked no less.
    init(checked text: String) {
        self.text = text
    }

    /// The name itself.
    package var description: String { text }
}

/// What an ``Identifier`` names, and what it may consist of.
package protocol IdentifierKind: Sendable {
    static var shape: IdentifierShape { get }
}
