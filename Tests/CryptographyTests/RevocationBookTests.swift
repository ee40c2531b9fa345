// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestSupport
import Testing

struct RevocationBookTests {
    private let authority: TestAuthority
    private let jws: [UInt8]
    private let book = RevocationBook()
    private let verifier: SignedDataVerifier

    init() throws {
        authority = try TestAuthority()
        jws = try TestJWS(chain: authority.chain(), key: authority.leafKey).bytes()
        verifier = SignedDataVerifier(anchors: try authority.anchors(), revocations: book)
    }

    private func question(about responder: String, at seconds: Int64) throws -> RevocationQuestion {
        let questions = book.questions(at: testInstant + seconds)
        return try #require(questions.first { $0.request.responders == ["http://ocsp.example/\(responder)"] })
    }

    @Test
    func `asks about leaf and intermediate of a chain that was believed, once`() throws {
        #expect(book.questions(at: testInstant).isEmpty)
        for _ in 0..<3 { _ = try verifier.verify(jws, at: testInstant) }
        let questions = book.questions(at: testInstant)
        #expect(
            questions.flatMap(\.request.responders).sorted() == [
                "http://ocsp.example/intermediate", "http://ocsp.example/leaf",
            ]
        )
        #expect(book.questions(at: testInstant).isEmpty)
    }

    @Test
    func `asks about nothing that was not signed`() throws {
        var stranger = authority
        stranger.leafKey = try .p256()
        let junk = try TestJWS(chain: authority.chain(), key: stranger.leafKey).bytes()
        #expect(throws: SignedDataError.wrongSignature) { try verifier.verify(junk, at: testInstant) }
        #expect(book.questions(at: testInstant).isEmpty)
        #expect(book.statistics(at: testInstant) == RevocationStatistics())
    }

    @Test(arguments: [("leaf", CertificateRole.leaf), ("intermediate", .intermediate)])
    func `refuses what is revoked, also with the chain remembered`(responder: String, role: CertificateRole) throws {
        _ = try verifier.verify(jws, at: testInstant)
        let question = try question(about: responder, at: 0)
        book.record(.revoked(at: testInstant - 10), for: question, at: testInstant)
        let revoked = SignedDataError.chain(.revoked(role))
        #expect(throws: revoked) { try verifier.verify(jws, at: testInstant + 1) }
        // Unknown is no news; good is.
        book.record(.unknown(validUntil: testInstant + 100), for: question, at: testInstant)
        #expect(throws: revoked) { try verifier.verify(jws, at: testInstant + 1_000) }
        book.record(.good(validUntil: testInstant + 9_000), for: question, at: testInstant)
        #expect(throws: Never.self) { try verifier.verify(jws, at: testInstant + 1_001) }
        #expect(revoked.label == "certificate-revoked")
    }

    @Test
    func `asks again, ever more seldom, while nobody answers`() throws {
        _ = try verifier.verify(jws, at: testInstant)
        var asked: [Int64] = []
        for minute in 0..<300 where !book.questions(at: testInstant + Int64(minute) * 60).isEmpty {
            asked.append(Int64(minute))
        }
        #expect(asked == [0, 1, 3, 7, 15, 31, 63, 123, 183, 243])
        #expect(throws: Never.self) { try verifier.verify(jws, at: testInstant + 18_000) }
        let statistics = book.statistics(at: testInstant + 18_000)
        #expect(statistics.unanswered == 2)
        #expect(statistics.unansweredSince == testInstant)
    }

    @Test
    func `asks again when half of an answer's time is over`() throws {
        _ = try verifier.verify(jws, at: testInstant)
        for question in book.questions(at: testInstant) {
            book.record(.good(validUntil: testInstant + 7_200), for: question, at: testInstant)
        }
        #expect(book.statistics(at: testInstant + 7_199).good == 2)
        #expect(book.statistics(at: testInstant + 7_200).unansweredSince == testInstant + 7_200)
        #expect(book.questions(at: testInstant + 3_599).isEmpty)
        let questions = book.questions(at: testInstant + 3_600)
        #expect(questions.count == 2)
        for question in questions {
            book.record(.good(validUntil: testInstant + 600_000), for: question, at: testInstant + 3_600)
        }
        #expect(book.questions(at: testInstant + 3_600 + 43_199).isEmpty)
        #expect(book.questions(at: testInstant + 3_600 + 43_200).count == 2)
    }

    @Test
    func `asks of what is revoked every hour`() throws {
        _ = try verifier.verify(jws, at: testInstant)
        for question in book.questions(at: testInstant) {
            book.record(.revoked(at: testInstant), for: question, at: testInstant)
        }
        #expect(book.statistics(at: testInstant).revoked == 2)
        #expect(book.questions(at: testInstant + 3_599).isEmpty)
        #expect(book.questions(at: testInstant + 3_600).count == 2)
    }

    @Test
    func `keeps no more certificates than its capacity`() throws {
        let book = RevocationBook(capacity: 4)
        let verifier = SignedDataVerifier(anchors: try authority.anchors(), revocations: book)
        for number in 0..<5 {
            var other = authority
            other.leaf.serial = [7, UInt8(number)]
            let chain = [try other.leafDER(), try authority.intermediateDER(), try authority.rootDER()]
            _ = try verifier.verify(TestJWS(chain: chain, key: authority.leafKey).bytes(), at: testInstant)
            #expect(book.statistics(at: testInstant).unanswered == min(4, 2 * (number + 1)))
        }
        // Answers about certificates that had to go meanwhile are of no use.
        let old = book.questions(at: testInstant)
        for number in 5..<8 {
            var other = authority
            other.leaf.serial = [7, UInt8(number)]
            let chain = [try other.leafDER(), try authority.intermediateDER(), try authority.rootDER()]
            _ = try verifier.verify(TestJWS(chain: chain, key: authority.leafKey).bytes(), at: testInstant)
        }
        for question in old { book.record(.revoked(at: testInstant), for: question, at: testInstant) }
        #expect(book.statistics(at: testInstant).revoked == 0)
        #expect(book.statistics(at: testInstant).unanswered == 4)
    }

    @Test
    func `waits a minute at least, and starts to count anew after an answer`() throws {
        _ = try verifier.verify(jws, at: testInstant)
        for seconds in [0, 60, 180] as [Int64] { #expect(book.questions(at: testInstant + seconds).count == 2) }
        // Eight minutes would be next.
        let late = testInstant + 180 + 480
        for question in book.questions(at: late) {
            book.record(.good(validUntil: late + 10), for: question, at: late)
        }
        #expect(book.questions(at: late + 59).isEmpty)
        #expect(book.questions(at: late + 60).count == 2)
        #expect(book.questions(at: late + 119).isEmpty)
        #expect(book.questions(at: late + 120).count == 2)
    }

    @Test
    func `forgets what was not used for longest, not what is revoked and asked for`() throws {
        let book = RevocationBook(capacity: 4)
        let verifier = SignedDataVerifier(anchors: try authority.anchors(), revocations: book)
        func others() throws -> [UInt8] { try TestJWS(chain: authority.chain(), key: authority.leafKey).bytes() }
        _ = try verifier.verify(jws, at: testInstant)
        for question in book.questions(at: testInstant) {
            book.record(.revoked(at: testInstant), for: question, at: testInstant)
        }
        for _ in 0..<3 {
            _ = try verifier.verify(others(), at: testInstant)
            #expect(throws: SignedDataError.chain(.revoked(.intermediate))) {
                try verifier.verify(jws, at: testInstant)
            }
        }
        #expect(book.statistics(at: testInstant).revoked == 2)
    }

    @Test
    func `goes from a signature to a responder's word and back`() throws {
        _ = try verifier.verify(jws, at: testInstant)
        let question = try question(about: "leaf", at: 0)
        var responder = try TestResponder(authority)
        responder.draft.singles[0].identifier = TestResponder.identifier(in: question.request)
        responder.draft.singles[0].status = OCSPDraft.revoked(at: testInstant - 5)
        let status = try question.request.status(from: responder.response(), at: testInstant)
        book.record(status, for: question, at: testInstant)
        #expect(throws: SignedDataError.chain(.revoked(.leaf))) { try verifier.verify(jws, at: testInstant) }
    }
}
