// SPDX-License-Identifier: Apache-2.0

/// The members of an object, in the order in which they are written.
package struct JSONObject: Sendable, Sequence {
    let tape: Tape
    let index: Int

    /// How many members there are; counts them.
    package var count: Int { tape.memberCount(of: index) }

    /// Whether there are no members.
    package var isEmpty: Bool { Int(tape.nodes[index].next) == index + 1 }

    /// Zero, so that copying the members does not count them first.
    package var underestimatedCount: Int { 0 }

    /// The value of the member with this name, compared as bytes.
    ///
    /// Looks at each member in turn, which for the handful of a request is quicker than a table.
    package subscript(name: String) -> JSONValue? {
        tape.member(of: index, name.utf8.span).map { JSONValue(tape: tape, index: $0.index) }
    }

    /// Walks the members from the first.
    package func makeIterator() -> Iterator {
        Iterator(tape: tape, position: index + 1, end: Int(tape.nodes[index].next))
    }

    /// Walks the members.
    package struct Iterator: IteratorProtocol {
        let tape: Tape
        var position: Int
        let end: Int

        /// The next member; nil after the last.
        package mutating func next() -> JSONMember? {
            guard position < end else { return nil }
            defer { position = Int(tape.nodes[position + 1].next) }
            return JSONMember(tape: tape, index: position)
        }
    }
}

/// One name of an object and its value.
package struct JSONMember: Sendable {
    let tape: Tape
    let index: Int

    /// The name, unescaped.
    package var name: String { String(decoding: tape.content(of: tape.nodes[index]), as: UTF8.self) }

    /// The name's UTF-8, unescaped.
    package var nameBytes: [UInt8] { Array(tape.content(of: tape.nodes[index])) }

    /// How many bytes of UTF-8 the name has, unescaped; counted from the text unless it has escapes.
    package var nameLength: Int {
        let node = tape.nodes[index]
        return node.kind == .escapedString ? tape.content(of: node).count : tape.contentRange(of: node).count
    }

    /// The member's value.
    package var value: JSONValue { JSONValue(tape: tape, index: index + 1) }

    /// Compares the name as bytes; allocates only where it has escapes.
    package func isNamed(_ name: String) -> Bool { tape.content(of: tape.nodes[index], equals: name.utf8.span) }
}
