// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Ledger
import OfferDomain
import ServiceRuntime

/// Asks the App Store Server API.
///
/// Answers contain Apple's signed data as received; the caller verifies it. Equal questions at the same time cause one
/// request. If a transaction's environment is unknown, production is asked first. The sandbox follows only if
/// production does not know the transaction, or refuses the app, as it does until the app's first release.
///
/// Source: Apple, [App Store Server API](https://developer.apple.com/documentation/appstoreserverapi).
package final class AppStoreServerAPI: Sendable {
    /// A transaction with an environment that an earlier answer has shown.
    struct Learned: Hashable, Sendable {
        let bundleID: BundleID
        let transactionID: TransactionID
    }

    /// The maximum number of transactions with a remembered environment.
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
    let releases: AppReleases
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
        runtime: StoreRuntime,
        origins: AppStoreOrigins = .apple,
        maximumPages: Int = 50
    ) {
        self.gateway = gateway
        self.origins = origins
        self.maximumPages = maximumPages
        clock = runtime.clock
        log = runtime.log
        releases = AppReleases(log: runtime.log, clock: runtime.clock)
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
    ///
    /// Production answers 401 to each question about an app that was never released; the sandbox knows its purchases.
    /// So a 401 does not end the question. The sandbox takes the same key, so it shows whether the key is wrong.
    func inItsEnvironment<Answer: Sendable>(
        _ id: TransactionID,
        _ asking: AppStoreAsking,
        ask: (StoreEnvironment) async throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        let name = Learned(bundleID: asking.bundleID, transactionID: id)
        let learned = learned.withLock { $0[name] }
        let candidates = (asking.environment ?? learned).map { [$0] } ?? environments
        var isRefused = false
        for environment in candidates {
            do throws(StoreError) {
                let answer = try await ask(environment)
                self.learned.withLock { $0[name] = environment }
                note(environment, asking, isRefused: isRefused)
                return answer
            } catch {
                if error == .credentialsRefused, environment != candidates.last, !releases.isReleased(asking.bundleID) {
                    isRefused = true
                    continue
                }
                guard error == .notFound(code: AppStoreReading.transactionIDNotFound) else {
                    if error == .credentialsRefused { refused(asking.bundleID, environment) }
                    throw error
                }
                if learned == environment { self.learned.withLock { $0[name] = nil } }
                note(environment, asking, isRefused: isRefused)
            }
        }
        throw .notFound(code: AppStoreReading.transactionIDNotFound)
    }

    /// Notes that an environment took the key.
    private func note(_ environment: StoreEnvironment, _ asking: AppStoreAsking, isRefused: Bool) {
        if environment == .production { return releases.noteReleased(asking.bundleID) }
        if isRefused { releases.noteUnreleased(asking.bundleID) }
    }

    /// Sends one request to one environment, with retries; after a 401, repeats it once with a new token.
    ///
    /// The App Store sometimes answers 401 to a valid token.
    func ask<Answer: AppStoreAnswer>(
        _ request: AppStoreRequest,
        _ asking: AppStoreAsking,
        in environment: StoreEnvironment,
        before deadline: Deadline
    ) async throws(StoreError) -> Answer {
        let call = call(request.endpoint, asking, in: environment)
        var isRenewed = environment == .production && releases.isUnreleased(asking.bundleID)
        while true {
            var token: SignedToken?
            do throws(StoreError) {
                return try await gateway.ask(call, before: deadline) { milliseconds throws(StoreError) in
                    let current = try await tokens.token(for: asking.bundleID)
                    token = current
                    return try request.clientRequest(to: call.origin, with: current, timeoutMilliseconds: milliseconds)
                } read: {
                    AppStoreReading(bundleID: asking.bundleID, environment: environment, now: clock.now()).read($0)
                }
            } catch {
                guard error == .credentialsRefused, !isRenewed, let token else {
                    note(error, call)
                    throw error
                }
                isRenewed = true
                tokens.discard(token, for: asking.bundleID)
            }
        }
    }

    private func call(
        _ endpoint: AppStoreEndpoint,
        _ asking: AppStoreAsking,
        in environment: StoreEnvironment
    ) -> StoreCall {
        var call = StoreCall(
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
        // The sandbox is asked next, and its refusal shows if the key is wrong.
        call.mayBeUnreleased =
            environment == .production && asking.environment == nil && !releases.isReleased(asking.bundleID)
        return call
    }

    /// By when the question must be answered.
    func deadline(_ asking: AppStoreAsking) -> Deadline {
        gateway.uptime.deadline(
            afterMilliseconds: asking.overallMilliseconds ?? gateway.retries.overallMilliseconds
        )
    }

    /// Logs that the key is refused, where no other environment may take it.
    func refused(_ bundleID: BundleID, _ environment: StoreEnvironment) {
        let release =
            environment == .production && !releases.isReleased(bundleID)
            ? "; production also refuses an app before its first release: set environments: [\"sandbox\"] for it in offers"
            : ""
        log(
            .error,
            "the App Store refuses our credentials",
            with: [
                "app": .text(bundleID.text), "key": .text(tokens.keyID(for: bundleID)?.text ?? ""),
                "environment": .text(environment.rawValue), "hint": .text("run offer-signer check --live" + release),
            ]
        )
    }

    /// Logs that an entry of an answer was left out, with where its fault is.
    ///
    /// The member contains no value, as that may be customer data.
    func leftOut(
        _ member: String,
        of bundleID: BundleID,
        in environment: StoreEnvironment,
        reason: String = "unreadable-entry"
    ) {
        log.onceAMinute(
            .warning,
            "an entry of the App Store's answer was left out",
            reason: reason,
            app: bundleID.text,
            with: ["member": .text(member), "environment": .text(environment.rawValue)]
        )
    }

    /// Logs errors that only the operator or the caller can fix; the code is Apple's own.
    private func note(_ error: StoreError, _ call: StoreCall) {
        let account = call.account
        switch error {
        case .requestRefused(let status, let code):
            log.onceAMinute(
                .warning,
                "the App Store refuses a question",
                reason: "\(code)",
                app: account.app,
                with: [
                    "code": .integer(code), "status": .integer(Int64(status)),
                    "environment": .text(account.environment), "endpoint": .text(account.endpoint),
                ]
            )
        case .appUnknown(let code):
            log.onceAMinute(
                .error,
                "the App Store does not know the app",
                reason: "\(code)",
                app: account.app,
                with: ["code": .integer(code), "environment": .text(account.environment)]
            )
        case .badAnswer(let reason):
            log.onceAMinute(
                .warning,
                "an answer of the App Store cannot be read",
                reason: reason,
                app: account.app,
                with: ["environment": .text(account.environment), "endpoint": .text(account.endpoint)]
            )
        default: break
        }
    }
}
