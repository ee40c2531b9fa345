// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import OfferDomain
import OfferService
import Synchronization
import TestSupport
import Testing

@testable import Ledger
@testable import Stores

@Suite("Google Play: tokens")
struct GoogleTokenTests {
    static let pem = try? KeyTool.makeRSAKey()

    private func account() throws -> GoogleServiceAccount {
        try startSecureMemory()
        let name = GoogleAccountName(
            email: try #require(GoogleEmail("signer@example.iam.gserviceaccount.com")),
            keyID: try #require(GoogleKeyID("0123456789abcdef"))
        )
        let pem = try SecureBytes(copying: #require(Self.pem))
        return GoogleServiceAccount(
            name: name,
            packageNames: [try PackageName("com.example.app")],
            privateKey: try RSAPrivateKey(pem: pem)
        )
    }

    @Test
    func `an assertion is an RS256 JWT with the claims that Google asks for, recorded before it is signed`()
        async throws
    {
        let account = try account()
        let recorded = Mutex<[(digest: SHA256Digest, expiresAt: Timestamp)]>([])
        let signer = KeyRingAssertionSigner(account: { _ in account }) { _, expiresAt, digest in
            recorded.withLock { $0.append((digest, expiresAt)) }
        }
        let play = try TestGooglePlay(signer: signer) { _ in .purchase }
        _ = try await play.lookUp()
        let request = play.transport.requests[0]
        #expect(request.method == .post && request.origin.description == "https://oauth2.googleapis.com")
        #expect(request.target == "/token")
        #expect(request.headers.first("content-type").map { String(decoding: $0, as: UTF8.self) } == formType)
        let body = String(decoding: request.body, as: UTF8.self)
        let prefix = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
        #expect(body.hasPrefix(prefix))
        let parts = body.dropFirst(prefix.count).utf8.split(separator: UInt8(ascii: ".")).map { Array($0) }
        #expect(parts.count == 3)
        let decoded = try parts.map { try #require(Base64.decodeURL($0)) }
        #expect(
            String(decoding: decoded[0], as: UTF8.self) == #"{"alg":"RS256","typ":"JWT","kid":"0123456789abcdef"}"#
        )
        let now = play.clock.now.seconds
        #expect(
            String(decoding: decoded[1], as: UTF8.self)
                == #"{"iss":"signer@example.iam.gserviceaccount.com","#
                + #""scope":"https://www.googleapis.com/auth/androidpublisher","#
                + #""aud":"https://oauth2.googleapis.com/token","iat":\#(now - 30),"exp":\#(now + 3570)}"#
        )
        let input = parts[0] + [UInt8(ascii: ".")] + parts[1]
        #expect(account.privateKey.publicKey.verifiesRS256(decoded[2], of: input))
        #expect(recorded.withLock { $0.map(\.digest) } == [SHA256.digest(of: input)])
        #expect(recorded.withLock { $0.map(\.expiresAt.seconds) } == [now + 3570])
        #expect(play.authorizations == ["Bearer token1"])
    }

    private let formType = "application/x-www-form-urlencoded"

    @Test
    func `nothing is asked if the use of the key can't be recorded, or there is no account`() async throws {
        let account = try account()
        let refuse: KeyRingAssertionSigner.Recording = { (_, _, _) throws(StoreError) in
            throw StoreError.cannotSign(reason: "the log is full")
        }
        for signer in [
            KeyRingAssertionSigner(account: { _ in account }, record: refuse),
            KeyRingAssertionSigner(account: { _ in nil }, record: refuse),
        ] {
            let play = try TestGooglePlay(signer: signer) { _ in .purchase }
            #expect(await failure { try await play.lookUp() }?.label == "cannot-sign")
            #expect(play.transport.requests.isEmpty)
        }
    }

    @Test
    func `a token is used until four minutes before its end, and not with another key or an earlier clock`()
        async throws
    {
        let play = try TestGooglePlay { _ in .purchase }
        func ask() async throws -> String? {
            _ = try await play.lookUp()
            return play.authorizations.last
        }
        #expect(try await ask() == "Bearer token1")
        play.clock.advance(milliseconds: 3_358_999)
        #expect(try await ask() == "Bearer token1")
        play.clock.advance(milliseconds: 1)
        #expect(try await ask() == "Bearer token2")
        try play.signer.use("signer@example.iam.gserviceaccount.com", key: "key2")
        #expect(try await ask() == "Bearer token3")
        play.clock.advance(milliseconds: -1)
        #expect(try await ask() == "Bearer token4")
        #expect(try await ask() == "Bearer token4")
        #expect(play.log.lines.allSatisfy { !$0.contains("token4") && !$0.contains("assertion") })
        for times in play.signer.assertions {
            #expect(times.expiresAt.milliseconds - times.issuedAt.milliseconds == 3_600_000)
        }
    }

    @Test(arguments: [("\"3599\"", 3_359_000 as Int64), ("100", 50_000), ("86400", 86_160_000)])
    func `a token's life may be text, and half of a short one is used`(life: String, used: Int64) async throws {
        let play = try TestGooglePlay(token: { .token("token\($0 + 1)", life: life) }) { _ in .purchase }
        _ = try await play.lookUp()
        play.clock.advance(milliseconds: used - 1)
        _ = try await play.lookUp()
        #expect(play.tokenRequests.count == 1)
        play.clock.advance(milliseconds: 1)
        _ = try await play.lookUp()
        #expect(play.tokenRequests.count == 2)
    }

    @Test
    func `one token is asked for by many who need it at once`() async throws {
        let play = try TestGooglePlay { _ in .purchase }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<50 { group.addTask { _ = try await play.lookUp("token-of-\(index)") } }
            try await group.waitForAll()
        }
        #expect((1...2).contains(play.tokenRequests.count))
        #expect(play.playRequests.count == 50)
    }

    struct Refusal: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let answer: TestGooglePlay.Answer
        let error: StoreError
        let requests: Int

        init(_ name: String, _ answer: TestGooglePlay.Answer, _ error: StoreError, requests: Int = 1) {
            testDescription = name
            self.answer = answer
            self.error = error
            self.requests = requests
        }
    }

    private static func oauth(_ code: String, _ status: Int = 400) -> TestGooglePlay.Answer {
        .json(#"{"error":"\#(code)","error_description":"Invalid JWT Signature."}"#, status: status)
    }

    private static func token(_ members: String) -> TestGooglePlay.Answer { .json("{\(members)}") }

    static let refusals = [
        Refusal("invalid_grant", oauth("invalid_grant"), .credentialsRefused),
        Refusal("invalid_scope", oauth("invalid_scope"), .credentialsRefused),
        Refusal("unauthorized_client", oauth("unauthorized_client", 401), .credentialsRefused),
        Refusal("invalid_client", oauth("invalid_client", 401), .credentialsRefused),
        Refusal("disabled_client", oauth("disabled_client", 401), .credentialsRefused),
        Refusal("access_denied", oauth("access_denied", 403), .credentialsRefused),
        Refusal("internal_failure", oauth("internal_failure"), .unavailable(retryAfter: nil), requests: 3),
        Refusal("server_error", oauth("server_error"), .unavailable(retryAfter: nil), requests: 3),
        Refusal("temporarily", oauth("temporarily_unavailable"), .unavailable(retryAfter: nil), requests: 3),
        Refusal("408", .json("", status: 408), .unavailable(retryAfter: nil), requests: 3),
        Refusal("429", .json("", status: 429), .rateLimited(retryAfter: nil), requests: 3),
        Refusal("500", .json("", status: 500), .unavailable(retryAfter: nil), requests: 3),
        Refusal("503", .json("oops", status: 503), .unavailable(retryAfter: nil), requests: 3),
        Refusal("504", .json("", status: 504), .unavailable(retryAfter: nil), requests: 3),
        Refusal("a proxy's page", .json("<html>", status: 403), .badAnswer(reason: "status 403")),
        Refusal("a redirect", .json("", status: 302), .badAnswer(reason: "status 302")),
        Refusal("no JSON", .json("ya29"), .badAnswer(reason: "no token that can be used")),
        Refusal(
            "another type",
            token(#""access_token":"a","expires_in":3599,"token_type":"mac""#),
            .badAnswer(reason: "no token that can be used")
        ),
        Refusal(
            "no life",
            token(#""access_token":"a","token_type":"Bearer""#),
            .badAnswer(reason: "no token that can be used")
        ),
        Refusal(
            "no life left",
            token(#""access_token":"a","expires_in":0,"token_type":"Bearer""#),
            .badAnswer(reason: "no token that can be used")
        ),
        Refusal(
            "a line break in it",
            token(#""access_token":"a\r\nX: y","expires_in":3599,"token_type":"Bearer""#),
            .badAnswer(reason: "no token that can be used")
        ),
        Refusal("no connection", .failure(.cannotConnect), .unavailable(retryAfter: nil), requests: 3),
    ]

    @Test(arguments: refusals)
    func `tries again only for what may pass, with the same assertion`(row: Refusal) async throws {
        let play = try TestGooglePlay(token: { _ in row.answer }) { _ in .purchase }
        #expect(await failure { try await play.lookUp() } == row.error)
        #expect(play.tokenRequests.count == row.requests)
        #expect(play.signer.assertions.count == 1 && play.playRequests.isEmpty)
        #expect(Set(play.tokenRequests.map(\.body)).count == 1)
        #expect(play.count(row.error.label, "token") == row.requests)
    }

    @Test
    func `that an account is refused is remembered for half a minute, and said`() async throws {
        let isGood = Mutex(false)
        let play = try TestGooglePlay(token: { _ in
            isGood.withLock { $0 } ? .token("good") : Self.oauth("invalid_grant")
        }) { _ in .purchase }
        for _ in 0..<3 { #expect(await failure { try await play.lookUp() } == .credentialsRefused) }
        #expect(play.tokenRequests.count == 1 && play.signer.assertions.count == 1)
        #expect(
            play.log.lines.contains {
                $0.contains("gives our service account no token") && $0.contains("invalid_grant")
            }
        )
        isGood.withLock { $0 = true }
        play.clock.advance(milliseconds: 30_000)
        _ = try await play.lookUp()
        #expect(play.authorizations == ["Bearer good"])
    }
}
