// SPDX-License-Identifier: Apache-2.0

/// Reads one text, once, from front to back, and writes its tape.
///
/// A value's node is put on the tape when the value starts and finished when it ends; so wherever reading stops, the
/// unfinished nodes say where that was.
struct Reader {
    let bytes: [UInt8]
    let dialect: JSONDialect
    let limits: JSONLimits
    var position = 0
    private(set) var nodes: [Node] = []

    init(_ bytes: [UInt8], dialect: JSONDialect, limits: JSONLimits) {
        self.bytes = bytes
        self.dialect = dialect
        self.limits = limits
    }

    /// Reads the whole text: white space, one value, white space.
    mutating func readText() throws(Fault) {
        guard bytes.count <= limits.maximumBytes else {
            throw Fault(.tooManyBytes(limit: limits.maximumBytes), at: limits.maximumBytes)
        }
        if dialect == .strict, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { throw Fault(.byteOrderMark, at: 0) }
        // A member of a request takes about 30 bytes and 2 nodes; a guess that is too low costs another allocation.
        nodes.reserveCapacity(min(limits.maximumNodes, bytes.count / 10 + 8))
        try skipSpace()
        guard position < bytes.count else { throw Fault(.empty, at: position) }
        try readValue(depth: 0)
        try skipSpace()
        guard position == bytes.count else { throw Fault(.trailingText, at: position) }
    }

    private mutating func readValue(depth: Int) throws(Fault) {
        guard position < bytes.count else { throw Fault(.unexpectedEnd, at: position) }
        switch bytes[position] {
        case .doubleQuote:
            let index = try begin(.string)
            finish(index, as: try readString())
        case .openBrace:
            let index = try begin(.object)
            try readObject(index, depth: depth)
            finish(index, as: .object)
        case .openBracket:
            let index = try begin(.array)
            try readArray(depth: depth)
            finish(index, as: .array)
        default:
            let index = try begin(.null)
            finish(index, as: try readScalar())
        }
    }

    private mutating func readScalar() throws(Fault) -> Node.Kind {
        switch bytes[position] {
        case UInt8(ascii: "t"): return try readWord("true", as: .true)
        case UInt8(ascii: "f"): return try readWord("false", as: .false)
        case UInt8(ascii: "n"): return try readWord("null", as: .null)
        case .minus, .zero...UInt8(ascii: "9"): return try readNumber()
        case .singleQuote where dialect == .configuration: return try readString()
        case .plus where dialect == .configuration: return try readNumber()
        case .point where dialect == .configuration: return try readNumber()
        case UInt8(ascii: "N"), UInt8(ascii: "I"): throw Fault(isNotFinite ? .notFinite : .expectedValue, at: position)
        default: throw Fault(.expectedValue, at: position)
        }
    }

    private mutating func readWord(_ word: StaticString, as kind: Node.Kind) throws(Fault) -> Node.Kind {
        let start = position
        for byte in word.description.utf8 {
            guard position < bytes.count else { throw Fault(.unexpectedEnd, at: position) }
            guard bytes[position] == byte else { throw Fault(.expectedValue, at: start) }
            position += 1
        }
        return kind
    }

    private mutating func readArray(depth: Int) throws(Fault) {
        try enter(depth)
        var isEmpty = true
        try skipSpace()
        while !take(.closeBracket, unlessAfterComma: !isEmpty) {
            try readValue(depth: depth + 1)
            isEmpty = false
            if try takeCommaOrEnd(.closeBracket) { return }
        }
    }

    private mutating func readObject(_ object: Int, depth: Int) throws(Fault) {
        try enter(depth)
        var members = 0
        try skipSpace()
        while !take(.closeBrace, unlessAfterComma: members > 0) {
            try readName()
            try skipSpace()
            guard position < bytes.count else { throw Fault(.unexpectedEnd, at: position) }
            guard bytes[position] == .colon else { throw Fault(.expectedColon, at: position) }
            position += 1
            try skipSpace()
            try readValue(depth: depth + 1)
            members += 1
            if try takeCommaOrEnd(.closeBrace) { break }
        }
        try refuseRepeatedNames(in: object, members: members)
    }

    private mutating func readName() throws(Fault) {
        guard position < bytes.count else { throw Fault(.unexpectedEnd, at: position) }
        let byte = bytes[position]
        let start = position
        let kind: Node.Kind
        if byte == .doubleQuote || (dialect == .configuration && byte == .singleQuote) {
            kind = try readString()
        } else if dialect == .configuration, byte.startsIdentifier {
            kind = try readIdentifier()
        } else {
            throw Fault(.expectedName, at: position)
        }
        try append(Node(kind: kind, start: UInt32(start), end: UInt32(position), next: UInt32(nodes.count) + 1))
    }
}

/// The steps that arrays and objects have in common.
extension Reader {
    private mutating func enter(_ depth: Int) throws(Fault) {
        guard depth < limits.maximumDepth else { throw Fault(.tooDeep(limit: limits.maximumDepth), at: position) }
        position += 1
    }

    /// Takes the closing bracket of a container that is empty or, in configuration, has a comma at its end.
    private mutating func take(_ bracket: UInt8, unlessAfterComma isAfterComma: Bool) -> Bool {
        guard position < bytes.count, bytes[position] == bracket else { return false }
        guard !isAfterComma || dialect == .configuration else { return false }
        position += 1
        return true
    }

    /// After an element or member: true at the container's end, false when another may follow.
    private mutating func takeCommaOrEnd(_ bracket: UInt8) throws(Fault) -> Bool {
        try skipSpace()
        guard position < bytes.count else { throw Fault(.unexpectedEnd, at: position) }
        let byte = bytes[position]
        guard byte == .comma || byte == bracket else { throw Fault(.expectedCommaOrEnd, at: position) }
        position += 1
        if byte == bracket { return true }
        try skipSpace()
        return false
    }

    private mutating func begin(_ kind: Node.Kind) throws(Fault) -> Int {
        try append(Node(kind: kind, start: UInt32(position), end: 0, next: 0))
        return nodes.count - 1
    }

    private mutating func append(_ node: Node) throws(Fault) {
        guard nodes.count < limits.maximumNodes else {
            throw Fault(.tooManyNodes(limit: limits.maximumNodes), at: Int(node.start))
        }
        nodes.append(node)
    }

    private mutating func finish(_ index: Int, as kind: Node.Kind) {
        nodes[index] = Node(
            kind: kind,
            start: nodes[index].start,
            end: UInt32(truncatingIfNeeded: position),
            next: UInt32(truncatingIfNeeded: nodes.count)
        )
    }

    /// Takes the tape back to a name, so that an error's pointer ends with it.
    mutating func forgetNodes(after name: Int) {
        nodes.removeSubrange((name + 1)...)
    }
}
