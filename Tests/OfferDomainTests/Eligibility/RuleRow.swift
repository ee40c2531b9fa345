// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

/// A rule, what is known, and the finding that must come of it at ``now``.
struct RuleRow: CustomTestStringConvertible {
    /// 2026-03-01T12:00:00Z, in the middle of a UTC day.
    static let now = Timestamp(milliseconds: 1_772_366_400_000)

    let rule: Rule
    let context: EvaluationContext
    let answer: Answer
    let code: FindingCode
    let because: String
    let nextEligibleAt: Timestamp?

    var testDescription: String { "\(rule.name): \(code.rawValue): \(because)" }

    init(
        _ rule: Rule,
        _ answer: Answer,
        _ code: FindingCode,
        _ because: String,
        next: Timestamp? = nil,
        where change: (inout EvaluationContext) -> Void = { _ in }
    ) {
        self.rule = rule
        self.context = .about(change)
        self.answer = answer
        self.code = code
        self.because = because
        nextEligibleAt = next
    }
}

extension EvaluationContext {
    /// A context of nothing but a customer's name and the instant, changed.
    static func about(_ change: (inout EvaluationContext) -> Void = { _ in }) -> EvaluationContext {
        var context = EvaluationContext(owners: .customer, now: RuleRow.now)
        change(&context)
        return context
    }
}

extension Fact {
    static func stated(_ value: Value) -> Fact { Fact(value, source: .statedByCaller, observedAt: RuleRow.now) }
}

extension Timestamp {
    /// `days` times 24 hours before ``RuleRow/now``.
    static func ago(days: Int) -> Timestamp { RuleRow.now.adding(days: -days) }
}

extension Refund {
    /// A refund of the whole price, `days` times 24 hours before ``RuleRow/now``.
    static func ago(days: Int) -> Refund { Refund(at: .ago(days: days)) }
}

/// An undecided finding's sentence, with what it asks for.
func asking(_ sentence: String, _ facts: String...) -> String {
    let names = facts.map { "facts.\($0)" }.joined(separator: " or ")
    return sentence
        + "; send signedTransactions or a transactionId (at Google Play, purchaseTokens), or as a backend \(names)"
}
