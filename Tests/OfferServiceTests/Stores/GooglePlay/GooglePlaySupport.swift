// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import OfferDomain
import OfferService
import ServiceRuntime
import Synchronization
import Testing

@testable import Ledger
@testable import Stores

/// Signs nothing: its assertions are counted.
final class CountingAssertionSigner: GoogleAssertionSigner {
    private let made = Mutex<[AssertionTimes]>([])
    private let account = Mutex<GoogleAccountName?>(nil)

    init() throws { try use("signer@example.iam.gserviceaccount.com", key: "key1") }

    var assertions: [AssertionTimes] { made.withLock { $0 } }

    func use(_ email: String, key: String) throws {
        let name = GoogleAccountName(email: try #require(GoogleEmail(email)), keyID: try #require(GoogleKeyID(key)))
        account.withLock { $0 = name }
    }

    func useNone() { account.withLock { $0 = nil } }

    func accountName(for packageName: PackageName) -> GoogleAccountName? { account.withLock { $0 } }

    func assertion(
        for packageName: PackageName,
        _ scope: GoogleScope,
        _ times: AssertionTimes
    ) async throws(StoreError) -> SignedAssertion {
        guard let name = accountName(for: packageName) else { throw .cannotSign(reason: "no account") }
        let count = made.withLock { made in
            made.append(times)
            return made.count
        }
        return SignedAssertion(text: Array("assertion\(count)".utf8), account: name)
    }
}

/// Google Play's client on a transport and a clock of the test.
struct TestGooglePlay {
    typealias Answer = ScriptedTransport.Answer

    let clock: SettableClock
    let metrics = Metrics()
    let log: LogRecorder
    let transport: ScriptedTransport
    let gateway: StoreGateway
    let api: GooglePlayAPI
    let asking: GooglePlayAsking
    let signer: CountingAssertionSigner

    /// `token` and `play` answer by how often each of them was asked before.
    init(
        token: @escaping @Sendable (Int) -> Answer = { .token("token\($0 + 1)") },
        signer: (any GoogleAssertionSigner)? = nil,
        maximumPages: Int = 100,
        clock: SettableClock = SettableClock(),
        play: @escaping @Sendable (Int) -> Answer
    ) throws {
        let counts = Counts()
        transport = ScriptedTransport { request, _ in
            request.origin.host == "oauth2.googleapis.com" ? token(counts.token()) : play(counts.play())
        }
        self.clock = clock
        log = LogRecorder()
        let log = Log(level: .info, clock: clock.wallClock, sink: log.sink)
        let runtime = StoreRuntime(clock: clock.wallClock, random: ScriptedRandom(), metrics: metrics, log: log)
        gateway = StoreGateway(
            transport: transport,
            runtime: runtime,
            pause: Pause { clock.advance(milliseconds: $0) }
        )
        self.signer = try CountingAssertionSigner()
        api = GooglePlayAPI(
            gateway: gateway,
            signer: signer ?? self.signer,
            runtime: runtime,
            maximumPages: maximumPages
        )
        asking = GooglePlayAsking(
            packageName: try PackageName("com.example.app"),
            party: .caller(try #require(CallerID("backend")))
        )
    }

    private final class Counts: Sendable {
        private let counts = Mutex((token: 0, play: 0))

        func token() -> Int {
            counts.withLock { counts in
                counts.token += 1
                return counts.token - 1
            }
        }

        func play() -> Int {
            counts.withLock { counts in
                counts.play += 1
                return counts.play - 1
            }
        }
    }

    /// Requests to the API, without those for tokens.
    var playRequests: [ClientRequest] { transport.requests.filter { $0.origin.host != "oauth2.googleapis.com" } }
    var tokenRequests: [ClientRequest] { transport.requests.filter { $0.origin.host == "oauth2.googleapis.com" } }
    var authorizations: [String] {
        playRequests.compactMap { $0.headers.first("authorization") }.map { String(decoding: $0, as: UTF8.self) }
    }

    func count(_ outcome: String, _ endpoint: String = "subscription-purchase") -> Int {
        metrics[
            .storeRequests(store: "google-play", endpoint: endpoint, environment: "production", outcome: outcome)
        ]
    }

    func lookUp(_ token: String = "purchase.token-1") async throws -> GooglePlayLookup {
        try await api.subscriptionPurchase(try PurchaseToken(token), asking)
    }
}

extension Result where Success == ClientResponse, Failure == ClientError {
    static func token(_ text: String, life: String = "3599") -> Self {
        .json(#"{"access_token":"\#(text)","expires_in":\#(life),"token_type":"Bearer"}"#)
    }

    static func googleError(
        _ status: Int,
        _ reason: String,
        _ canonical: String? = nil,
        retryAfter: String? = nil
    ) -> Self {
        let canonical = canonical.map { #","status":"\#($0)""# } ?? ""
        let errors =
            reason.isEmpty ? "" : #","errors":[{"message":"Words.","domain":"androidpublisher","reason":"\#(reason)"}]"#
        return .json(
            #"{"error":{"code":\#(status),"message":"Words."\#(errors)\#(canonical)}}"#,
            status: status,
            retryAfter: retryAfter
        )
    }

    static var purchase: Self { .json(#"{"kind":"androidpublisher#subscriptionPurchaseV2","startTime":"x"}"#) }
}
