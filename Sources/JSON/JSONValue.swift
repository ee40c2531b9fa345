// SPDX-License-Identifier: Apache-2.0

/// What sort of thing a value is.
package enum JSONKind: String, Hashable, Sendable {
    case object, array, string, number, boolean, null
}

/// A view on one value of a document, which it keeps alive.
///
/// Each accessor gives nil for a value of another kind; nothing is ever converted from one kind to another.
package struct JSONValue: Sendable {
    let tape: Tape
    let index: Int

    private var node: Node { tape.nodes[index] }

    /// What sort of value this is.
    package var kind: JSONKind {
        switch node.kind {
        case .object: .object
        case .array: .array
        case .string, .escapedString, .identifier: .string
        case .integer, .fraction: .number
        case .true, .false: .boolean
        case .null: .null
        }
    }

    /// Bytes of the text before this value.
    package var offset: Int { Int(node.start) }

    /// The value as written, quotes and inner white space included.
    package var text: ArraySlice<UInt8> { tape.bytes[Int(node.start)..<Int(node.end)] }

    /// The RFC 6901 pointer to the value, found by walking the document; empty for the root.
    package var pointer: String { tape.pointer(to: index) }

    /// The members; nil unless this is an object.
    package var object: JSONObject? { node.kind == .object ? JSONObject(tape: tape, index: index) : nil }

    /// How many members an object has, 0 of anything else; counts them.
    package var memberCount: Int { node.kind == .object ? tape.memberCount(of: index) : 0 }

    /// An object's member of that name, with its place among the others, from 0; nil of anything else.
    package func find(_ name: StaticString) -> (place: Int, value: JSONValue)? {
        guard node.kind == .object else { return nil }
        let name = unsafe UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount).span
        return tape.member(of: index, name).map { ($0.place, JSONValue(tape: tape, index: $0.index)) }
    }

    /// The lengths of an object's member names, one bit for each length in bytes; lengths of 63 and more share a bit.
    ///
    /// For most absent names, it shows that no member has them, without another look at the members.
    package var nameLengths: UInt64 { node.kind == .object ? tape.nameLengths(of: index) : 0 }

    /// The elements; nil unless this is an array.
    package var array: JSONArray? { node.kind == .array ? JSONArray(tape: tape, index: index) : nil }

    /// The string, unescaped.
    package var string: String? {
        kind == .string ? String(decoding: tape.content(of: node), as: UTF8.self) : nil
    }

    /// The string's UTF-8, unescaped.
    package var stringBytes: [UInt8]? {
        kind == .string ? Array(tape.content(of: node)) : nil
    }

    /// The string's UTF-8, unescaped; a slice of the text if the string has no escapes.
    package var stringSlice: ArraySlice<UInt8>? {
        let node = node
        switch node.kind {
        case .string, .escapedString, .identifier: return tape.content(of: node)
        default: return nil
        }
    }

    /// Whether this is a string that says `text`, compared as bytes; allocates only where the string has escapes.
    package func string(equals text: String) -> Bool {
        kind == .string && tape.content(of: node, equals: text.utf8.span)
    }

    /// True or false; nil unless this is one of them.
    package var bool: Bool? {
        switch node.kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// Whether this is `null`.
    package var isNull: Bool { node.kind == .null }

    /// A number written as an integer that fits, and not as `1.0` or `1e3`.
    ///
    /// In configuration `+5` and `0x1F` are integers too.
    package var integer: Int64? {
        node.kind == .integer ? parsedInteger(text) : nil
    }

    /// Any number, rounded to the nearest double; nil also for one too large for a double.
    package var double: Double? {
        kind == .number ? parsedDouble(text) : nil
    }
}
