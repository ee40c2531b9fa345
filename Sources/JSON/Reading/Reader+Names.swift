// SPDX-License-Identifier: Apache-2.0

extension Reader {
    /// Refuses an object in which a name comes twice, be it written differently.
    ///
    /// Names in order, as in canonical JSON, are compared with their neighbors; others, if few, each with each; many are put
    /// in a set, so that no text makes this quadratic.
    mutating func refuseRepeatedNames(in object: Int, members: Int) throws(Fault) {
        guard members > 1, !areInOrder(object),
            let name = members <= 16 ? repeatedAmongFew(object) : repeatedAmongMany(object)
        else { return }
        let offset = Int(nodes[name].start)
        forgetNodes(after: name)
        throw Fault(.repeatedName, at: offset)
    }

    /// Whether each name comes after the one before it; then none comes twice.
    private func areInOrder(_ object: Int) -> Bool {
        var name = object + 1
        guard nodes[name].kind == .string else { return false }
        while true {
            let next = Int(nodes[name + 1].next)
            guard next < nodes.count else { return true }
            guard nodes[next].kind == .string, isBefore(nodes[name], nodes[next]) else { return false }
            name = next
        }
    }

    /// Whether one name without escapes comes before another, compared as bytes.
    private func isBefore(_ one: Node, _ other: Node) -> Bool {
        // Between the quotes.
        var (index, otherIndex) = (Int(one.start) + 1, Int(other.start) + 1)
        while index < Int(one.end) - 1, otherIndex < Int(other.end) - 1 {
            if bytes[index] != bytes[otherIndex] { return bytes[index] < bytes[otherIndex] }
            (index, otherIndex) = (index + 1, otherIndex + 1)
        }
        return index == Int(one.end) - 1 && otherIndex < Int(other.end) - 1
    }

    private func repeatedAmongFew(_ object: Int) -> Int? {
        var name = object + 1
        while name < nodes.count {
            var earlier = object + 1
            while earlier < name {
                if isSame(nodes[earlier], nodes[name]) { return name }
                earlier = Int(nodes[earlier + 1].next)
            }
            name = Int(nodes[name + 1].next)
        }
        return nil
    }

    private func repeatedAmongMany(_ object: Int) -> Int? {
        let tape = Tape(bytes: bytes, nodes: [])
        var seen: Set<ArraySlice<UInt8>> = []
        var name = object + 1
        while name < nodes.count {
            guard seen.insert(tape.content(of: nodes[name])).inserted else { return name }
            name = Int(nodes[name + 1].next)
        }
        return nil
    }

    private func isSame(_ one: Node, _ other: Node) -> Bool {
        guard one.kind == .string, other.kind == .string else {
            let tape = Tape(bytes: bytes, nodes: [])
            return tape.content(of: one) == tape.content(of: other)
        }
        guard one.end - one.start == other.end - other.start else { return false }
        let distance = Int(other.start) - Int(one.start)
        // Without the quotes, because there are two kinds of them.
        let content = Int(one.start) + 1..<Int(one.end) - 1
        for index in content where bytes[index] != bytes[index + distance] { return false }
        return true
    }
}
