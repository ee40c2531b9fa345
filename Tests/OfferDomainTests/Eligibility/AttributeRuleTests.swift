// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

struct AttributeRuleTests {
    private static func stating(_ value: AttributeValue) throws -> (inout EvaluationContext) -> Void {
        let attributes = try Attributes(["risk": value, "other": .boolean(true)])
        return { $0.attributes = attributes }
    }

    static func rows() throws -> [RuleRow] {
        let none = Attributes()
        let silent = "no trusted caller stated the attribute risk; a backend sends or stores attributes.risk"
        let wrongType =
            "the attribute risk is of a different type than the rule asks for; send attributes.risk as the rule has it"
        func row(
            _ test: AttributeTest,
            _ value: AttributeValue,
            _ answer: Answer,
            _ code: FindingCode,
            _ because: String
        ) throws -> RuleRow {
            RuleRow(.attribute(name: "risk", test), answer, code, because, where: try stating(value))
        }
        let met = "the attribute risk is as required"
        let notMet = "the attribute risk is not as required"
        return [
            try row(.range(atLeast: 0.7, atMost: nil), .number(0.7), .met, .attributeMatches, met),
            try row(.range(atLeast: 0.7, atMost: nil), .number(0.69), .notMet, .attributeDiffers, notMet),
            try row(.range(atLeast: 0, atMost: 0.5), .number(0.5), .met, .attributeMatches, met),
            try row(.range(atLeast: nil, atMost: 0.5), .number(0.6), .notMet, .attributeDiffers, notMet),
            try row(.range(atLeast: 0, atMost: nil), .text("1"), .undecided, .attributeWrongType, wrongType),
            try row(.equals(.text("gold")), .text("gold"), .met, .attributeMatches, met),
            try row(.equals(.text("gold")), .text("Gold"), .notMet, .attributeDiffers, notMet),
            try row(.equals(.text("é")), .text("e\u{301}"), .notMet, .attributeDiffers, notMet),
            try row(.equals(.text("1")), .number(1), .undecided, .attributeWrongType, wrongType),
            try row(.equals(.boolean(true)), .boolean(true), .met, .attributeMatches, met),
            try row(.equals(.number(3)), .number(3), .met, .attributeMatches, met),
            try row(.isIn([.text("a"), .number(2)]), .number(2), .met, .attributeMatches, met),
            try row(.isIn([.text("a"), .text("b")]), .text("c"), .notMet, .attributeDiffers, notMet),
            try row(.isIn([.text("a")]), .boolean(true), .undecided, .attributeWrongType, wrongType),
            try row(.exists(true), .number(1), .met, .attributeExists, "the attribute risk is stated"),
            try row(.exists(false), .number(1), .notMet, .attributeExists, "the attribute risk is stated"),
            RuleRow(
                .attribute(name: "risk", .exists(false)),
                .met,
                .attributeAbsent,
                "the attribute risk is not stated"
            ) { $0.attributes = none },
            RuleRow(
                .attribute(name: "risk", .exists(true)),
                .notMet,
                .attributeAbsent,
                "the attribute risk is not stated"
            ) { $0.attributes = none },
            RuleRow(.attribute(name: "risk", .exists(false)), .undecided, .attributeUnknown, silent),
            RuleRow(.attribute(name: "risk", .equals(.number(1))), .undecided, .attributeUnknown, silent),
            RuleRow(.attribute(name: "risk", .equals(.number(1))), .undecided, .attributeUnknown, silent) {
                $0.attributes = none
            },
        ]
    }

    @Test(arguments: try rows())
    func `answers, and says why without the value`(row: RuleRow) {
        let finding = row.rule.evaluate(in: row.context)
        #expect(finding.answer == row.answer)
        #expect(finding.code == row.code)
        #expect(finding.because == row.because)
        #expect(finding.nextEligibleAt == nil)
    }

    @Test
    func `takes names and texts of up to 128 characters`() throws {
        let long = String(repeating: "é", count: 128)
        let name = String(repeating: "n", count: 128)
        #expect(try Attributes([name: .text(long)])[name] == .text(long))
        #expect(throws: AttributeError.unfitValue(name: "a", .textTooLong(limit: 128))) {
            try Attributes(["a": .text(long + "x")])
        }
        #expect(throws: AttributeError.unfitName(index: 0)) { try Attributes([name + "n": .boolean(true)]) }
        // Swift counts one character here, other systems count two hundred.
        let stacked = "e" + String(repeating: "\u{301}", count: 200)
        #expect(throws: AttributeError.unfitValue(name: "a", .textTooLong(limit: 128))) {
            try Attributes(["a": .text(stacked)])
        }
    }

    @Test(arguments: ["", "a b", "é", "a\u{2063}", "\u{0}"])
    func `refuses a name that is not visible ASCII`(name: String) {
        #expect(throws: AttributeError.unfitName(index: 1)) {
            try Attributes([("fine", .boolean(true)), (name, .boolean(true))])
        }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `refuses a number that is none`(number: Double) {
        #expect(throws: AttributeError.unfitValue(name: "a", .notFinite)) { try Attributes(["a": .number(number)]) }
    }

    @Test
    func `refuses the same name twice, and too many`() throws {
        #expect(throws: AttributeError.repeated(name: "a")) {
            try Attributes([("a", .number(1)), ("b", .number(1)), ("a", .number(2))])
        }
        let many = (0...64).map { (name: "a\($0)", value: AttributeValue.boolean(true)) }
        #expect(throws: AttributeError.tooMany(limit: 64)) { try Attributes(many) }
        #expect(try Attributes(Array(many.dropLast())).entries.count == 64)
    }

    @Test
    func `is the same in any order`() throws {
        let one = try Attributes([("a", .number(1)), ("b", .number(2))])
        #expect(try Attributes([("b", .number(2)), ("a", .number(1))]) == one)
    }
}
