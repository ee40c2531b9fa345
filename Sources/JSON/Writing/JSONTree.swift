// SPDX-License-Identifier: Apache-2.0

/// A JSON value that is put together first and written then; for answers that are not on the way of a signature.
///
/// Literals stand for objects and arrays: `["size": .integer(3), "names": .texts(names), "end": end.map { .text($0) }]`.
package enum JSONTree: Sendable {
    /// Members in the order in which they are written.
    case object([(name: String, value: JSONTree)])
    case array([JSONTree])
    case text(String)
    case integer(Int64)
    case boolean(Bool)
    case null
    /// A value that is written already.
    case written([UInt8])

    /// An array of strings.
    package static func texts(_ texts: some Sequence<String>) -> JSONTree { .array(texts.map { .text($0) }) }

    /// A whole number.
    package static func integer(_ value: Int) -> JSONTree { .integer(Int64(value)) }

    /// The value as UTF-8, without spaces.
    package var bytes: [UInt8] {
        var writer = JSONWriter(reserving: 1024)
        writer.value(self)
        return writer.bytes
    }
}

extension JSONTree: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// Leaves out each member whose value is nil; ``null`` is written.
    package init(dictionaryLiteral members: (String, JSONTree?)...) {
        self = .object(members.compactMap { name, value in value.map { (name, $0) } })
    }

    package init(arrayLiteral elements: JSONTree...) { self = .array(elements) }
}

extension JSONWriter {
    /// Writes a value that was put together.
    package mutating func value(_ tree: JSONTree) {
        switch tree {
        case .object(let members):
            beginObject()
            for member in members {
                name(text: member.name)
                value(member.value)
            }
            endObject()
        case .array(let elements):
            beginArray()
            for element in elements { value(element) }
            endArray()
        case .text(let text): string(text)
        case .integer(let number): integer(number)
        case .boolean(let isTrue): boolean(isTrue)
        case .null: null()
        case .written(let bytes): self.value(json: bytes)
        }
    }
}
