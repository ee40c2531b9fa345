// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP
import JSON
import OfferDomain
import ServiceRuntime
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService
@testable import Stores

/// The client over real connections, with TLS and HTTP/2, to a fake Google Play that verifies assertions and misbehaves on
/// request.
@Suite("Google Play: over the wire, with a rude one", .serialized, .timeLimit(.minutes(2)))
struct GooglePlayFakeTests {
    private let fake: FakeGooglePlay
    private let account: GoogleServiceAccount
    private let asking: GooglePlayAsking

    /// One for all tests, which take turns.
    private static let shared = Task {
        let fake = try FakeGooglePlay()
        return (fake, try fake.addServiceAccount())
    }

    init() async throws {
        try startSecureMemory()
        let (fake, key) = try await Self.shared.value
        try fake.reset()
        try fake.setServiceAccount()
        self.fake = fake
        let contents = try SecureBytes(copying: TemporaryDirectory.read(key.path))
        let file = try #require(ServiceAccountFile(contents) { Issue.record("\($0)") })
        let app = try PackageName(FakeGooglePlay.firstApp)
        account = GoogleServiceAccount(name: file.name, packageNames: [app], privateKey: file.privateKey)
        asking = GooglePlayAsking(packageName: app, party: .caller(try #require(CallerID("backend"))))
        try fake.setSubscription(.init("premium", basePlans: [.init("monthly"), .init("year")]))
        try fake.setOffer(.init("winback", of: "premium"))
    }

    /// Runs `body` with a client of its own.
    private func withAPI(
        retries: RetryPolicy = RetryPolicy(attemptMilliseconds: 20_000, overallMilliseconds: 40_000),
        _ body: (GooglePlayAPI, StoreGateway) async throws -> Void
    ) async throws {
        let client = try Client(ClientConfiguration(trustedCertificatesFile: fake.tlsCAPath))
        try client.start()
        defer { client.stop() }
        let log = Log(level: .error, clock: .system) { _ in }
        let runtime = StoreRuntime(clock: .system, random: try SystemRandom(), metrics: Metrics(), log: log)
        let gateway = StoreGateway(
            transport: client,
            runtime: runtime,
            retries: retries
        )
        let account = account
        let signer = KeyRingAssertionSigner(account: { _ in account }, record: { (_, _, _) throws(StoreError) in })
        let origin = try Origin(parsing: fake.origin())
        let api = GooglePlayAPI(
            gateway: gateway,
            signer: signer,
            runtime: runtime,
            origins: GoogleOrigins(play: origin, oauth: origin, certs: origin, integrity: origin),
            maximumPages: 5
        )
        try await body(api, gateway)
    }

    private func look(_ token: String, _ api: GooglePlayAPI) async throws -> GooglePlayLookup {
        try await api.subscriptionPurchase(try PurchaseToken(token), asking)
    }

    private func playCatalog(_ api: GooglePlayAPI) async throws -> PlayCatalog {
        try PlayCatalog(
            of: asking.packageName,
            subscriptions: try await api.subscriptionPages(asking),
            offers: try await api.offerPages(asking),
            readAt: Timestamp(milliseconds: 0)
        )
    }

    @Test
    func `asks for everything over HTTP/2 with one token`() async throws {
        try fake.setHabits(.init(largestPage: 1))
        try fake.setOffer(.init("intro", of: "premium", "year"))
        let token = try fake.buy(.init("premium", offer: "winback")).token
        try await withAPI { (api, _) async throws in
            let playCatalog = try await playCatalog(api)
            #expect(
                playCatalog.offers.count == 2 && playCatalog.subscriptions.count == 1 && playCatalog.unusableCount == 0
            )
            guard case .found(let answer) = try await look(token, api) else {
                Issue.record("the purchase was not found")
                return
            }
            #expect(try GooglePlayPurchase(json: answer.json).lineItems[0].offerID == "winback")
            let counts = try fake.counts()
            #expect(counts.tokensIssued == 1 && counts.connections == 1)
            #expect(counts.tokenRefusals.isEmpty && counts.apiRefusals.isEmpty)
            #expect(try fake.requests().allSatisfy { $0.protocol == "h2" })
        }
    }

    @Test(arguments: FakeGooglePlay.Habits.EmptyLists.allCases)
    func `reads an empty list however it is written`(way: FakeGooglePlay.Habits.EmptyLists) async throws {
        try fake.setHabits(.init(emptyLists: way))
        try fake.remove(.init("premium", "monthly", "winback"))
        try await withAPI { (api, _) async throws in #expect(try await playCatalog(api).offers.isEmpty) }
    }

    @Test
    func `tells unknown purchases from those that are gone`() async throws {
        try fake.setApp("com.example.other")
        let foreign = try fake.buy(.init("premium", in: "com.example.other")).token
        let ended = try fake.buy(.init("premium", daysAgo: 100)).token
        try fake.happen(.expire, to: ended, daysAgo: 61)
        let deleted = try fake.buy(.init("premium", token: "a/b%41+c?d#e~")).token
        try await withAPI { (api, _) async throws in
            for token in [foreign, "x", String(repeating: "a", count: 140)] {
                #expect(try await look(token, api) == .notFound)
            }
            #expect(try await look(ended, api) == .gone(.endedLongAgo))
            guard case .found = try await look(deleted, api) else {
                Issue.record("a token with odd characters was not found")
                return
            }
            try fake.happen(.delete, to: deleted)
            #expect(try await look(deleted, api) == .gone(.superseded))
        }
    }

    @Test
    func `renews a token that was revoked, and no other`() async throws {
        let token = try fake.buy(.init("premium")).token
        try await withAPI { (api, _) async throws in
            _ = try await look(token, api)
            try fake.revokeTokens()
            _ = try await look(token, api)
            #expect(try fake.counts().tokensIssued == 2)
            #expect(try fake.counts().apiRefusals == ["authError: revoked"])
            try fake.setServiceAccount(packageNames: [])
            #expect(await failure { try await look(token, api) } == .notPermitted(reason: "permissionDenied"))
            #expect(try fake.counts().tokensIssued == 2)
            try fake.setServiceAccount()
            try fake.misbehave(.error(.authError), at: .purchase)
            #expect(await failure { try await look(token, api) } == .credentialsRefused)
            #expect(try fake.counts().tokensIssued == 3)
        }
    }

    typealias Row = RudeRow<FakeGooglePlay.Misbehaviour>

    static let rows = [
        Row("hangs", .hang, "unavailable"),
        Row("drips", .drip(milliseconds: 100), "unavailable"),
        Row("stalls", .stall, "unavailable"),
        Row("cut off", .cutOff, "unavailable"),
        Row("closes", .close, "unavailable"),
        Row("resets the stream", .resetStream, "unavailable"),
        Row("garbage", .garbage, "unavailable"),
        Row("a proxy's 503", .status(503), "unavailable"),
        Row("backend error", .error(.backendError, status: 500), "unavailable"),
        Row("429", .rateLimit(retryAfter: "60"), "rate-limited"),
        Row("quota", .error(.rateLimitExceeded), "rate-limited"),
        Row("the user's quota", .error(.userRateLimitExceeded), "rate-limited"),
        Row("no rights", .error(.permissionDenied), "not-permitted"),
        Row("API not enabled", .error(.accessNotConfigured), "not-permitted"),
        Row("no such app", .error(.applicationNotFound), "app-unknown"),
        Row("redirect", .redirect(to: "https://127.0.0.1:1/"), "bad-answer"),
        Row("half a JSON text", .wrongJSON, "bad-answer"),
        Row("a large body", .oversized(bytes: 3_000_000), "bad-answer"),
        Row("a body without end", .endlessBody, "bad-answer"),
        Row("a bomb", .gzipBomb, "bad-answer"),
        Row("a proxy's 404", .status(404), "bad-answer"),
        Row("a proxy's 410", .status(410), "bad-answer"),
        Row("a proxy's 403", .status(403), "bad-answer"),
        Row("another content type", .wrongContentType, nil),
        Row("unknown members", .unknownMembers, nil),
        Row("unknown values", .unknownValues, nil),
        Row("goes away", .goAway, nil),
    ]

    @Test(arguments: rows)
    func `takes nothing amiss about a purchase, and recovers`(row: Row) async throws {
        let token = try fake.buy(.init("premium")).token
        try fake.misbehave(row.misbehaviour, at: .purchase)
        try await withAPI(retries: row.retries) { (api, _) async throws in
            #expect(await failure { try await look(token, api) }?.label == row.label)
            try fake.behave()
            // Lists have a budget of their own, which a rate limit of purchases does not hold back.
            #expect(try await playCatalog(api).offers.count == 1)
        }
    }

    @Test
    func `takes no catalog that has no end, or that is in pieces`() async throws {
        let rows: [FakeGooglePlay.Misbehaviour] = [
            .repeatedPage, .endlessPages, .wrongJSON, .wrongShape, .answer(body: "[]"),
            .answer(body: #"{"subscriptionOffers":null,"nextPageToken":7}"#),
        ]
        for misbehaviour in rows {
            try fake.misbehave(misbehaviour, at: .offers)
            try await withAPI { (api, _) async throws in
                let error = await failure { try await playCatalog(api) }
                #expect(error?.label == "bad-answer", "\(misbehaviour)")
            }
            try fake.behave()
        }
        try fake.misbehave(.emptyPage, at: .offers)
        try await withAPI { (api, _) async throws in #expect(try await playCatalog(api).offers.count == 1) }
    }

    @Test
    func `an offer under another name is not the offer`() async throws {
        try fake.misbehave(.otherMembers(["packageName": "com.example.other"]), at: .offers)
        try await withAPI { (api, _) async throws in
            let verdict = GooglePlayOfferCheck.validate(
                try .of("premium", "monthly", "winback"),
                region: try Region("US"),
                hideTags: [try OfferTag("ignore-offer")],
                in: try await playCatalog(api)
            )
            guard case .failure(.answerNamesAnotherOffer) = verdict else {
                Issue.record("\(verdict)")
                return
            }
        }
    }

    @Test(arguments: [
        ("invalid_grant", 400, "credentials-refused"), ("disabled_client", 401, "credentials-refused"),
        ("internal_failure", 500, "unavailable"), ("temporarily_unavailable", 503, "unavailable"),
    ])
    func `a token that is not given is no answer about a purchase`(
        code: String,
        status: Int,
        label: String
    ) async throws {
        try fake.misbehave(.oauthError(code, "Words.", status: status), at: .token)
        let token = try fake.buy(.init("premium")).token
        let retries = RetryPolicy(attempts: 2, attemptMilliseconds: 700, overallMilliseconds: 1500)
        try await withAPI(retries: retries) { (api, _) async throws in
            #expect(await failure { try await look(token, api) }?.label == label)
            #expect(try fake.counts().requests(to: .purchase) == 0)
            try fake.behave()
        }
    }

    @Test(arguments: [FakeTLSCertificate.otherAuthority, .otherAddress, .expired])
    func `sends no request to a server without the right certificate`(certificate: FakeTLSCertificate) async throws {
        try fake.setTLS(certificate)
        let token = try fake.buy(.init("premium")).token
        try await withAPI { (api, _) async throws in
            #expect(await failure { try await look(token, api) }?.label == "unavailable")
            #expect(try fake.counts().requests.isEmpty)
        }
    }

    @Test
    func `believes a push unless anything is wrong with its token`() async throws {
        let id = try fake.makeNotification()
        try await withAPI { (_, gateway) async throws in
            let log = Log(level: .error, clock: .system) { _ in }
            let keys = GoogleSigningKeys(gateway: gateway, origin: try Origin(parsing: fake.origin()), log: log)
            let identity = FakeGooglePlay.pushIdentity
            let authenticator = GooglePushAuthenticator(
                expecting: .init(audience: identity.audience, email: try #require(GoogleEmail(identity.email))),
                keys: keys,
                clock: .system
            )
            func verdict(_ message: FakeGooglePlay.PushMessage) async -> GooglePushFault? {
                var headers = HeaderFields()
                headers.append("Authorization", message.authorization)
                do {
                    try await authenticator.authenticate(headers)
                    return nil
                } catch {
                    return error
                }
            }
            #expect(await verdict(try fake.push(id)) == nil)
            for fault in FakeGooglePlay.TokenFault.allCases {
                let verdict = await verdict(try fake.push(id, fault: fault))
                #expect((verdict == nil) == fault.isAcceptable, "\(fault): \(verdict.map { "\($0)" } ?? "believed")")
                #expect(verdict?.isTemporary != true, "\(fault)")
            }
            #expect(try fake.counts().requests(to: .certificates) <= 2)
        }
    }
}
