// SPDX-License-Identifier: Apache-2.0
import JSON

/// A document's values, copied out whole, so that tests can compare them.
enum Tree: Hashable, Sendable {
    case object([Member])
    case array([Tree])
    case string([UInt8])
    case number(Double?, integer: Int64?)
    case boolean(Bool)
    case null

    struct Member: Hashable, Sendable {
        let name: String
        let value: Tree

        init(_ name: String, _ value: Tree) {
            (self.name, self.value) = (name, value)
        }
    }

    static func text(_ text: String) -> Tree { .string(Array(text.utf8)) }

    static func integer(_ value: Int64) -> Tree { .number(Double(value), integer: value) }

    static func fraction(_ value: Double) -> Tree { .number(value, integer: nil) }
}

extension Tree {
    init(_ value: JSONValue) {
        if let object = value.object {
            self = .object(object.map { Member($0.name, Tree($0.value)) })
        } else if let array = value.array {
            self = .array(array.map(Tree.init))
        } else if let bytes = value.stringBytes {
            self = .string(bytes)
        } else if let bool = value.bool {
            self = .boolean(bool)
        } else if value.isNull {
            self = .null
        } else {
            self = .number(value.double, integer: value.integer)
        }
    }

    func write(to writer: inout JSONWriter) {
        switch self {
        case .object(let members):
            writer.beginObject()
            for member in members {
                writer.name(text: member.name)
                member.value.write(to: &writer)
            }
            writer.endObject()
        case .array(let elements):
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        case .string(let bytes): writer.string(utf8: bytes)
        case .number(_, .some(let integer)): writer.integer(integer)
        case .number(let double, nil): writer.number(double ?? 0)
        case .boolean(let value): writer.boolean(value)
        case .null: writer.null()
        }
    }
}

/// Limits that no test text reaches.
let generous = JSONLimits(maximumBytes: 1_000_000, maximumDepth: 200, maximumNodes: 100_000)

/// Reads a text into a tree.
func tree(_ text: String, _ dialect: JSONDialect = .strict) throws(JSONError) -> Tree {
    Tree(try JSONDocument(Array(text.utf8), dialect: dialect, limits: generous).root)
}

/// The error with which a text is refused; nil when it is accepted.
func refusal(_ text: [UInt8], _ dialect: JSONDialect = .strict, _ limits: JSONLimits = generous) -> JSONError? {
    do {
        _ = try JSONDocument(text, dialect: dialect, limits: limits)
        return nil
    } catch {
        return error
    }
}

/// A generator that gives the same numbers in every run (xorshift64*).
struct RepeatableGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed | 1
    }

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }
}
