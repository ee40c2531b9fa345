// SPDX-License-Identifier: Apache-2.0

/// One value or member name on the tape.
struct Node {
    enum Kind: UInt8 {
        case object, array
        /// Written between quotes; the second has escapes in it.
        case string, escapedString
        /// A member's name written without quotes.
        case identifier
        /// `-?(0|[1-9][0-9]*)`, or in configuration also with `+` or in hexadecimal.
        case integer
        /// Any other number.
        case fraction
        case `true`, `false`, null
    }

    var kind: Kind
    /// Where the text of the value starts, quotes and brackets included.
    var start: UInt32
    /// The byte after it.
    var end: UInt32
    /// The index on the tape of what follows this value and all that lies in it; 0 while it is being read.
    var next: UInt32

    var isFinished: Bool { next != 0 }
}

/// A text, and its values and names in the order in which they are written.
///
/// An object's node is followed by name, value, name, value …; an array's by its values. Names are compared in place,
/// and unescaped only when a caller asks.
final class Tape: Sendable {
    let bytes: [UInt8]
    let nodes: [Node]

    init(bytes: [UInt8], nodes: [Node]) {
        self.bytes = bytes
        self.nodes = nodes
    }

    /// The bytes between the quotes, as written.
    func contentRange(of node: Node) -> Range<Int> {
        let quote = node.kind == .identifier ? 0 : 1
        return Int(node.start) + quote..<Int(node.end) - quote
    }

    /// The bytes of a string or name, unescaped.
    func content(of node: Node) -> ArraySlice<UInt8> {
        let written = bytes[contentRange(of: node)]
        return node.kind == .escapedString ? unescaped(written)[...] : written
    }

    /// Whether a string or name says `text`, compared as bytes; allocates only for an escaped one.
    @inline(__always)
    func content(of node: Node, equals text: Span<UInt8>) -> Bool {
        let range = contentRange(of: node)
        guard node.kind != .escapedString else { return unescaped(bytes[range]).says(text) }
        guard range.count == text.count else { return false }
        for index in text.indices where bytes[range.lowerBound + index] != text[index] { return false }
        return true
    }
}

extension [UInt8] {
    fileprivate func says(_ text: Span<UInt8>) -> Bool {
        count == text.count && indices.allSatisfy { self[$0] == text[$0] }
    }
}
