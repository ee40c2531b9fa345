// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A JSON value as Foundation reads it, a second opinion on what the service writes.
enum Tree: Hashable, Sendable, Decodable {
    case null
    case boolean(Bool)
    case number(Double)
    case text(String)
    case array([Tree])
    case object([String: Tree])

    init(_ text: String) throws {
        self = try JSONDecoder().decode(Tree.self, from: Data(text.utf8))
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([Tree].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: Tree].self))
        }
    }

    /// The member of that name, or null where there is none.
    subscript(_ name: String) -> Tree {
        if case .object(let members) = self { members[name] ?? .null } else { .null }
    }

    /// The element at that index, or null where there is none.
    subscript(_ index: Int) -> Tree { elements.indices.contains(index) ? elements[index] : .null }

    var elements: [Tree] { if case .array(let elements) = self { elements } else { [] } }

    var names: Set<String> { if case .object(let members) = self { Set(members.keys) } else { [] } }

    var text: String? { if case .text(let text) = self { text } else { nil } }

    var double: Double? { if case .number(let number) = self { number } else { nil } }

    var integer: Int64? { if case .number(let number) = self { Int64(exactly: number) } else { nil } }
}
