// SPDX-License-Identifier: Apache-2.0
import Cryptography
package import HTTP
import Ledger
import OfferDomain
package import ServiceRuntime

/// The public keys of Google's tokens, requested when a token needs them and kept for as long as Google says.
///
/// An unknown key ID causes one more request, but not more often than once a minute, so tokens with made-up IDs can't
/// make the service ask each time. While Google does not answer, the last keys stay in use for a day.
package final class GoogleSigningKeys: Sendable {
    /// An answer of Google's.
    private struct Answer: Sendable {
        let set: TokenKeySet
        /// How long it may be used without asking again.
        let freshMilliseconds: Int64
    }

    private struct Held {
        let answer: Answer
        /// The time of the request, from which their age counts.
        let readAt: Int64
        let answeredAt: Int64
    }

    private struct State {
        var held: Held?
        /// When the last request ended, successful or not; a caller before that time waits for the same answer.
        var endedAt: Int64?
        var hasFailed = false
    }

    private let gateway: StoreGateway
    private let origin: Origin
    private let log: Log
    private let state = Guarded(State())
    private let asking = Coalescer<Origin, Answer>()

    /// Asks nothing before a key is needed.
    package init(gateway: StoreGateway, origin: Origin, log: Log) {
        self.gateway = gateway
        self.origin = origin
        self.log = log
    }

    /// The key that the token names.
    ///
    /// - Throws: ``GooglePushFault/token(_:)`` if Google has no such key, ``GooglePushFault/keysUnavailable`` if that
    ///   can't be known just now.
    func key(of token: JSONWebToken) async throws(GooglePushFault) -> TokenKey {
        guard token.keyID != nil else { throw .token(.keyIDUnfit) }
        let now = gateway.uptime.milliseconds
        let state = state.withLock { $0 }
        let held = state.held
        let isFresh = held.map { now - $0.readAt < $0.answer.freshMilliseconds } ?? false
        let known = held?.answer.set.candidates(for: token).first
        if isFresh, let known { return known }
        let isSettled = isFresh && !state.hasFailed
        let pause = isSettled ? Self.pauseForUnknownMilliseconds : Self.pauseAfterFailureMilliseconds
        let mayAsk = state.endedAt.map { now - $0 >= pause } ?? true
        if mayAsk, let answer = await ask(at: now) {
            guard let key = answer.set.candidates(for: token).first else { throw .token(.keyUnknown) }
            return key
        }
        guard let held, now - held.readAt < Self.usableMilliseconds else { throw .keysUnavailable }
        if let known { return known }
        // The keys are fresh and were just requested: there is no such key. Otherwise it may be a new one.
        throw isSettled && !mayAsk ? .token(.keyUnknown) : .keysUnavailable
    }

    private func ask(at now: Int64) async -> Answer? {
        do throws(StoreError) {
            return try await asking.answer(to: origin) { [self] in
                // Another request's answer may have come between our look and our question.
                if let held = state.withLock({ $0.held }), held.answeredAt >= now { return .success(held.answer) }
                let outcome = await outcome()
                settle(outcome, askedAt: now)
                return outcome
            }
        } catch {
            log(.warning, "Google's public keys can't be read", with: ["reason": .text(error.description)])
            return nil
        }
    }

    private func settle(_ outcome: Result<Answer, StoreError>, askedAt: Int64) {
        let now = gateway.uptime.milliseconds
        state.withLock { state in
            state.endedAt = now
            state.hasFailed = true
            guard case .success(let answer) = outcome else { return }
            state.hasFailed = false
            state.held = Held(answer: answer, readAt: askedAt, answeredAt: now)
        }
    }

    private func outcome() async -> Result<Answer, StoreError> {
        do throws(StoreError) {
            return .success(try await fetch())
        } catch {
            return .failure(error)
        }
    }

    private func fetch() async throws(StoreError) -> Answer {
        let call = StoreCall(
            account: StoreCall.Account(
                store: GooglePlayAPI.storeName,
                endpoint: "certs",
                environment: GooglePlayAPI.environmentName,
                app: ""
            ),
            origin: origin,
            quota: Self.quota,
            party: .service
        )
        let deadline = gateway.uptime.deadline(afterMilliseconds: gateway.retries.overallMilliseconds)
        return try await gateway.ask(call, before: deadline) { milliseconds throws(StoreError) in
            try request(milliseconds)
        } read: { response in
            Self.read(response, at: gateway.uptime.now)
        }
    }

    private func request(_ milliseconds: Int) throws(StoreError) -> ClientRequest {
        var headers = HeaderFields()
        headers.append("Accept", "application/json")
        do throws(ClientError) {
            var request = try ClientRequest(.get, origin, path: ["oauth2", "v3", "certs"], headers: headers)
            request.timeoutMilliseconds = milliseconds
            request.maximumResponseBytes = TokenKeySet.maximumBytes
            return request
        } catch {
            throw .badAnswer(reason: "our request: \(error.label)")
        }
    }

    private static func read(_ response: ClientResponse, at now: Timestamp) -> StoreReading<Answer> {
        switch response.status {
        case 200:
            guard let set = try? TokenKeySet(response.body) else {
                return .failure(.badAnswer(reason: "no key that can be used"), server: .failed)
            }
            // Between a minute and a day; an hour where nothing is said.
            let seconds = min(max(response.maximumAgeSeconds ?? 3600, 60), 86_400)
            return .answer(Answer(set: set, freshMilliseconds: seconds * 1000))
        case 429: return response.rateLimit(at: now)
        case 408, 500..<600: return .retry(.unavailable(retryAfter: response.retryAfter(at: now)), server: .failed)
        default: return .failure(.badAnswer(reason: "status \(response.status)"), server: .failed)
        }
    }

    /// Google states no quota; a few requests an hour are usual.
    private static let quota = StoreQuota.perHour(600)
    private static let pauseForUnknownMilliseconds: Int64 = 60_000
    private static let pauseAfterFailureMilliseconds: Int64 = 5000
    private static let usableMilliseconds: Int64 = 86_400_000
}
