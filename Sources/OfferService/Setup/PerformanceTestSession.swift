// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Dispatch
package import HTTP
package import Ledger
package import OfferDomain
package import ServiceRuntime
package import Stores

/// Why there is no result of a performance test.
package enum PerformanceTestError: Error, Sendable {
    case configuration(ConfigurationError)
    /// Which app is meant must be said, or it can't be tested.
    case app(String)
    case client(ClientError)
    case ledger(LedgerError)
    case notSigned(StoreError)
    case store(RetentionMessagingError)
    /// The time is over; the test goes on.
    case stillPending(requestID: String, minutes: Int)
}

/// One performance test in the sandbox, for one command: it starts, and asks until there is a result.
package struct PerformanceTestSession: Sendable {
    /// The test: a new one, for a transaction in the sandbox, or one that Apple is running already.
    package enum Subject: Sendable {
        case start(TransactionID)
        /// Waits for a test that was started before.
        case resume(requestID: String)
    }

    /// Progress that is reported during the test.
    package enum News: Sendable {
        case started(requestID: String, PerformanceTestResult.Load?)
        case pending(PerformanceTestResult)
        /// It is asked again.
        case notAnswered(RetentionMessagingError)
    }

    /// The app that is tested.
    package let bundleID: BundleID
    /// Whether there is a database; its audit log then records each use of the key.
    package let isRecorded: Bool
    private let origin: Origin
    private let client: Client
    private let tokens: BearerTokens
    private let clock: WallClock
    private let pause: Pause

    /// Reads keys and offers.
    ///
    /// Where there is a database, each use of the key is recorded first; none is needed.
    package init(
        _ settings: Settings,
        app: BundleID?,
        clock: WallClock,
        pause: Pause = .system
    ) throws(PerformanceTestError) {
        let loaded: LoadedConfiguration
        do { loaded = try LoadedConfiguration(settings) } catch { throw .configuration(error) }
        let bundleID = try Self.app(app, loaded.catalog)
        let ledger = LedgerAccess(location: settings.database, clock: clock)
        var ring = loaded.keys.ring
        isRecorded = ledger.exists
        if isRecorded {
            do { ring = ring.disabling(try KeyDisabling(ledger: ledger, clock: clock).disabled()) } catch {
                throw .ledger(error)
            }
        }
        guard let key = ring.activeKey(for: bundleID, purpose: .appStoreServerAPI) else {
            throw .app(
                "no key is active for \(bundleID) with the purpose app-store-server-api; add it in the keys file"
            )
        }
        let signer =
            isRecorded
            ? LiveCheck.signer(key, in: ledger)
            : KeyRingTokenSigner(key: { _ in key }, record: { _, _, _ throws(StoreError) in })
        do { client = try Client(settings.clientConfiguration) } catch { throw .client(error) }
        tokens = BearerTokens(signer: signer, clock: clock)
        origin = settings.appStoreOrigins.sandbox
        (self.bundleID, self.clock, self.pause) = (bundleID, clock, pause)
    }

    /// The named app, or the only app that can be tested.
    private static func app(_ named: BundleID?, _ catalog: Catalog) throws(PerformanceTestError) -> BundleID {
        let able = catalog.apps.values.filter {
            catalog.retention(of: $0.bundleID) != nil && $0.environments.contains(.sandbox)
        }
        .map(\.bundleID).sorted { $0.text < $1.text }
        if let named {
            guard catalog.apps[named] != nil else { throw .app("the offers file has no app \(named)") }
            guard able.contains(named) else {
                throw .app("\(named) needs retention in the offers file, and must take the sandbox in its environments")
            }
            return named
        }
        guard let only = able.first else {
            throw .app(
                "no app of the offers file has retention and takes the sandbox; docs/retention.md has an example"
            )
        }
        guard able.count == 1 else {
            throw .app("say which app with --app: \(able.map(\.text).joined(separator: ", "))")
        }
        return only
    }

    /// Runs the test, and blocks the thread meanwhile; that must not be one of Swift's shared pool.
    package func run(
        _ subject: Subject,
        minutes: Int,
        everySeconds: Int,
        news: @escaping @Sendable (News) -> Void
    ) throws(PerformanceTestError) -> PerformanceTestReport {
        do { try client.start() } catch { throw .client(error) }
        defer { client.stop() }
        let done = DispatchSemaphore(value: 0)
        let outcome = Guarded<Result<PerformanceTestReport, PerformanceTestError>?>(nil)
        Task {
            let found: Result<PerformanceTestReport, PerformanceTestError>
            do throws(PerformanceTestError) {
                found = .success(try await report(subject, minutes: minutes, everySeconds: everySeconds, news: news))
            } catch {
                found = .failure(error)
            }
            outcome.withLock { $0 = found }
            done.signal()
        }
        done.wait()
        guard let found = outcome.withLock({ $0 }) else { throw .store(.unreadable) }
        return try found.get()
    }

    private func report(
        _ subject: Subject,
        minutes: Int,
        everySeconds: Int,
        news: @Sendable (News) -> Void
    ) async throws(PerformanceTestError) -> PerformanceTestReport {
        let end = clock.now().adding(minutes: minutes)
        let requestID = try await requestID(of: subject, news)
        var isRefused = false
        if case .start = subject { await pause(milliseconds: Int64(everySeconds) * 1000) }
        while true {
            let token = try await token()
            do throws(RetentionMessagingError) {
                let result = try await api(token).performanceTest(requestID)
                isRefused = false
                guard result.verdict == .pending else {
                    return PerformanceTestReport(bundleID: bundleID, requestID: requestID, result: result)
                }
                news(.pending(result))
            } catch {
                // The App Store answers 401 now and then to a token that is good.
                guard error.isTemporary || error == .refused && !isRefused else { throw .store(error) }
                if error == .refused {
                    isRefused = true
                    tokens.discard(token, for: bundleID)
                }
                news(.notAnswered(error))
            }
            guard clock.now() < end else { throw .stillPending(requestID: requestID, minutes: minutes) }
            await pause(milliseconds: Int64(everySeconds) * 1000)
        }
    }

    private func requestID(
        of subject: Subject,
        _ news: @Sendable (News) -> Void
    ) async throws(PerformanceTestError) -> String {
        switch subject {
        case .resume(let requestID): return requestID
        case .start(let transactionID):
            let token = try await token()
            do throws(RetentionMessagingError) {
                let started = try await api(token).startPerformanceTest(of: transactionID)
                news(.started(requestID: started.requestID, started.load))
                return started.requestID
            } catch {
                throw .store(error)
            }
        }
    }

    private func token() async throws(PerformanceTestError) -> SignedToken {
        do throws(StoreError) { return try await tokens.token(for: bundleID) } catch { throw .notSigned(error) }
    }

    private func api(_ token: SignedToken) -> RetentionMessagingAPI {
        RetentionMessagingAPI(AuthorizedServer(transport: client, origin: origin, token: token.text))
    }
}
