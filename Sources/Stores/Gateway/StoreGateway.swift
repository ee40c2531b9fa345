// SPDX-License-Identifier: Apache-2.0
import Cryptography
package import HTTP
import Ledger
import OfferDomain
package import ServiceRuntime

/// One request to a store, as what is common to the stores sees it.
struct StoreCall: Sendable {
    /// What a budget is kept for.
    struct Account: Hashable, Sendable {
        let store: String
        let endpoint: String
        let environment: String
        /// The store's id of the app.
        let app: String
    }

    let account: Account
    let origin: Origin
    /// What the store allows for the account.
    let quota: StoreQuota
    /// The party that causes the call.
    let party: Party
    /// What is spent of: the account's own budget unless the store counts several together.
    var budget: Account
    /// For one request; `nil` takes the policy's.
    var attemptMilliseconds: Int64?
    /// Whether the store may refuse good credentials for an app that it does not have yet; another place is asked next.
    var mayBeUnreleased = false

    init(account: Account, origin: Origin, quota: StoreQuota, party: Party) {
        self.account = account
        self.origin = origin
        self.quota = quota
        self.party = party
        budget = account
    }
}

/// The meaning of a store's answer.
enum StoreReading<Answer: Sendable>: Sendable {
    /// `outcome` is what metrics call it.
    case answer(Answer, outcome: String = "answered")
    /// Another attempt may succeed; `server` is what it says of the server.
    case retry(StoreError, server: CircuitBreaker.Result)
    case failure(StoreError, server: CircuitBreaker.Result)
    /// The store asks us to leave this account alone until then.
    case limited(until: Timestamp?)
}

/// Asks stores: with retries, within budgets, and not while they do not answer.
///
/// Everything is per origin or per account, so that what one store, environment, endpoint or app does to us costs the
/// others nothing.
package final class StoreGateway: Sendable {
    private struct State {
        var breakers: [Origin: CircuitBreaker] = [:]
        var budgets: [StoreCall.Account: FairBudget<Party>] = [:]
        /// What is asked just now for devices, of each server: half of what may be asked of one at the same time.
        var devices: [Origin: DeviceShares] = [:]

        mutating func takePlace(for device: Device, at origin: Origin) -> Bool {
            devices[origin, default: DeviceShares(mostInAll: 64, mostOfDevice: 8)].take(1, for: device)
        }
    }

    private let transport: any Transport
    private let random: any RandomSource
    private let pause: Pause
    private let metrics: any StoreMetrics
    private let log: Log
    private let budgetShare: Double
    let retries: RetryPolicy
    let uptime: Uptime
    let clock: WallClock
    private let state = Guarded(State())

    /// - Parameters:
    ///   - transport: Sends the requests.
    ///   - runtime: The clock for deadlines, random numbers for pauses, counts of requests, and the log.
    ///   - pause: Waits between attempts.
    ///   - retries: How often a question is asked, and for how long.
    ///   - budgetShare: How much of a store's own limits we use, for others use the same keys: 0 to 1.
    package init(
        transport: any Transport,
        runtime: StoreRuntime,
        pause: Pause = .system,
        retries: RetryPolicy = RetryPolicy(),
        budgetShare: Double = 0.9
    ) {
        self.transport = transport
        random = runtime.random
        self.pause = pause
        metrics = runtime.metrics
        log = runtime.log
        self.retries = retries
        self.budgetShare = budgetShare
        (clock, uptime) = (runtime.clock, Uptime(runtime.clock))
    }

    /// The gauge of all breakers: 1 for the state that each is in, by origin.
    package var breakerGauge: Gauge {
        let now = uptime.milliseconds
        let breakers = state.withLock { $0.breakers }
        return Gauge(
            "offer_signer_store_breaker_state",
            help: "Whether a store's server is asked (closed), not asked (open), or tried (half-open)",
            breakers.flatMap { origin, breaker in
                CircuitBreaker.State.allCases.map { state in
                    Gauge.Sample(
                        breaker.state(at: now) == state ? 1 : 0,
                        labels: [("origin", origin.description), ("state", state.rawValue)]
                    )
                }
            }
        )
    }

    /// Sends a request until there is an answer, a reason not to try again, or no time left.
    ///
    /// `request` makes the request, with all its credentials, and is given the
    /// milliseconds it may take; `read` makes sense of the answer.
    func ask<Answer: Sendable>(
        _ call: StoreCall,
        before deadline: Deadline,
        request: (_ milliseconds: Int) async throws(StoreError) -> ClientRequest,
        read: (ClientResponse) -> StoreReading<Answer>
    ) async throws(StoreError) -> Answer {
        var attempts = 0
        while true {
            attempts += 1
            let error: StoreError
            switch try await attempt(call, before: deadline, request: request, read: read) {
            case .answer(let answer, _): return answer
            case .failure(let failure, _): throw failure
            case .limited(let until): throw .rateLimited(retryAfter: until)
            case .retry(let failure, _): error = failure
            }
            let wait = retries.pauseMilliseconds(after: attempts, random)
            guard attempts < retries.attempts, wait < deadline.left(at: uptime.milliseconds) else { throw error }
            await pause(milliseconds: wait)
            guard !Task.isCancelled else { throw .cancelled }
        }
    }

    /// One request, if breaker and budget let it through.
    private func attempt<Answer: Sendable>(
        _ call: StoreCall,
        before deadline: Deadline,
        request: (_ milliseconds: Int) async throws(StoreError) -> ClientRequest,
        read: (ClientResponse) -> StoreReading<Answer>
    ) async throws(StoreError) -> StoreReading<Answer> {
        let now = uptime.milliseconds
        let most = call.attemptMilliseconds ?? retries.attemptMilliseconds
        let left = min(most, deadline.left(at: now))
        // The pages before have used up the time.
        guard left > 0 else { throw .unavailable(retryAfter: nil) }
        let permit: CircuitBreaker.Permit
        do {
            permit = try admit(call)
        } catch {
            count(call, error.labelOfNotAsking)
            throw error
        }
        let reading: StoreReading<Answer>
        do {
            let request = try await request(Int(left))
            reading = await send(
                request,
                of: call,
                isHurried: left < min(most, 1000) && deadline.isNear(at: now),
                read
            )
        } catch {
            settle(permit, .abandoned, of: call)
            count(call, error.label)
            throw error
        }
        settle(permit, reading.server, of: call)
        if case .limited(let until) = reading { hold(call, until: until) }
        count(call, reading.label(of: call))
        return reading
    }

    /// Sends a request; a hurried one gets only the remaining time, so its timeout does not count against the server.
    private func send<Answer: Sendable>(
        _ request: ClientRequest,
        of call: StoreCall,
        isHurried: Bool,
        _ read: (ClientResponse) -> StoreReading<Answer>
    ) async -> StoreReading<Answer> {
        let stopwatch = uptime.measure()
        defer {
            metrics.asked(
                StoreEndpoint(store: call.account.store, endpoint: call.account.endpoint),
                microseconds: stopwatch.microseconds
            )
        }
        do throws(ClientError) {
            return read(try await transport.send(request))
        } catch {
            if isHurried, error == .timeout || error == .connectTimeout {
                return .failure(.unavailable(retryAfter: nil), server: .abandoned)
            }
            return StoreReading(error)
        }
    }

    private func admit(_ call: StoreCall) throws(StoreError) -> CircuitBreaker.Permit {
        let now = uptime.milliseconds
        return try state.withLock { state throws(StoreError) in
            var budget = state.budgets[call.budget] ?? FairBudget(call.quota.share(budgetShare), at: now)
            if let time = budget.held(at: now) { throw .rateLimited(retryAfter: uptime.timeOfDay(at: time)) }
            let permit: CircuitBreaker.Permit
            switch state.breakers[call.origin, default: CircuitBreaker()].admit(at: now) {
            case .admitted(let granted): permit = granted
            case .refused(let time): throw .unavailable(retryAfter: uptime.timeOfDay(at: time))
            case .tooManyAtOnce: throw .unavailable(retryAfter: nil)
            }
            // Devices get only a part of the concurrent requests, which leaves room for all other callers.
            if let device = call.party.device, !state.takePlace(for: device, at: call.origin) {
                state.breakers[call.origin]?.settle(permit, .abandoned, at: now)
                throw .unavailable(retryAfter: nil)
            }
            let verdict = budget.take(for: call.party.subscriber, of: call.party.group, at: now)
            state.budgets[call.budget] = budget
            guard case .refused(let time) = verdict else { return permit }
            state.breakers[call.origin]?.settle(permit, .abandoned, at: now)
            if let device = call.party.device { state.devices[call.origin]?.giveBack(1, of: device) }
            throw .budgetSpent(retryAfter: uptime.timeOfDay(at: time))
        }
    }

    private func settle(_ permit: CircuitBreaker.Permit, _ result: CircuitBreaker.Result, of call: StoreCall) {
        let now = uptime.milliseconds
        let changed = state.withLock { state in
            if let device = call.party.device { state.devices[call.origin]?.giveBack(1, of: device) }
            return state.breakers[call.origin]?.settle(permit, result, at: now)
        }
        guard let changed else { return }
        let isOpen = changed == .open
        log(
            isOpen ? .warning : .info,
            isOpen ? "a store's server does not answer and is not asked for a while" : "a store's server answers again",
            with: ["origin": .text(call.origin.description)]
        )
    }

    private func hold(_ call: StoreCall, until time: Timestamp?) {
        // If the store names no time, a pause of one second avoids hammering it.
        let wait = time.map { $0.milliseconds - uptime.now.milliseconds } ?? 1000
        let now = uptime.milliseconds
        state.withLock { $0.budgets[call.budget]?.hold(until: now + wait) }
    }

    private func count(_ call: StoreCall, _ outcome: String) {
        let account = call.account
        metrics.count(
            .storeRequests(
                store: account.store,
                endpoint: account.endpoint,
                environment: account.environment,
                outcome: outcome
            )
        )
    }
}

extension StoreError {
    /// Beside the labels of what a store answered.
    fileprivate var labelOfNotAsking: String {
        switch self {
        case .unavailable: "not-asked"
        case .rateLimited: "held-back"
        default: label
        }
    }
}

extension StoreReading {
    /// What a request without an answer means for trying again.
    fileprivate init(_ error: ClientError) {
        switch error {
        case .cancelled: self = .failure(.cancelled, server: .abandoned)
        case .requestInvalid(let reason):
            self = .failure(.badAnswer(reason: "our request: \(reason)"), server: .abandoned)
        case .plainHTTPNotAllowed, .addressNotAllowed, .tooManyWaiting, .waitedTooLong, .stopped:
            self = .failure(.unavailable(retryAfter: nil), server: .abandoned)
        case .responseTooLarge, .headTooLarge, .protocolViolation:
            self = .failure(.badAnswer(reason: error.label), server: .failed)
        case .certificateNotTrusted: self = .failure(.unavailable(retryAfter: nil), server: .failed)
        case .cannotResolve, .cannotConnect, .connectTimeout, .timeout, .tls, .connectionLost, .library:
            self = .retry(.unavailable(retryAfter: nil), server: .failed)
        }
    }

    fileprivate var server: CircuitBreaker.Result {
        switch self {
        case .answer, .limited: .succeeded
        case .failure(_, let server), .retry(_, let server): server
        }
    }

    fileprivate func label(of call: StoreCall) -> String {
        switch self {
        case .failure(.credentialsRefused, _) where call.mayBeUnreleased: "refused-before-release"
        case .answer(_, let outcome): outcome
        case .limited: "rate-limited"
        case .failure(let error, _), .retry(let error, _): error.label
        }
    }
}
