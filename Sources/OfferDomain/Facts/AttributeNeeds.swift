// SPDX-License-Identifier: Apache-2.0

/// Which attributes some rules read, and what their values may be.
package struct AttributeNeeds: Hashable, Sendable {
    private var tests: [String: [AttributeTest]] = [:]

    /// What all of these rules read.
    package init(_ rules: [Rule]) {
        for rule in rules { add(rule) }
    }

    /// In the order of their bytes.
    package var names: [String] { tests.keys.sorted() }

    /// Why no rule can use the value: no rule reads the attribute, or each needs another type; `nil` if one can.
    package func fault(of entry: Attributes.Entry) -> AttributeUseFault? {
        guard let tests = tests[entry.name] else { return .unread }
        if tests.contains(where: { $0.admits(entry.value) != nil }) { return nil }
        return .otherType(AttributeType.allCases.filter { type in tests.contains { $0.types.contains(type) } })
    }

    private mutating func add(_ rule: Rule) {
        switch rule {
        case .all(let rules), .any(let rules): for rule in rules { add(rule) }
        case .not(let rule): add(rule)
        case .attribute(let name, let test): tests[name, default: []].append(test)
        default: break
        }
    }
}

/// Why an attribute is of no use to any rule.
package enum AttributeUseFault: Hashable, Sendable {
    case unread
    /// The types that rules ask for.
    case otherType([AttributeType])
}

/// What sort of value an attribute has.
package enum AttributeType: CaseIterable, Hashable, Sendable {
    case boolean, number, text

    /// With its article, for messages.
    package var noun: String {
        switch self {
        case .boolean: "true or false"
        case .number: "a number"
        case .text: "a string"
        }
    }
}

extension AttributeValue {
    fileprivate var type: AttributeType {
        switch self {
        case .boolean: .boolean
        case .number: .number
        case .text: .text
        }
    }
}

extension AttributeTest {
    /// The types that the test can judge.
    fileprivate var types: Set<AttributeType> {
        switch self {
        case .equals(let value): [value.type]
        case .isIn(let values): Set(values.map(\.type))
        case .range: [.number]
        case .exists: Set(AttributeType.allCases)
        }
    }
}

extension Attributes {
    /// These attributes, plus the wanted ones among `others` that these do not have.
    package func filled(from others: Attributes, names: [String]) -> Attributes {
        let more = others.entries.filter { names.contains($0.name) && self[$0.name] == nil }
        return more.isEmpty ? self : Attributes(merging: entries + more)
    }
}
