// SPDX-License-Identifier: Apache-2.0
import HTTP
import OfferDomain
import ServiceRuntime
import Testing

@testable import Configuration
@testable import OfferService
@testable import Stores

/// How the live check interprets the App Store's answers, and what it reports.
@Suite("Live check: diagnosis")
struct LiveDiagnosisTests {
    @Test(arguments: DiagnosisRow.all)
    func `reports what is wrong, as far as the answers show it`(_ row: DiagnosisRow) throws {
        let report = LiveReport(entries: try row.entries.map { try $0.entry() })
        let text = report.lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
        for phrase in row.says { #expect(text.contains(phrase), "\(report.lines.joined(separator: "\n"))") }
        for phrase in row.saysNot { #expect(!text.contains(phrase), "\(report.lines.joined(separator: "\n"))") }
        #expect(report.verdict == row.verdict)
        for line in report.lines { #expect(line.count <= 115, "\(line)") }
    }

    @Test
    func `a report without any question is no good one`() throws {
        let bundleID = try BundleID("com.example.app")
        let report = LiveReport(
            entries: [LiveReport.Entry(bundleID: bundleID, key: nil, answers: [])],
            bundleIDsWithoutApp: [try BundleID("com.example.other")]
        )
        #expect(report.verdict == .wrong)
        #expect(report.lines.contains { $0.hasPrefix("com.example.app  not asked: no key") })
        #expect(report.lines.contains { $0.hasPrefix("com.example.other  not asked: a key names it") })
        #expect(report.lines.last?.hasPrefix("Nothing was asked") == true)
    }

    @Test(arguments: AnswerRow.all)
    func `reads what the App Store answers`(_ row: AnswerRow) {
        #expect(LiveAnswer.Outcome(ClientResponse(status: row.status, body: Array(row.body.utf8))) == row.outcome)
    }

    @Test
    func `reads the date of an answer`() {
        #expect(httpDate("Sun, 06 Nov 1994 08:49:37 GMT") == Timestamp(milliseconds: 784_111_777_000))
        #expect(httpDate("Mon, 07 Dec 2026 00:00:00 GMT") == Timestamp(rfc3339: "2026-12-07T00:00:00Z"))
        for text in [
            "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
            "784111777", "Sun, 06 Nov 1994 08:49:37 GMT ",
        ] {
            #expect(httpDate(text) == nil, "\(text)")
        }
    }
}

/// An answer and what it says of the credentials.
struct AnswerRow: CustomTestStringConvertible, Sendable {
    let status: Int
    let body: String
    let outcome: LiveAnswer.Outcome

    var testDescription: String { "\(status) \(body)" }

    private init(_ status: Int, _ body: String, _ outcome: LiveAnswer.Outcome) {
        self.status = status
        self.body = body
        self.outcome = outcome
    }

    private static let noCode = "no errorCode in the body"

    static let all = [
        AnswerRow(404, #"{"errorCode":4040010}"#, .accepted(status: 404, code: 4_040_010)),
        AnswerRow(400, #"{"errorCode":4000006}"#, .accepted(status: 400, code: 4_000_006)),
        AnswerRow(404, #"{"errorCode":9990000}"#, .accepted(status: 404, code: 9_990_000)),
        AnswerRow(200, #"{"signedTransactionInfo":"a.b.c"}"#, .accepted(status: 200, code: nil)),
        AnswerRow(401, "", .refused),
        AnswerRow(401, #"{"errorCode":4040010}"#, .refused),
        AnswerRow(404, #"{"errorCode":4040003}"#, .appUnknown(status: 404, code: 4_040_003)),
        AnswerRow(400, #"{"errorCode":4000002}"#, .appUnknown(status: 400, code: 4_000_002)),
        AnswerRow(429, #"{"errorCode":4290000}"#, .rateLimited),
        AnswerRow(500, #"{"errorCode":5000000}"#, .storeFailed(status: 500, code: 5_000_000)),
        AnswerRow(503, "<html>", .storeFailed(status: 503, code: nil)),
        AnswerRow(200, "<html>Sign in to the network</html>", .strange(status: 200, reason: unlike)),
        AnswerRow(302, "", .strange(status: 302, reason: unlike)),
        AnswerRow(403, "<html>", .strange(status: 403, reason: noCode)),
        AnswerRow(404, #"{"errorCode":"4040010"}"#, .strange(status: 404, reason: noCode)),
    ]

    private static let unlike = "no answer of the App Store Server API"
}

/// Answers to the keys of a ring, and what is said of them.
struct DiagnosisRow: CustomTestStringConvertible, Sendable {
    struct App: Sendable {
        var bundle = "com.example.app"
        var key = "ABC123DEFG"
        var issuer = "57246542-96fe-1a63-e053-0824d011072a"
        var production: LiveAnswer.Outcome?
        var sandbox: LiveAnswer.Outcome?
        var skew: Int? = 0

        func entry() throws -> LiveReport.Entry {
            var answers: [LiveAnswer] = []
            if let production { answers.append(answer(production, .production)) }
            if let sandbox { answers.append(answer(sandbox, .sandbox)) }
            let issuerID = try #require(UniqueID(issuer))
            return LiveReport.Entry(
                bundleID: try BundleID(bundle),
                key: LiveReport.Key(id: try KeyID(key), issuerID: issuerID),
                answers: answers
            )
        }

        private func answer(_ outcome: LiveAnswer.Outcome, _ environment: StoreEnvironment) -> LiveAnswer {
            LiveAnswer(
                environment: environment,
                origin: AppStoreOrigins.apple[environment],
                outcome: outcome,
                skewSeconds: skew
            )
        }
    }

    let testDescription: String
    let entries: [App]
    let verdict: LiveVerdict
    var says: [String] = []
    var saysNot: [String] = []

    private static let accepted = LiveAnswer.Outcome.accepted(status: 404, code: 4_040_010)
    private static let suspects = ["the key id ABC123DEFG", "the issuer id 57246542", "the bundle id com.example.app"]

    static let all = [
        DiagnosisRow(
            testDescription: "all is well",
            entries: [App(production: accepted, sandbox: accepted)],
            verdict: .good,
            says: ["2 of 2 accepted; clock: as the App Store's."],
            saysNot: ["→"]
        ),
        DiagnosisRow(
            testDescription: "refused everywhere",
            entries: [App(production: .refused, sandbox: .refused)],
            verdict: .wrong,
            says: suspects + ["does not say which", "0 of 2 accepted"],
            saysNot: ["never approved", "clock is"]
        ),
        DiagnosisRow(
            testDescription: "refused in production, which alone was asked",
            entries: [App(production: .refused)],
            verdict: .wrong,
            says: suspects + ["the app was never approved", #"add "sandbox""#]
        ),
        DiagnosisRow(
            testDescription: "not approved yet",
            entries: [App(production: .refused, sandbox: accepted)],
            verdict: .wrong,
            says: ["are right: sandbox accepts them", "never approved", #"environments: ["sandbox"]"#],
            saysNot: suspects
        ),
        DiagnosisRow(
            testDescription: "refused in the sandbox alone",
            entries: [App(production: accepted, sandbox: .refused)],
            verdict: .wrong,
            says: ["are right: production accepts them. Check again later."],
            saysNot: suspects
        ),
        DiagnosisRow(
            testDescription: "the key is accepted for another app",
            entries: [
                App(production: .refused, sandbox: .refused),
                App(bundle: "com.example.other", production: accepted, sandbox: accepted),
            ],
            verdict: .wrong,
            says: ["they are accepted for com.example.other", suspects[2], "belongs to another account"],
            saysNot: [suspects[0], suspects[1]]
        ),
        DiagnosisRow(
            testDescription: "the key is known, and so is not to blame, though its other app is not",
            entries: [
                App(production: .refused, sandbox: .refused),
                App(bundle: "com.example.other", sandbox: .appUnknown(status: 404, code: 4_040_003)),
            ],
            verdict: .wrong,
            says: ["they are accepted for com.example.other", "knows no app of this bundle id"],
            saysNot: [suspects[0]]
        ),
        DiagnosisRow(
            testDescription: "another key of the same issuer is accepted",
            entries: [
                App(production: .refused, sandbox: .refused),
                App(bundle: "com.example.other", key: "OTHER12345", production: accepted),
            ],
            verdict: .wrong,
            says: ["The issuer id is right: it is accepted with key OTHER12345", suspects[0], suspects[2]],
            saysNot: [suspects[1]]
        ),
        DiagnosisRow(
            testDescription: "another key of another issuer proves nothing",
            entries: [
                App(production: .refused, sandbox: .refused),
                App(
                    bundle: "com.example.other",
                    key: "OTHER12345",
                    issuer: "00000000-96fe-1a63-e053-0824d011072a",
                    production: accepted
                ),
            ],
            verdict: .wrong,
            says: suspects
        ),
        DiagnosisRow(
            testDescription: "refused, and the clock is ahead",
            entries: [App(production: .refused, sandbox: .refused, skew: 600)],
            verdict: .wrong,
            says: ["clock is 600 s ahead of the App Store's", "before looking for anything else"],
            saysNot: suspects
        ),
        DiagnosisRow(
            testDescription: "accepted, though the clock is behind",
            entries: [App(production: accepted, sandbox: accepted, skew: -90)],
            verdict: .good,
            says: ["clock is 90 s behind the App Store's", "clock: 90 s behind"]
        ),
        DiagnosisRow(
            testDescription: "half a minute is no matter",
            entries: [App(production: .refused, sandbox: .refused, skew: 30)],
            verdict: .wrong,
            says: suspects
        ),
        DiagnosisRow(
            testDescription: "an answer without a date",
            entries: [App(production: .refused, sandbox: .refused, skew: nil)],
            verdict: .wrong,
            says: suspects,
            saysNot: ["clock"]
        ),
        DiagnosisRow(
            testDescription: "refused by one, and the other not reached",
            entries: [App(production: .refused, sandbox: .notReached(.cannotResolve))],
            verdict: .wrong,
            says: ["production says no more than that", "api.storekit-sandbox.apple.com has no address here"],
            saysNot: suspects
        ),
        DiagnosisRow(
            testDescription: "no store is reached",
            entries: [App(production: .notReached(.cannotConnect), sandbox: .notReached(.connectTimeout))],
            verdict: .unreachable,
            says: [
                "not reached cannot-connect", "not reached connect-timeout",
                "api.storekit.apple.com can't be connected",
            ]
        ),
        DiagnosisRow(
            testDescription: "a certificate is not trusted",
            entries: [App(production: .notReached(.certificateNotTrusted("self-signed")), sandbox: accepted)],
            verdict: .unreachable,
            says: ["certificate-not-trusted", "is not trusted (self-signed)", "--trusted-certificates"]
        ),
        DiagnosisRow(
            testDescription: "limited, and failing",
            entries: [App(production: .rateLimited, sandbox: .storeFailed(status: 500, code: 5_000_001))],
            verdict: .unreachable,
            says: ["production limits how often", "sandbox fails by itself", "500, code 5000001"]
        ),
        DiagnosisRow(
            testDescription: "another server answers",
            entries: [App(production: .strange(status: 200, reason: "x"), sandbox: accepted)],
            verdict: .wrong,
            says: ["api.storekit.apple.com is not answered for by the App Store"]
        ),
    ]
}
