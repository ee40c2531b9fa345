// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP
import OfferDomain
import ServiceRuntime
import TestSupport
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService
@testable import Stores

/// What a fake Google Play that checks assertions without our code says of accounts, and each of Google's errors.
@Suite("Google Play: accounts and errors of the fake", .serialized, .timeLimit(.minutes(2)))
struct GooglePlayClientTests {
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
        let runtime = StoreRuntime(clock: .system, random: try SystemRandom(), metrics: Metrics(), log: log)
        let gateway = StoreGateway(
            transport: client,
            runtime: runtime,
            retries: RetryPolicy(attemptMilliseconds: 20_000, overallMilliseconds: 40_000)
        )
        let origin = try Origin(parsing: fake.origin())
        let place = Place(
            api: GooglePlayAPI(
                gateway: gateway,
                signer: KeyRingAssertionSigner(account: { _ in account }, record: { (_, _, _) throws(StoreError) in }),
                runtime: runtime,
                origins: GoogleOrigins(play: origin, oauth: origin, certs: origin, integrity: origin)
            ),
            asking: GooglePlayAsking(packageName: packageName, party: .service)
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
    func `gets no token for a key that was deleted, and goes on with the one it has`() async throws {
        try await withPlace { place, key in
            _ = try await place.lookUp("x")
            try fake.deleteKey(key.keyID)
            #expect(try await place.lookUp("x") == .notFound)
            try fake.revokeTokens()
            #expect(await failure { try await place.lookUp("x") } == .credentialsRefused)
            let refusals = try fake.counts().tokenRefusals
            #expect(refusals.last?.contains("Invalid JWT Signature") == true, "\(refusals)")
        }
    }

    @Test
    func `ignores the token address in the account's file, and reports missing rights`() async throws {
        let other: FakeMembers = ["token_uri": "https://thief.example/token"]
        try await withPlace(email: "other@example-project.iam.gserviceaccount.com", changing: other) { place, _ in
            #expect(try await place.lookUp("x") == .notFound)
            try fake.setServiceAccount("other@example-project.iam.gserviceaccount.com", packageNames: [])
            #expect(await failure { try await place.lookUp("x") } == .notPermitted(reason: "permissionDenied"))
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
        .invalid: "not-found", .badRequest: "request-refused", .invalidPageToken: "request-refused",
        .purchaseTokenDoesNotMatchPackageName: "not-found",
        .required: "credentials-refused", .authError: "credentials-refused", .permissionDenied: "not-permitted",
        .insufficientPermissions: "not-permitted", .accessNotConfigured: "not-permitted",
        .rateLimitExceeded: "rate-limited", .userRateLimitExceeded: "rate-limited", .quotaExceeded: "rate-limited",
        .notFound: "not-found", .applicationNotFound: "app-unknown", .purchaseTokenNotFound: "not-found",
        .concurrentUpdate: "unavailable", .subscriptionPurchaseNoLongerAvailable: "gone",
        .purchaseTokenNoLongerValid: "gone", .backendError: "unavailable",
    ]
}
