// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Testing
import TransparencyLog

struct LogPolicyTests {
    private static let bytes = (0..<5).map { Ed25519PublicKey(bytes: [UInt8](repeating: UInt8($0 + 1), count: 32)) }

    private static func key(_ index: Int, _ algorithm: NoteVerifierKey.Algorithm = .cosignature) -> String {
        bytes[index].map {
            NoteVerifierKey(name: "w\(index).example", algorithm: algorithm, publicKey: $0).description
        } ?? ""
    }

    private static let three = """
        # Three witnesses.
        witness one \(key(0)) https://one.example/w/
        witness\ttwo  \(key(1)) http://127.0.0.1:8081

        witness three \(key(2)) http://[::1]:8082/x
        """

    @Test func `reads a policy of witnesses and groups`() throws {
        let policy = try LogPolicy(
            parsing: """
                log \(Self.key(3, .ed25519)) https://log.example/
                \(Self.three)
                group two-of-three 2 one two three\r
                group both all one two
                group either any two-of-three both
                quorum either
                """
        )
        #expect(policy.logs.map(\.description) == [Self.key(3, .ed25519)])
        #expect(policy.witnesses.map(\.name) == ["one", "two", "three"])
        #expect(
            policy.witnesses.map(\.url) == ["https://one.example/w", "http://127.0.0.1:8081", "http://[::1]:8082/x"]
        )
    }

    struct QuorumRow: CustomTestStringConvertible, Sendable {
        let lines: String
        /// Sets of names with which it is met; with all others it is not.
        let met: [Set<String>]

        var testDescription: String { lines }
    }

    private static let subsets: [Set<String>] = [
        [], ["one"], ["two"], ["three"], ["one", "two"], ["one", "three"], ["two", "three"], ["one", "two", "three"],
    ]

    static let quorums = [
        QuorumRow(lines: "quorum none", met: subsets),
        QuorumRow(lines: "quorum two", met: subsets.filter { $0.contains("two") }),
        QuorumRow(
            lines: "group g any one three\nquorum g",
            met: subsets.filter { !$0.isDisjoint(with: ["one", "three"]) }
        ),
        QuorumRow(
            lines: "group g all one three\nquorum g",
            met: subsets.filter { $0.isSuperset(of: ["one", "three"]) }
        ),
        QuorumRow(lines: "group g 2 one two three\nquorum g", met: subsets.filter { $0.count >= 2 }),
        QuorumRow(
            lines: "group a any one two\ngroup g all a three\nquorum g",
            met: [["one", "three"], ["two", "three"], ["one", "two", "three"]]
        ),
    ]

    @Test(arguments: quorums)
    func `decides whether the signers meet the quorum`(row: QuorumRow) throws {
        let policy = try LogPolicy(parsing: Self.three + "\n" + row.lines)
        for signers in Self.subsets {
            #expect(policy.isMet(by: signers) == row.met.contains(signers), "\(signers)")
        }
        #expect(policy.isMet(by: ["stranger"]) == row.met.contains([]))
    }

    struct BadRow: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let text: String
        let faults: [String]

        init(_ text: String, _ faults: String...) {
            testDescription = text
            self.text = text
            self.faults = faults
        }
    }

    private static let none = "has no quorum line; “quorum none” demands no witness"

    static let bad = [
        BadRow("", none),
        BadRow("# quorum none", none),
        BadRow("quorum", "1: expected quorum NAME or quorum none", none),
        BadRow("quorum none\nquorum none", "2: there is a quorum line already"),
        BadRow("quorum x", "1: “x” is not a witness or group of a line above"),
        BadRow("wittness one k\nquorum none", "1: “wittness” is not one of log, witness, group, quorum"),
        BadRow("log\nquorum none", "1: expected log VKEY [URL]"),
        BadRow("log k\nquorum none", "1: the key “k” is not NAME+ID+BASE64"),
        BadRow("log \(key(0))\nquorum none", "1: the key w0.example is not a log's (Ed25519)"),
        BadRow("witness one\nquorum none", "1: expected witness NAME VKEY [URL]"),
        BadRow(
            "witness one \(key(0, .ed25519)) https://w.example\nquorum none",
            "1: the key w0.example is not a witness's (cosignature/v1)"
        ),
        BadRow("witness one \(key(0))\nquorum none", "1: one has no URL, so nothing could be submitted to it"),
        BadRow(
            "witness one \(key(0)) http://w.example\nquorum none",
            "1: expected a URL with https, or http on 127.0.0.1 or [::1], found “http://w.example”"
        ),
        BadRow(
            "witness one \(key(0)) file:///etc\nquorum none",
            "1: expected a URL with https, or http on 127.0.0.1 or [::1], found “file:///etc”"
        ),
        BadRow("witness none \(key(0)) https://w.example\nquorum none", "1: “none” can't be a name"),
        BadRow(
            "witness one \(key(0)) https://w.example\nwitness one \(key(1)) https://w.example\nquorum none",
            "2: “one” is named already"
        ),
        BadRow(
            "witness one \(key(0)) https://w.example\nwitness two \(key(0)) https://w.example\nquorum none",
            "2: the key of two is another witness's already"
        ),
        BadRow("group g any\nquorum none", "1: expected group NAME any|all|NUMBER MEMBER…"),
        BadRow("group g any later\nquorum none", "1: “later” is not a witness or group of a line above"),
        BadRow("group g any g\nquorum none", "1: “g” is not a witness or group of a line above"),
        BadRow(
            "witness one \(key(0)) https://w.example\ngroup g 2 one\nquorum none",
            "2: expected any, all or 1 to 1, found “2”"
        ),
        BadRow(
            "witness one \(key(0)) https://w.example\ngroup g 0 one\ngroup h 01 one\nquorum none",
            "2: expected any, all or 1 to 1, found “0”",
            "3: expected any, all or 1 to 1, found “01”"
        ),
        BadRow(
            "witness one \(key(0)) https://w.example\ngroup g 1 one one\nquorum none",
            "2: a member is named twice"
        ),
    ]

    @Test(arguments: bad)
    func `says everything that is wrong, with its line`(row: BadRow) throws {
        let error = try #require(throws: LogPolicyError.self) { try LogPolicy(parsing: row.text) }
        #expect(error.faults.map { fault in (fault.line.map { "\($0): " } ?? "") + fault.message } == row.faults)
    }
}
