// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP
import JSON
import OfferDomain
import TestSupport
import Testing

@testable import OfferService

/// The client and the authenticator beside a fake Google Play that checks assertions and signs tokens without our code.
@Suite("Google Play: beside the fake", .serialized, .timeLimit(.minutes(2)))
struct GooglePlayFakeTests {
    private let fake: FakeGooglePlay

    /// One for all tests, which take turns.
    private static let shared = Task { try FakeGooglePlay() }

    init() async throws {
        try startSecureMemory()
        fake = try await Self.shared.value
        try fake.reset()
        try fake.behave()
        try fake.setTokens()
    }

    private struct Place {
        let api: GooglePlayAPI
        let push: GooglePushAuthenticator
        let asking: GooglePlayAsking

        func lookUp(_ token: String) async throws -> GooglePlayLookup {
            try await api.subscriptionPurchase(try PurchaseToken(token), asking)
        }
    }

    private func withPlace(
        email: String = FakeGooglePlay.accountEmail,
        changing members: FakeMembers = [:],
        _ body: (Place, FakeGooglePlay.AccountKey) async throws -> Void
    ) async throws {
        try fake.setServiceAccount(email)
        let key = try fake.addKey(to: email, changing: members)
        let file = try #require(ServiceAccountFile(try SecretFile.read(path: key.path)) { Issue.record("\($0)") })
        let packageName = try PackageName(FakeGooglePlay.firstApp)
        let account = GoogleServiceAccount(name: file.name, packageNames: [packageName], privateKey: file.privateKey)
        let client = try Client(ClientConfiguration(trustedCertificatesFile: fake.tlsCAPath))
        try client.start()
        let log = Log(level: .error, clock: .system) { _ in }
        let gateway = StoreGateway(
            transport: client,
            clock: .system,
            random: try SystemRandom(),
            metrics: Metrics(),
            log: log,
            retries: RetryPolicy(attemptMilliseconds: 20_000, overallMilliseconds: 40_000)
        )
        let origin = try Origin(parsing: fake.origin())
        let identity = GooglePushIdentity(
            audience: FakeGooglePlay.pushIdentity.audience,
            email: try #require(GoogleEmail(FakeGooglePlay.pushIdentity.email))
        )
        let place = Place(
            api: GooglePlayAPI(
                gateway: gateway,
                signer: KeyRingAssertionSigner(account: { _ in account }, record: { (_, _, _) throws(StoreError) in }),
                clock: .system,
                log: log,
                origins: GoogleOrigins(play: origin, oauth: origin, certs: origin)
            ),
            push: GooglePushAuthenticator(
                expecting: identity,
                keys: GoogleSigningKeys(gateway: gateway, origin: origin, log: log),
                clock: .system
            ),
            asking: GooglePlayAsking(packageName: packageName, caller: .service)
        )
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await body(place, key))
        } catch {
            outcome = .failure(error)
        }
        await mayBlock { client.stop() }
        try outcome.get()
    }

    @Test
    func `gets a token for its assertion, and reads a purchase over TLS`() async throws {
        try fake.setSubscription(FakeGooglePlay.Subscription("premium"))
        let bought = try fake.buy(FakeGooglePlay.Purchase("premium"))
        try await withPlace { place, _ in
            let before = try fake.counts().tokensIssued
            guard case .found(let answer) = try await place.lookUp(bought.token) else {
                Issue.record("there is no purchase")
                return
            }
            #expect(try GooglePlayPurchase(json: answer.json).lineItems.count == 1)
            #expect(try await place.lookUp("nobody-has-this") == .notFound)
            #expect(try fake.counts().tokensIssued == before + 1)
            #expect(try fake.requests().allSatisfy { $0.protocol == "h2" })
        }
    }

    @Test
    func `renews a token that was revoked, and gets none for a key that was deleted`() async throws {
        try await withPlace { place, key in
            _ = try await place.lookUp("x")
            try fake.revokeTokens()
            #expect(try await place.lookUp("x") == .notFound)
            try fake.deleteKey(key.keyID)
            #expect(try await place.lookUp("x") == .notFound)
            try fake.revokeTokens()
            #expect(await failure { try await place.lookUp("x") } == .credentialsRefused)
            let refusals = try fake.counts().tokenRefusals
            #expect(refusals.last?.contains("Invalid JWT Signature") == true, "\(refusals)")
        }
    }

    @Test
    func `asks where it is told to, whatever the account's file says, and without rights is told so`() async throws {
        let other: FakeMembers = ["token_uri": "https://thief.example/token"]
        try await withPlace(email: "other@example-project.iam.gserviceaccount.com", changing: other) { place, _ in
            #expect(try await place.lookUp("x") == .notFound)
            try fake.setServiceAccount("other@example-project.iam.gserviceaccount.com", packageNames: [])
            #expect(await failure { try await place.lookUp("x") } == .notPermitted(reason: "permissionDenied"))
        }
    }

    @Test
    func `reads lists in pages of any size, and empty ones in all their forms`() async throws {
        try await withPlace { place, _ in
            for emptyLists in FakeGooglePlay.Habits.EmptyLists.allCases {
                try fake.setHabits(FakeGooglePlay.Habits(emptyLists: emptyLists))
                for pages in [
                    try await place.api.offerPages(place.asking), try await place.api.subscriptionPages(place.asking),
                ] {
                    #expect(pages.allSatisfy { $0.root.object?["nextPageToken"] == nil })
                    #expect(pages.flatMap { page in page.root.object.map { Array($0) } ?? [] }.count <= 1)
                }
            }
            try fake.setSubscription(FakeGooglePlay.Subscription("premium"))
            for index in 0..<7 { try fake.setOffer(FakeGooglePlay.Offer("offer-\(index)", of: "premium")) }
            for largestPage in [1, 3, 100] {
                try fake.setHabits(FakeGooglePlay.Habits(largestPage: largestPage))
                let pages = try await place.api.offerPages(place.asking)
                let ids = pages.flatMap { page -> [String] in
                    (page.root.object?["subscriptionOffers"]?.array.map { Array($0) } ?? [])
                        .compactMap { $0.object?["offerId"]?.string }
                }
                #expect(ids.sorted() == (0..<7).map { "offer-\($0)" })
            }
            for endless in [FakeGooglePlay.Misbehaviour.repeatedPage, .endlessPages] {
                try fake.misbehave(endless, at: .offers)
                #expect(await failure { try await place.api.offerPages(place.asking) }?.label == "bad-answer")
                try fake.behave()
            }
        }
    }

    @Test
    func `reads every error of Google's, and never a wrong answer out of one`() async throws {
        try await withPlace { place, _ in
            _ = try await place.lookUp("x")
            for reason in FakeGooglePlay.Reason.allCases {
                try fake.misbehave(.error(reason), at: .purchase, times: 3)
                let label: String
                do {
                    label =
                        switch try await place.lookUp("x") {
                        case .found: "found"
                        case .gone: "gone"
                        case .notFound: "not-found"
                        }
                } catch let error as StoreError {
                    label = error.label
                }
                try fake.behave()
                #expect(label == Self.labels[reason], "\(reason)")
            }
        }
    }

    private static let labels: [FakeGooglePlay.Reason: String] = [
        .invalid: "not-found", .invalidPageToken: "request-refused", .purchaseTokenDoesNotMatchPackageName: "not-found",
        .required: "credentials-refused", .authError: "credentials-refused", .permissionDenied: "not-permitted",
        .insufficientPermissions: "not-permitted", .accessNotConfigured: "not-permitted",
        .rateLimitExceeded: "rate-limited", .userRateLimitExceeded: "rate-limited", .quotaExceeded: "rate-limited",
        .notFound: "not-found", .applicationNotFound: "app-unknown", .purchaseTokenNotFound: "not-found",
        .concurrentUpdate: "unavailable", .subscriptionPurchaseNoLongerAvailable: "gone",
        .purchaseTokenNoLongerValid: "gone", .backendError: "unavailable",
    ]

    @Test
    func `believes a push, and none whose token is wrong in anything`() async throws {
        try await withPlace { place, _ in
            let message = try fake.makeNotification()
            func fault(_ push: FakeGooglePlay.PushMessage) async -> GooglePushFault? {
                var headers = HeaderFields()
                headers.append("Authorization", push.authorization)
                do throws(GooglePushFault) {
                    try await place.push.authenticate(headers)
                    return nil
                } catch {
                    return error
                }
            }
            #expect(try await fault(fake.push(message)) == nil)
            for wrong in FakeGooglePlay.TokenFault.allCases {
                let fault = try await fault(fake.push(message, fault: wrong))
                #expect((fault == nil) == wrong.isAcceptable, "\(wrong): \(fault?.label ?? "believed")")
                #expect(fault?.isTemporary != true, "\(wrong)")
            }
            #expect(try fake.counts().requests(to: .certificates) == 1)
        }
    }
}
