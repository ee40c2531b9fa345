// SPDX-License-Identifier: Apache-2.0

/// The elements of an array.
package struct JSONArray: Sendable, Sequence {
    let tape: Tape
    let index: Int

    /// How many elements there are; counts them.
    package var count: Int {
        let nodes = tape.nodes
        let end = Int(nodes[index].next)
        var (position, count) = (index + 1, 0)
        while position < end {
            position = Int(nodes[position].next)
            count += 1
        }
        return count
    }

    /// Whether there are no elements.
    package var isEmpty: Bool { Int(tape.nodes[index].next) == index + 1 }

    /// Zero, so that copying the elements does not count them first.
    package var underestimatedCount: Int { 0 }

    /// Walks the elements from the first.
    package func makeIterator() -> Iterator {
        Iterator(tape: tape, position: index + 1, end: Int(tape.nodes[index].next))
    }

    /// Walks the elements.
    package struct Iterator: IteratorProtocol {
        let tape: Tape
        var position: Int
        let end: Int

        /// The next element; nil after the last.
        package mutating func next() -> JSONValue? {
            guard position < end else { return nil }
            defer { position = Int(tape.nodes[position].next) }
            return JSONValue(tape: tape, index: position)
        }
    }
}
