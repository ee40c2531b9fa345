// SPDX-License-Identifier: Apache-2.0

/// The members of an object, in the order in which they are written.
package struct JSONObject: Sendable, Sequence {
    let tape: Tape
    let index: Int

    /// How many members there are; counts them.
    package var count: Int {
        let nodes = tape.nodes
        let end = Int(nodes[index].next)
        var (position, count) = (index + 1, 0)
        while position < end {
            position = Int(nodes[position + 1].next)
            count += 1
        }
        return count
    }

    /// Whether there are no members.
    package var isEmpty: Bool { Int(tape.nodes[index].next) == index + 1 }

    /// Zero, so that copying the members does not count them first.
    package var underestimatedCount: Int { 0 }

    /// The value of the member with this name, compared as bytes.
    ///
    /// Looks at each member in turn, which for the handful of a request is quicker than a table.
    package subscript(name: String) -> JSONValue? {
        find(name.utf8.span)?.value
    }

    /// Like the subscript, with the member's place among the others, from 0.
    ///
    /// Named apart from the subscript, which takes every literal for a `String`.
    package func find(_ name: StaticString) -> (place: Int, value: JSONValue)? {
        unsafe find(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount).span)
    }

    @inline(__always)
    private func find(_ name: Span<UInt8>) -> (place: Int, value: JSONValue)? {
        let nodes = tape.nodes
        let end = Int(nodes[index].next)
        var (position, place) = (index + 1, 0)
        while position < end {
            let node = nodes[position]
            // Lengths mostly differ, and are quickly compared.
            let mayMatch = node.kind != .string || Int(node.end &- node.start) == name.count + 2
            if mayMatch, tape.content(of: node, equals: name) {
                return (place, JSONValue(tape: tape, index: position + 1))
            }
            position = Int(nodes[position + 1].next)
            place += 1
        }
        return nil
    }

    /// How long the names are, a bit for each length in bytes; those of 63 and more have one in common.
    ///
    /// It tells of most names that no member has them, without another look at the members.
    package var nameLengths: UInt64 {
        let nodes = tape.nodes
        let end = Int(nodes[index].next)
        var (position, lengths) = (index + 1, UInt64(0))
        while position < end {
            // One with escapes has to be unescaped to be counted, so it may be of any length.
            guard nodes[position].kind != .escapedString else { return .max }
            lengths |= 1 << UInt64(Swift.min(63, tape.contentRange(of: nodes[position]).count))
            position = Int(nodes[position + 1].next)
        }
        return lengths
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

    /// Bytes of the text before the name.
    package var nameOffset: Int { Int(tape.nodes[index].start) }

    /// What the name stands for.
    package var value: JSONValue { JSONValue(tape: tape, index: index + 1) }

    /// Compares the name as bytes; allocates only where it has escapes.
    package func isNamed(_ name: String) -> Bool { tape.content(of: tape.nodes[index], equals: name.utf8.span) }
}
