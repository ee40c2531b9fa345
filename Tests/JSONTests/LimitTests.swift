// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

/// Each limit holds to the unit.
@Suite struct LimitTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let atLimit: String
        let beyond: String
        let limits: JSONLimits
        let kind: JSONError.Kind
        let offset: Int
        let pointer: String

        var testDescription: String { "\(kind)" }
    }

    static let rows = [
        Row(
            atLimit: "[1,  2]",
            beyond: "[1,   2]",
            limits: .init(maximumBytes: 7),
            kind: .tooManyBytes(limit: 7),
            offset: 7,
            pointer: ""
        ),
        Row(
            atLimit: #"[[{"a":[]}]]"#,
            beyond: #"[[{"a":[{}]}]]"#,
            limits: .init(maximumDepth: 4),
            kind: .tooDeep(limit: 4),
            offset: 8,
            pointer: "/0/0/a/0"
        ),
        Row(
            atLimit: "1",
            beyond: "[]",
            limits: .init(maximumDepth: 0),
            kind: .tooDeep(limit: 0),
            offset: 0,
            pointer: ""
        ),
        Row(
            atLimit: #"{"a":[1,2]}"#,
            beyond: #"{"a":[1,2,3]}"#,
            limits: .init(maximumNodes: 5),
            kind: .tooManyNodes(limit: 5),
            offset: 10,
            pointer: "/a"
        ),
        Row(
            atLimit: #"["abcde"]"#,
            beyond: #"["abcdef"]"#,
            limits: .init(maximumStringBytes: 5),
            kind: .stringTooLong(limit: 5),
            offset: 7,
            pointer: "/0"
        ),
        Row(
            atLimit: #"{"\u0041":1}"#,
            beyond: #"{"\u0041b":1}"#,
            limits: .init(maximumStringBytes: 6),
            kind: .stringTooLong(limit: 6),
            offset: 8,
            pointer: ""
        ),
        Row(
            atLimit: "[-1.25]",
            beyond: "[-1.250]",
            limits: .init(maximumNumberBytes: 5),
            kind: .numberTooLong(limit: 5),
            offset: 1,
            pointer: "/0"
        ),
    ]

    @Test(arguments: rows)
    func `what reaches a limit is read, and one unit more is refused`(row: Row) throws {
        #expect(refusal(Array(row.atLimit.utf8), .strict, row.limits) == nil)
        let error = try #require(refusal(Array(row.beyond.utf8), .strict, row.limits))
        #expect(error.kind == row.kind)
        #expect(error.offset == row.offset)
        #expect(error.pointer == row.pointer)
    }

    @Test func `no limit that is asked for lets a text exhaust the stack`() {
        let text = [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
        let error = refusal(text, .strict, JSONLimits(maximumBytes: .max, maximumDepth: .max, maximumNodes: .max))
        #expect(error?.kind == .tooDeep(limit: 256))
    }

    @Test func `a name without quotes has the same limit`() {
        let limits = JSONLimits(maximumStringBytes: 3)
        #expect(refusal(Array("{abc:1}".utf8), .configuration, limits) == nil)
        #expect(refusal(Array("{abcd:1}".utf8), .configuration, limits)?.kind == .stringTooLong(limit: 3))
    }

    @Test func `a string that never ends is called too long once it is`() {
        let text = Array((#"""# + String(repeating: "a", count: 6)).utf8)
        #expect(refusal(text, .strict, JSONLimits(maximumStringBytes: 6))?.kind == .unexpectedEnd)
        #expect(refusal(text, .strict, JSONLimits(maximumStringBytes: 5))?.kind == .stringTooLong(limit: 5))
    }
}
