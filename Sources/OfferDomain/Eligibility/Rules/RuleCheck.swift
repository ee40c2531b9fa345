// SPDX-License-Identifier: Apache-2.0

/// The checks of one rule's parameters; each gives the issues it finds.
struct RuleCheck {
    /// Where the rule is, its own name included.
    let pointer: String

    init(parent: String, rule: String) {
        pointer = "\(parent)/\(rule)"
    }

    func when(_ isWrong: Bool, _ kind: RuleIssue.Kind, at member: String = "") -> [RuleIssue] {
        isWrong ? [RuleIssue(pointer: pointer + member, kind: kind)] : []
    }

    func number(_ number: Int, _ member: String, least: Int, limit: Int = 1_000_000_000) -> [RuleIssue] {
        if number < 0 { return when(true, .negative(number), at: member) }
        if number > limit { return when(true, .tooLarge(number, limit: limit), at: member) }
        return when(number < least, .zero, at: member)
    }

    func days(_ days: Int?, _ member: String, least: Int = 1) -> [RuleIssue] {
        days.map { number($0, member, least: least, limit: 36_500) } ?? []
    }

    func percent(_ percent: Int?, _ member: String) -> [RuleIssue] {
        percent.map { number($0, member, least: 1, limit: 100) } ?? []
    }

    func bounds<Bound: Comparable>(_ lower: Bound?, _ upper: Bound?) -> [RuleIssue] {
        guard let lower, let upper else { return when(lower == nil && upper == nil, .unbounded) }
        return when(lower > upper, .reversed)
    }

    func list(_ items: [String], _ member: String = "", mayRepeat: Bool = false) -> [RuleIssue] {
        guard !items.isEmpty else { return when(true, .empty, at: member) }
        guard !mayRepeat else { return [] }
        var seen: Set<String> = []
        return items.filter { !seen.insert($0).inserted }.flatMap { when(true, .repeated($0), at: member) }
    }

    func test(_ test: AttributeTest) -> [RuleIssue] {
        switch test {
        case .equals(let value): fault(of: value, "/equals")
        case .isIn(let values): when(values.isEmpty, .empty, at: "/in") + values.flatMap { fault(of: $0, "/in") }
        case .range(let atLeast, let atMost):
            fault(of: .number(atLeast ?? 0), "/atLeast") + fault(of: .number(atMost ?? 0), "/atMost")
                + bounds(atLeast, atMost)
        case .exists: []
        }
    }

    private func fault(of value: AttributeValue, _ member: String) -> [RuleIssue] {
        value.fault.map { [RuleIssue(pointer: pointer + member, kind: .unfitAttributeValue($0))] } ?? []
    }
}
