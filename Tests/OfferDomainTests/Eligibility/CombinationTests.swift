// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

struct CombinationTests {
    /// Rules that are met, not met and undecided whatever is known.
    static func rule(_ answer: Answer) -> Rule {
        switch answer {
        case .met: .window(from: RuleRow.now, until: nil)
        case .notMet: .window(from: nil, until: RuleRow.now)
        case .undecided: .subscribedBefore(true)
        }
    }

    @Test(arguments: [
        (Answer.met, Answer.met, Answer.met, Answer.met), (.met, .notMet, .notMet, .met),
        (.met, .undecided, .undecided, .met),
        (.notMet, .met, .notMet, .met), (.notMet, .notMet, .notMet, .notMet),
        (.notMet, .undecided, .notMet, .undecided),
        (.undecided, .met, .undecided, .met), (.undecided, .notMet, .notMet, .undecided),
        (.undecided, .undecided, .undecided, .undecided),
    ])
    func `combines two answers as Kleene does`(one: Answer, other: Answer, all: Answer, any: Answer) {
        let rules = [CombinationTests.rule(one), CombinationTests.rule(other)]
        let context = EvaluationContext.about()
        #expect(rules.map { $0.evaluate(in: context).answer } == [one, other])
        let allFinding = Rule.all(rules).evaluate(in: context)
        let anyFinding = Rule.any(rules).evaluate(in: context)
        #expect(allFinding.answer == all)
        #expect(anyFinding.answer == any)
        #expect(allFinding.code.rawValue == "all-" + suffix(all))
        #expect(anyFinding.code.rawValue == "any-" + suffix(any))
        #expect(allFinding.children.map(\.answer) == [one, other])
        #expect(anyFinding.children.map(\.answer) == [one, other])
    }

    private func suffix(_ answer: Answer) -> String {
        switch answer {
        case .met: "met"
        case .notMet: "not-met"
        case .undecided: "undecided"
        }
    }

    @Test(arguments: [
        (Answer.met, Answer.notMet, FindingCode.notNotMet), (.notMet, .met, .notMet),
        (.undecided, .undecided, .notUndecided),
    ])
    func `turns an answer round and leaves the undecided`(inner: Answer, outer: Answer, code: FindingCode) {
        let finding = Rule.not(CombinationTests.rule(inner)).evaluate(in: .about())
        #expect(finding.answer == outer)
        #expect(finding.code == code)
        let opposite = "the opposite of what follows"
        let undecided = ", which is undecided; send what that asks for"
        #expect(finding.because == opposite + (outer == .undecided ? undecided : ""))
        #expect(finding.children.map(\.answer) == [inner])
    }

    @Test
    func `says what a combination comes to`() {
        func because(_ rule: Rule) -> String { rule.evaluate(in: .about()).because }
        let (met, notMet, undecided) = (Self.rule(.met), Self.rule(.notMet), Self.rule(.undecided))
        #expect(because(.all([met])) == "all of the following is met")
        #expect(because(.all([notMet])) == "not all of the following is met")
        let ask = "; send what that asks for"
        #expect(because(.all([undecided])) == "part of the following is undecided, and nothing in it is against" + ask)
        #expect(because(.any([met])) == "at least one of the following is met")
        #expect(because(.any([notMet])) == "none of the following is met")
        #expect(because(.any([undecided])) == "none of the following is met, and part of it is undecided" + ask)
    }

    /// A window that opens in this many days.
    static func opens(_ days: Int) -> Rule { .window(from: RuleRow.now.adding(days: days), until: nil) }
    /// A window that closes in this many days.
    static func closes(_ days: Int) -> Rule { .window(from: nil, until: RuleRow.now.adding(days: days)) }

    @Test(arguments: [
        (Rule.all([opens(3), opens(7), rule(.met)]), Int?.some(7)), (.any([opens(3), opens(7)]), 3),
        (.all([opens(3), rule(.notMet)]), nil), (.any([opens(3), rule(.notMet)]), 3),
        (.all([opens(3), rule(.undecided)]), nil), (.any([rule(.notMet)]), nil), (.not(closes(4)), 4),
        (.not(.any([closes(4), closes(6)])), 6), (.not(.all([closes(4), closes(6)])), 4), (.not(rule(.met)), nil),
        (.not(.any([closes(4), rule(.met)])), nil), (.not(.not(opens(5))), 5), (rule(.met), nil),
        (.all([.any([opens(9), opens(2)]), opens(5)]), 5),
    ])
    func `knows when waiting turns it`(rule: Rule, days: Int?) {
        let finding = rule.evaluate(in: .about())
        #expect(finding.nextEligibleAt == days.map { RuleRow.now.adding(days: $0) })
    }

    @Test
    func `takes all of none for met and any of none for not met`() {
        #expect(Rule.all([]).evaluate(in: .about()).answer == .met)
        #expect(Rule.any([]).evaluate(in: .about()).answer == .notMet)
    }
}
