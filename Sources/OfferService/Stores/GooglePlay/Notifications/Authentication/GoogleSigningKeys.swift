// SPDX-License-Identifier: Apache-2.0
import Cryptography
package import HTTP
import OfferDomain

/// The public keys of Google's tokens, asked for when they are needed and kept for as long as Google says.
///
/// An id that is not among them has them asked for once more, but not more often than once a minute: whoever sends tokens
/// of made-up ids can't make us ask. While Google does not answer, the last ones stay in use for a day.
package final class GoogleSigningKeys: Sendable {
    private struct Held {
        let set: GoogleKeySet
        /// When they were asked for, from which their age counts.
        let readAt: Int64
        let answeredAt: Int64
    }

    private struct State {
        var held: Held?
        /// When the last question ended, in vain or not; who comes before that waits for the same answer.
        var endedAt: Int64?
        var hasFailed = false
    }

    private let gateway: StoreGateway
    private let origin: Origin
    private let log: Log
    private let state = Guarded(State())
    private let asking = Coalescer<Origin, GoogleKeySet>()

    /// Asks nothing before a key is needed.
    package init(gateway: StoreGateway, origin: Origin, log: Log) {
        self.gateway = gateway
        self.origin = origin
        self.log = log
    }

    /// The key of that id.
    ///
    /// - Throws: ``GooglePushFault/keyUnknown`` if Google has none, ``GooglePushFault/keysUnavailable`` if that can't be
    ///   known just now.
    func key(_ id: String) async throws(GooglePushFault) -> RSAPublicKey {
        let now = gateway.uptime.milliseconds
        let state = state.withLock { $0 }
        let held = state.held
        let isFresh = held.map { now - $0.readAt < $0.set.freshMilliseconds } ?? false
        if isFresh, let key = held?.set.keys[id] { return key }
        let isSettled = isFresh && !state.hasFailed
        let pause = isSettled ? Self.pauseForUnknownMilliseconds : Self.pauseAfterFailureMilliseconds
        let mayAsk = state.endedAt.map { now - $0 >= pause } ?? true
        if mayAsk, let set = await ask(at: now) {
            guard let key = set.keys[id] else { throw .keyUnknown }
            return key
        }
        guard let held, now - held.readAt < Self.usableMilliseconds else { throw .keysUnavailable }
        if let key = held.set.keys[id] { return key }
        // Fresh and asked for a moment ago: there is no such key. Otherwise it may be a new one.
        throw isSettled && !mayAsk ? .keyUnknown : .keysUnavailable
    }

    private func ask(at now: Int64) async -> GoogleKeySet? {
        do throws(StoreError) {
            return try await asking.answer(to: origin) { [self] in
                // Somebody else's answer may have come between our look and our question.
                if let held = state.withLock({ $0.held }), held.answeredAt >= now { return .success(held.set) }
                let outcome = await outcome()
                settle(outcome, askedAt: now)
                return outcome
            }
        } catch {
            log(.warning, "Google's public keys can't be read", ["reason": .text(error.description)])
            return nil
        }
    }

    private func settle(_ outcome: Result<GoogleKeySet, StoreError>, askedAt: Int64) {
        let now = gateway.uptime.milliseconds
        state.withLock { state in
            state.endedAt = now
            state.hasFailed = true
            guard case .success(let set) = outcome else { return }
            state.hasFailed = false
            state.held = Held(set: set, readAt: askedAt, answeredAt: now)
        }
    }

    private func outcome() async -> Result<GoogleKeySet, StoreError> {
        do throws(StoreError) {
            return .success(try await fetch())
        } catch {
            return .failure(error)
        }
    }

    private func fetch() async throws(StoreError) -> GoogleKeySet {
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
            var request = try ClientRequest(
                .get,
                origin,
                path: ["oauth2", "v3", "certs"],
                headers: headers,
                timeoutMilliseconds: milliseconds
            )
            request.maximumResponseBytes = 65_536
            return request
        } catch {
            throw .badAnswer(reason: "our request: \(error.label)")
        }
    }

    private static func read(_ response: ClientResponse, at now: Timestamp) -> StoreReading<GoogleKeySet> {
        switch response.status {
        case 200:
            guard let set = GoogleKeySet(response) else {
                return .failure(.badAnswer(reason: "no key that can be used"), server: .failed)
            }
            return .answer(set)
        case 429: return response.rateLimit(at: now)
        case 408, 500..<600: return .retry(.unavailable(retryAfter: response.retryAfter(at: now)), server: .failed)
        default: return .failure(.badAnswer(reason: "status \(response.status)"), server: .failed)
        }
    }

    /// Google states none; a few an hour are the rule.
    private static let quota = StoreQuota.perHour(600)
    private static let pauseForUnknownMilliseconds: Int64 = 60_000
    private static let pauseAfterFailureMilliseconds: Int64 = 5000
    private static let usableMilliseconds: Int64 = 86_400_000
}
