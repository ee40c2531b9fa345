// SPDX-License-Identifier: Apache-2.0
import HTTP
import OfferDomain

/// Asks the App Store Server API.
///
/// Answers hold what Apple signed as it came: whoever uses them verifies it. The same question asked by several at once is
/// asked of Apple once. Where a transaction's environment is not known, production is asked, and the sandbox only if
/// production says that it does not know the transaction.
///
/// Source: Apple, [App Store Server API](https://developer.apple.com/documentation/appstoreserverapi).
package final class AppStoreServerAPI: Sendable {
    /// Whose environment has been learned.
    struct Learned: Hashable, Sendable {
        let bundleID: BundleID
        let transactionID: TransactionID
    }

    /// The most transactions whose environment is remembered.
    private static let mostLearned = 20_000

    let gateway: StoreGateway
    let origins: AppStoreOrigins
    /// Those that may be asked, in this order.
    let environments: [StoreEnvironment] = [.production, .sandbox]
    let maximumPages: Int
    let tokens: BearerTokens
    let clock: WallClock
    let log: Log
    private let learned = Guarded(RecentValues<Learned, StoreEnvironment>(capacity: mostLearned))
    let statuses: Coalescer<Question, Answered<SubscriptionStatuses>>
    let histories: Coalescer<Question, Answered<TransactionHistory>>
    let signedTexts: Coalescer<Question, Answered<UnverifiedJWS>>

    /// What is asked, and where; two that are equal have the same answer.
    struct Question: Hashable, Sendable {
        let endpoint: AppStoreEndpoint
        let transactionID: TransactionID
        let bundleID: BundleID
        let environment: StoreEnvironment?
        var filter: TransactionHistoryFilter?
        var revision: String?
    }

    /// - Parameters:
    ///   - gateway: Sends the requests; all stores may share one.
    ///   - signer: Signs the tokens.
    ///   - runtime: The clock for tokens and answers, counts of questions that were asked already, and the log.
    ///   - origins: Apple's own unless a setting says otherwise.
    ///   - maximumPages: Of one history, twenty transactions each.
    package init(
        gateway: StoreGateway,
        signer: any TokenSigner,
        runtime: Runtime,
        origins: AppStoreOrigins = .apple,
        maximumPages: Int = 50
    ) {
        self.gateway = gateway
        self.origins = origins
        self.maximumPages = maximumPages
        clock = runtime.clock
        log = runtime.log
        tokens = BearerTokens(signer: signer, clock: runtime.clock)
        let metrics = runtime.metrics
        let joined: @Sendable (Question) -> Void = {
            metrics.count(.storeJoined(store: Self.storeName, endpoint: $0.endpoint.rawValue))
        }
        statuses = Coalescer(joined: joined)
        histories = Coalescer(joined: joined)
        signedTexts = Coalescer(joined: joined)
    }

    static let storeName = "app-store"

    /// Runs `ask` in the environments where the transaction may be, until one knows it.
    func inItsEnvironment<Answer: Sendable>(
        _ id: TransactionID,
        _ asking: AppStoreAsking,
        _ ask: (StoreEnvironment) async throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        let name = Learned(bundleID: asking.bundleID, transactionID: id)
        let learned = learned.withLock { $0[name] }
        let candidates = (asking.environment ?? learned).map { [$0] } ?? environments
        var error = StoreError.notFound(code: AppStoreReading.transactionIDNotFound)
        for environment in candidates {
            do throws(StoreError) {
                let answer = try await ask(environment)
                self.learned.withLock { $0[name] = environment }
                return answer
            } catch .notFound(code: AppStoreReading.transactionIDNotFound) {
                if learned == environment { self.learned.withLock { $0[name] = nil } }
                error = .notFound(code: AppStoreReading.transactionIDNotFound)
            } catch let other {
                throw other
            }
        }
        throw error
    }

    /// One request to one environment, with its retries.
    func ask<Answer: AppStoreAnswer>(
        _ endpoint: AppStoreEndpoint,
        in environment: StoreEnvironment,
        _ asking: AppStoreAsking,
        before deadline: Deadline,
        _ method: HTTP.Method = .get,
        path: [String],
        query: [(name: String, value: String)] = [],
        body: [UInt8] = []
    ) async throws(StoreError) -> Answer {
        let call = StoreCall(
            account: StoreCall.Account(
                store: Self.storeName,
                endpoint: endpoint.rawValue,
                environment: environment.rawValue,
                app: asking.bundleID.text
            ),
            origin: origins[environment],
            quota: .perHour(endpoint.perHour(in: environment)),
            party: asking.party
        )
        var token: SignedToken?
        do throws(StoreError) {
            return try await gateway.ask(call, before: deadline) { milliseconds throws(StoreError) in
                let current = try await tokens.token(for: asking.bundleID)
                token = current
                return try Self.request(call.origin, method, path, query, body, current, milliseconds)
            } read: {
                AppStoreReading(bundleID: asking.bundleID, environment: environment, now: clock.now()).read($0)
            }
        } catch {
            if error == .credentialsRefused, let token { refused(token, asking.bundleID, environment) }
            throw error
        }
    }

    /// By when the question must be answered.
    func deadline(_ asking: AppStoreAsking) -> Deadline {
        gateway.uptime.deadline(
            afterMilliseconds: asking.overallMilliseconds ?? gateway.retries.overallMilliseconds
        )
    }

    private func refused(_ token: SignedToken, _ bundleID: BundleID, _ environment: StoreEnvironment) {
        tokens.discard(token, for: bundleID)
        log(
            .error,
            "the App Store refuses our credentials",
            ["app": .text(bundleID.text), "key": .text(token.keyID.text), "environment": .text(environment.rawValue)]
        )
    }

    private static func request(
        _ origin: Origin,
        _ method: HTTP.Method,
        _ path: [String],
        _ query: [(name: String, value: String)],
        _ body: [UInt8],
        _ token: SignedToken,
        _ milliseconds: Int
    ) throws(StoreError) -> ClientRequest {
        var headers = HeaderFields()
        headers.append("Authorization", "Bearer \(token.text)")
        headers.append("Accept", "application/json")
        if !body.isEmpty { headers.append("Content-Type", "application/json") }
        do {
            return try ClientRequest(
                method,
                origin,
                path: path,
                query: query,
                headers: headers,
                body: body,
                timeoutMilliseconds: milliseconds
            )
        } catch {
            throw .badAnswer(reason: "our request: \(error.label)")
        }
    }
}
