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

/// Answers requests by a closure, and remembers them.
final class ScriptedTransport: Transport {
    typealias Answer = Result<ClientResponse, ClientError>

    private let seen = Mutex<[ClientRequest]>([])
    private let answer: @Sendable (ClientRequest, _ index: Int) async -> Answer

    init(_ answer: @escaping @Sendable (ClientRequest, _ index: Int) async -> Answer) {
        self.answer = answer
    }

    /// Gives these answers in turn, and the last one again and again.
    convenience init(_ answers: Answer...) {
        self.init { _, index in answers[min(index, answers.count - 1)] }
    }

    var requests: [ClientRequest] { seen.withLock { $0 } }
    /// Host and target of each request, without the scheme.
    var targets: [String] { requests.map { "\($0.origin.host)\($0.target)" } }

    func send(_ request: ClientRequest) async throws(ClientError) -> ClientResponse {
        let index = seen.withLock { seen in
            seen.append(request)
            return seen.count - 1
        }
        return try await answer(request, index).get()
    }
}

extension Result where Success == ClientResponse, Failure == ClientError {
    static func json(_ text: String, status: Int = 200, retryAfter: String? = nil) -> Self {
        var headers = HeaderFields()
        if let retryAfter { headers.append("Retry-After", retryAfter) }
        return .success(ClientResponse(status: status, headers: headers, body: Array(text.utf8)))
    }

    static func error(_ status: Int, _ code: Int64, retryAfter: String? = nil) -> Self {
        .json(#"{"errorCode":\#(code),"errorMessage":"Words."}"#, status: status, retryAfter: retryAfter)
    }

    static var unknownTransaction: Self { .error(404, 4_040_010) }

    static func statuses(in environment: String = "Production") -> Self {
        .json(
            """
            {"environment":"\(environment)","bundleId":"com.example.app","appAppleId":1234,"data":[
              {"subscriptionGroupIdentifier":"sub_group_one","lastTransactions":[
                {"status":1,"originalTransactionId":"3749183","signedTransactionInfo":"t1","signedRenewalInfo":"r1"},
                {"status":77,"originalTransactionId":"5314314","signedTransactionInfo":"t2","added":{"later":[1]}}]},
              {"subscriptionGroupIdentifier":"2","lastTransactions":[],"new":null}],"more":"x"}
            """
        )
    }

    static func page(_ transactions: String, revision: String, hasMore: Bool) -> Self {
        .json(
            #"{"revision":"\#(revision)","hasMore":\#(hasMore),"bundleId":"com.example.app","environment":"Production","signedTransactions":[\#(transactions)]}"#
        )
    }
}

/// Signs nothing: its tokens are counted.
final class CountingSigner: TokenSigner {
    private let made = Mutex<[TokenRequest]>([])
    private let key = Mutex<KeyID?>(try? KeyID("ABCDEFGHIJ"))

    var requests: [TokenRequest] { made.withLock { $0 } }

    func use(_ keyID: KeyID?) {
        key.withLock { $0 = keyID }
    }

    func keyID(for bundleID: BundleID) -> KeyID? { key.withLock { $0 } }

    func signature(for request: TokenRequest) async throws(StoreError) -> SignedToken {
        guard let keyID = keyID(for: request.bundleID) else { throw .cannotSign(reason: "no key") }
        let count = made.withLock { made in
            made.append(request)
            return made.count
        }
        return SignedToken(text: "token\(count)", keyID: keyID)
    }
}

/// The App Store's client on a transport and a clock of the test.
struct TestStore {
    let clock = SettableClock()
    let metrics = Metrics()
    let log = LogRecorder()
    let signer = CountingSigner()
    let gateway: StoreGateway
    let api: AppStoreServerAPI
    private let pauses = PauseRecorder()

    var pausedMilliseconds: [Int64] { pauses.all }

    init(
        _ transport: any Transport,
        retries: RetryPolicy = RetryPolicy(),
        budgetShare: Double = 0.9,
        origins: AppStoreOrigins = .apple,
        signer: (any TokenSigner)? = nil,
        maximumPages: Int = 5,
        clock: SettableClock? = nil,
        isInRealTime: Bool = false
    ) {
        let settable = clock ?? self.clock
        let wallClock = isInRealTime ? .system : settable.wallClock
        let log = Log(level: .info, clock: wallClock, sink: log.sink)
        let pauses = pauses
        let pause = Pause { milliseconds in
            pauses.add(milliseconds)
            settable.advance(milliseconds: milliseconds)
        }
        let runtime = StoreRuntime(clock: wallClock, random: ScriptedRandom(), metrics: metrics, log: log)
        gateway = StoreGateway(
            transport: transport,
            runtime: runtime,
            pause: isInRealTime ? .system : pause,
            retries: retries,
            budgetShare: budgetShare
        )
        api = AppStoreServerAPI(
            gateway: gateway,
            signer: signer ?? self.signer,
            runtime: runtime,
            origins: origins,
            maximumPages: maximumPages
        )
    }

    /// How many requests of that endpoint ended so.
    func count(
        _ outcome: String,
        _ endpoint: AppStoreEndpoint = .subscriptionStatuses,
        in environment: StoreEnvironment = .production
    ) -> Int {
        metrics[
            .storeRequests(
                store: "app-store",
                endpoint: endpoint.rawValue,
                environment: environment.rawValue,
                outcome: outcome
            )
        ]
    }
}

private final class PauseRecorder: Sendable {
    private let recorded = Mutex<[Int64]>([])
    var all: [Int64] { recorded.withLock { $0 } }
    func add(_ milliseconds: Int64) { recorded.withLock { $0.append(milliseconds) } }
}

extension AppStoreAsking {
    static func by(
        _ caller: String = "backend",
        in environment: StoreEnvironment? = nil,
        overall: Int64? = nil
    ) throws -> AppStoreAsking {
        AppStoreAsking(
            bundleID: try BundleID("com.example.app"),
            party: .caller(try #require(CallerID(caller))),
            environment: environment,
            overallMilliseconds: overall
        )
    }
}

/// How a question failed; `nil` if it did not.
func failure<Answer>(_ body: () async throws -> Answer) async -> StoreError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? StoreError
    }
}
