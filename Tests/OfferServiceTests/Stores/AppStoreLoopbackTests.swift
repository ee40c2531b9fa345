// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import OfferDomain
import OfferService
import ServiceRuntime
import TestSupport
import Testing

@testable import Ledger
@testable import Stores

/// The client over real connections, with TLS and HTTP/2, to a fake App Store that checks tokens and misbehaves on request.
@Suite("App Store Server API: over the wire", .serialized, .timeLimit(.minutes(2)))
struct AppStoreLoopbackTests {
    private let fake: FakeAppStore
    private let key: ActiveKey
    private let asking: AppStoreAsking

    /// One for all tests, which take turns.
    private static let shared = Task { try FakeAppStore() }

    init() async throws {
        try startSecureMemory()
        fake = try await Self.shared.value
        try fake.reset()
        try fake.behave()
        asking = try .by()
        let signingKey = SigningKey(
            id: try KeyID("LOOPBACK01"),
            issuerID: try #require(UniqueID("57246542-96fe-1a63-e053-0824d011072a")),
            scope: KeyScope(bundleIDs: [asking.bundleID], purposes: []),
            status: .active,
            key: PinnedKey(try PrivateKey.generate())
        )
        key = try #require(ActiveKey(signingKey))
        try fake.registerKey(
            keyID: key.id.text,
            issuerID: key.issuerID.description,
            publicKeyPEM: key.privateKey.publicKey.pem,
            bundleIDs: [asking.bundleID.text]
        )
    }

    /// Runs `body` with a client that is trusting and, where it says so, impatient.
    private func withStore(
        retries: RetryPolicy = RetryPolicy(attemptMilliseconds: 20_000, overallMilliseconds: 40_000),
        _ change: (inout ClientConfiguration) -> Void = { _ in },
        _ body: (TestStore) async throws -> Void
    ) async throws {
        var configuration = ClientConfiguration(trustedCertificatesFile: fake.tlsCAPath)
        change(&configuration)
        let client = try Client(configuration)
        try client.start()
        defer { client.stop() }
        let key = key
        let signer = KeyRingTokenSigner(key: { _ in key }, record: { (_, _, _) throws(StoreError) in })
        let origins = AppStoreOrigins(
            production: try Origin(parsing: fake.apiOrigin(.production)),
            sandbox: try Origin(parsing: fake.apiOrigin(.sandbox))
        )
        try await body(
            TestStore(client, retries: retries, origins: origins, signer: signer, maximumPages: 5, isInRealTime: true)
        )
    }

    /// A customer in production.
    private func subscribe(_ subscriptions: FakeAppStore.Subscription...) throws -> FakeAppStore.CustomerIDs {
        try fake.setCustomer(.init("anna", subscriptions: subscriptions))
    }

    private func id(_ text: String) throws -> TransactionID { try TransactionID(text) }

    @Test
    func `asks every endpoint, over HTTP/2, with one token`() async throws {
        let ids = try subscribe(.init(.active, periods: 45), .init(.expired, group: "20000002"))
        let first = try id(ids.subscriptions[0].originalTransactionID)
        try await withStore { (store) async throws in
            let statuses = try await store.api.subscriptionStatuses(of: first, asking)
            #expect(statuses.environment == .production)
            #expect(Set(statuses.answer.groups.map(\.id.text)) == ["20000001", "20000002"])
            #expect(statuses.answer.groups.flatMap(\.lastTransactions).map(\.status).sorted() == [1, 2])
            let history = try await store.api.transactionHistory(of: first, asking).answer
            #expect(history.isComplete && history.signedTransactions.count == 47)
            let filtered = TransactionHistoryFilter.subscriptions
            #expect(try await store.api.transactionHistory(of: first, asking, filtered).answer.isComplete)
            _ = try await store.api.transactionInfo(of: first, asking)
            _ = try await store.api.appTransactionInfo(of: first, asking)
            let now = Timestamp(milliseconds: WallClock.system.now().milliseconds)
            let query = NotificationHistoryQuery(from: now.adding(days: -10), to: now)
            #expect(try await store.api.notificationHistory(query, in: .production, asking).isComplete)
            let token = try await store.api.requestTestNotification(in: .production, asking)
            _ = try await store.api.testNotificationStatus(of: token, in: .production, asking)
            let counts = try fake.counts()
            #expect(counts.tokens == 1 && counts.connections == 1 && counts.refusals.isEmpty)
            #expect(try fake.requests().allSatisfy { $0.protocol == "h2" })
        }
    }

    @Test
    func `finds a customer of the sandbox, and remembers where`() async throws {
        let customer = FakeAppStore.Customer("ben", environment: .sandbox, subscriptions: [.init(.active)])
        let id = try id(try fake.setCustomer(customer).subscriptions[0].originalTransactionID)
        try await withStore { (store) async throws in
            #expect(try await store.api.subscriptionStatuses(of: id, asking).environment == .sandbox)
            #expect(try await store.api.transactionInfo(of: id, asking).environment == .sandbox)
            #expect(try fake.counts().requests(to: .statuses, in: .production) == 1)
            #expect(try fake.counts().requests(to: .transactionInfo, in: .production) == 0)
            let nobody = await failure { try await store.api.transactionInfo(of: try TransactionID("404"), asking) }
            #expect(nobody == .notFound(code: 4_040_010))
        }
    }

    typealias Row = RudeRow<FakeAppStore.Misbehaviour>

    static let rows = [
        Row("hangs", .hang, "unavailable"),
        Row("slow", .slow(milliseconds: 5000), "unavailable"),
        Row("drips", .drip(milliseconds: 100), "unavailable"),
        Row("stalls", .stall, "unavailable"),
        Row("cut off", .cutOff, "unavailable"),
        Row("closes", .close, "unavailable"),
        Row("resets the stream", .resetStream, "unavailable"),
        Row("garbage", .garbage, "unavailable"),
        Row("503", .status(503), "unavailable"),
        Row("500", .status(500), "unavailable"),
        Row("401", .unauthorized, "credentials-refused"),
        Row("429", .rateLimit(millisecondsFromNow: 60_000), "rate-limited"),
        Row("redirect", .redirect(to: "https://127.0.0.1:1/"), "bad-answer"),
        Row("half a JSON text", .wrongJSON, "bad-answer"),
        Row("other types", .wrongShape, "bad-answer"),
        Row("a large body", .oversized(bytes: 3_000_000), "bad-answer"),
        Row("a large body without a length", .oversized(bytes: 3_000_000, declaresLength: false), "bad-answer"),
        Row("a body without end", .endlessBody, "bad-answer"),
        // Over HTTP/2 libcurl refuses it before our reader sees it.
        Row("a large head", .oversizedHead, "unavailable"),
        Row("a bomb", .gzipBomb, "bad-answer"),
        Row("another content type", .wrongContentType, nil),
        Row("unknown members", .extraMembers, nil),
        Row("unknown values", .unknownValues, nil),
        Row("goes away", .goAway, nil),
    ]

    @Test(arguments: rows)
    func `takes nothing amiss, and recovers`(row: Row) async throws {
        let id = try id(try subscribe(.init(.active)).subscriptions[0].originalTransactionID)
        try fake.misbehave(row.misbehaviour, at: .statuses)
        try await withStore(retries: row.retries) { (store) async throws in
            let error = await failure { try await store.api.subscriptionStatuses(of: id, asking) }
            #expect(error?.label == row.label)
            try fake.behave()
            // Another endpoint, which a rate limit does not hold back.
            let patient = try AppStoreAsking.by(overall: 20_000)
            #expect(await failure { try await store.api.transactionInfo(of: id, patient) } == nil)
        }
    }

    @Test
    func `reads no history without end`() async throws {
        let id = try id(try subscribe(.init(.active, periods: 30)).subscriptions[0].originalTransactionID)
        try await withStore { (store) async throws in
            try fake.misbehave(.endlessPages, at: .history)
            #expect(try await !store.api.transactionHistory(of: id, asking).answer.isComplete)
            #expect(try fake.counts().requests(to: .history) == 5)
            try fake.behave()
            try fake.misbehave(.repeatedPage, at: .history)
            #expect(await failure { try await store.api.transactionHistory(of: id, asking) }?.label == "bad-answer")
        }
    }

    @Test(arguments: [FakeAppStore.TLSCertificate.otherAuthority, .otherAddress, .expired])
    func `sends no request to a server without the right certificate`(
        certificate: FakeAppStore.TLSCertificate
    ) async throws {
        let id = try id(try subscribe(.init(.active)).subscriptions[0].originalTransactionID)
        try fake.setTLS(certificate)
        try await withStore { (store) async throws in
            let error = await failure { try await store.api.subscriptionStatuses(of: id, asking) }
            #expect(error?.label == "unavailable")
            #expect(try fake.counts().toAPI == 0)
            try fake.setTLS(.good)
            #expect(await failure { try await store.api.subscriptionStatuses(of: id, asking) } == nil)
        }
    }

    @Test
    func `a store that hangs is soon not asked, and is asked again when it answers`() async throws {
        let id = try id(try subscribe(.init(.active)).subscriptions[0].originalTransactionID)
        try fake.misbehave(.hang, in: .production)
        let retries = RetryPolicy(attempts: 1, attemptMilliseconds: 300, overallMilliseconds: 1000)
        try await withStore(retries: retries) { (store) async throws in
            await withTaskGroup(of: StoreError?.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        await failure {
                            try await store.api.transactionInfo(of: TransactionID("\(number + 1)"), asking)
                        }
                    }
                }
                for await error in group { #expect(error?.label == "unavailable") }
            }
            // What was given up may still arrive there, so all of it is counted together.
            let error = await failure { try await store.api.transactionInfo(of: id, asking) }
            #expect(error?.retryAfter != nil, "it was not asked")
            #expect(try fake.counts().requests(to: .transactionInfo) <= 128)
            try fake.behave()
            try await #require(
                eventually {
                    store.gateway.breakerGauge.samples.contains { $0.labels[1].1 == "half-open" && $0.value == 1 }
                }
            )
            #expect(await failure { try await store.api.subscriptionStatuses(of: id, asking) } == nil)
        }
    }

    @Test
    func `survives connections that end, and a store that is gone for a while`() async throws {
        let id = try id(try subscribe(.init(.active)).subscriptions[0].originalTransactionID)
        try await withStore(retries: .patient) { (store) async throws in
            for _ in 0..<3 {
                #expect(await failure { try await store.api.subscriptionStatuses(of: id, asking) } == nil)
                try fake.dropConnections()
            }
            try fake.listen(false)
            let error = await failure { try await store.api.subscriptionStatuses(of: id, asking) }
            #expect(error == .unavailable(retryAfter: nil))
            try fake.listen(true)
            #expect(await failure { try await store.api.subscriptionStatuses(of: id, asking) } == nil)
        }
    }

    @Test
    func `notices that its key was revoked`() async throws {
        let id = try id(try subscribe(.init(.active)).subscriptions[0].originalTransactionID)
        try fake.revokeKey(key.id.text)
        try await withStore { (store) async throws in
            let error = await failure { try await store.api.subscriptionStatuses(of: id, asking) }
            #expect(error == .credentialsRefused)
        }
    }
}
