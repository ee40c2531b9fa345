// SPDX-License-Identifier: Apache-2.0

extension Tree {
    /// The value as JSON; whole numbers without a fraction, members in the order of their names.
    var json: String {
        switch self {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .number(let value): Int64(exactly: value).map { "\($0)" } ?? "\(value)"
        case .text(let text): "\"\(text)\""
        case .array(let elements): "[\(elements.map(\.json).joined(separator: ","))]"
        case .object(let members):
            "{"
                + members.sorted { $0.key < $1.key }.map { "\"\($0)\":\($1.json)" }.joined(separator: ",") + "}"
        }
    }

    /// The pointer of each member of each object in it, however deep.
    var memberPointers: [String] {
        switch self {
        case .object(let members):
            members.sorted { $0.key < $1.key }.flatMap { name, value in
                ["/\(name)"] + value.memberPointers.map { "/\(name)\($0)" }
            }
        case .array(let elements):
            elements.enumerated().flatMap { index, value in value.memberPointers.map { "/\(index)\($0)" } }
        default: []
        }
    }

    /// The pointer of each object in it, itself included.
    var objectPointers: [String] {
        switch self {
        case .object(let members):
            [""]
                + members.sorted { $0.key < $1.key }.flatMap { name, value in
                    value.objectPointers.map { "/\(name)\($0)" }
                }
        case .array(let elements):
            elements.enumerated().flatMap { index, value in value.objectPointers.map { "/\(index)\($0)" } }
        default: []
        }
    }

    /// A copy with another value at `pointer`; the parent must exist, `nil` removes a member or element, and an index
    /// one past the last adds an element.
    func with(_ value: Tree?, at pointer: String) -> Tree {
        guard !pointer.isEmpty else { return value ?? .null }
        let steps = pointer.dropFirst().split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let (name, rest) = (String(steps[0]), steps.count > 1 ? "/\(steps[1])" : "")
        switch self {
        case .object(var members):
            members[name] = rest.isEmpty ? value : members[name]?.with(value, at: rest)
            return .object(members)
        case .array(var elements):
            guard let index = Int(name) else { return self }
            if index == elements.count, let value { return .array(elements + [value]) }
            if rest.isEmpty, value == nil {
                elements.remove(at: index)
            } else {
                elements[index] = elements[index].with(value, at: rest)
            }
            return .array(elements)
        default: return self
        }
    }
}
