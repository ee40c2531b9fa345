// SPDX-License-Identifier: Apache-2.0

/// Members of objects, by the object's index.
extension Tape {
    /// How many members there are; counts them.
    func memberCount(of object: Int) -> Int {
        let nodes = nodes
        let end = Int(nodes[object].next)
        var (position, count) = (object + 1, 0)
        while position < end {
            position = Int(nodes[position + 1].next)
            count += 1
        }
        return count
    }

    /// The member with this name, compared as bytes: its place among the others, from 0, and the index of its value.
    @inline(__always)
    func member(of object: Int, _ name: Span<UInt8>) -> (place: Int, index: Int)? {
        let nodes = nodes
        let end = Int(nodes[object].next)
        var (position, place) = (object + 1, 0)
        while position < end {
            let node = nodes[position]
            // Lengths mostly differ, and are quickly compared.
            let mayMatch = node.kind != .string || Int(node.end &- node.start) == name.count + 2
            if mayMatch, content(of: node, equals: name) { return (place, position + 1) }
            position = Int(nodes[position + 1].next)
            place += 1
        }
        return nil
    }

    /// See ``JSONValue/nameLengths``.
    func nameLengths(of object: Int) -> UInt64 {
        let nodes = nodes
        let end = Int(nodes[object].next)
        var (position, lengths) = (object + 1, UInt64(0))
        while position < end {
            // One with escapes has to be unescaped to be counted, so it may be of any length.
            guard nodes[position].kind != .escapedString else { return .max }
            lengths |= 1 << UInt64(Swift.min(63, contentRange(of: nodes[position]).count))
            position = Int(nodes[position + 1].next)
        }
        return lengths
    }
}
