// SPDX-License-Identifier: Apache-2.0

/// A value of a member in JSON, written as a literal; `.null` takes a member away.
package enum FakeValue: Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int)
    case number(Double)
    case text(String)
    case array([FakeValue])
    case object([String: FakeValue])
}

/// Members of an object, by their names.
package typealias FakeMembers = [String: FakeValue]

extension FakeValue: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }
}

extension FakeValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(floatLiteral value: Double) { self = .number(value) }
}

extension FakeValue: ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    package init(stringLiteral value: String) { self = .text(value) }
    package init(arrayLiteral elements: FakeValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, FakeValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}
