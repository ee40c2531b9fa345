// SPDX-License-Identifier: Apache-2.0
package import Configuration
import HTTP
import Ledger
import OfferDomain
import ServiceRuntime
import Stores

/// Lets callers in as often as they may ask, before anything expensive is done for them.
///
/// An app's API key is known to everyone, so its requests are held to a rate for each network address and for each customer
/// as well, and to a share of concurrent work.
package final class Admission: Sendable {
    private let limits: AdmissionLimits
    let proxies: TrustedProxies
    /// Finds the user that a token of an identity provider proves.
    let tokens: UserTokens
    private let callers: RateLimiter<CallerID>
    private let addresses: RateLimiter<Device>
    private let subjects: RateLimiter<[UInt8]>
    /// What is being done for apps.
    private let underWay = Guarded(
        DeviceShares(mostInAll: AdmissionLimits.mostUnderWay, mostOfDevice: AdmissionLimits.mostUnderWayPerAddress)
    )
    private let metrics: Metrics

    /// `isAlone` says that no other instance answers requests for the same database.
    package init(
        _ limits: AdmissionLimits,
        proxies: TrustedProxies,
        _ runtime: Runtime,
        isAlone: Bool,
        userTokens: UserTokenOptions
    ) {
        self.limits = limits
        self.proxies = proxies
        tokens = UserTokens(
            ProviderKeys(runtime, patienceMilliseconds: userTokens.keysMilliseconds),
            proofs: ProofsOfPossession(runtime, isAlone: isAlone, limits: userTokens.proofs),
            runtime
        )
        let stopwatch = runtime.clock.stopwatch()
        callers = RateLimiter(stopwatch)
        addresses = RateLimiter(stopwatch)
        subjects = RateLimiter(stopwatch)
        metrics = runtime.metrics
    }

    /// Who asks for signatures, or whether there would be one, and may do so now.
    func asker(_ request: Request, _ directory: CallerDirectory, at now: Timestamp) throws(Refusal) -> Caller {
        try admitted(try directory.authenticateAsker(request, at: now), request)
    }

    /// The same of who calls by an SDK of another vendor.
    func sdk(_ request: Request, _ directory: CallerDirectory, at now: Timestamp) throws(Refusal) -> Caller {
        try admitted(try directory.authenticateSDK(request, at: now), request)
    }

    private func admitted(_ caller: Caller, _ request: Request) throws(Refusal) -> Caller {
        var caller = caller
        if caller.role == .app { caller.origin = proxies.client(of: request).group }
        try admit(caller, 1)
        return caller
    }

    /// Counts the items of a batch except the first, which ``asker(_:_:at:)`` has counted.
    func admitItems(_ caller: Caller, _ count: Int) throws(Refusal) {
        try admit(caller, count - 1, beside: 1)
    }

    /// Counts requests that arrived as one.
    ///
    /// Together with the `beside` requests already counted, they cost at most one burst. Otherwise a larger batch could never
    /// be admitted.
    func admit(_ caller: Caller, _ count: Int, beside: Int = 0) throws(Refusal) {
        guard count > 0 else { return }
        // The address first: who is held back there takes nothing of what the caller's others may ask.
        if let device = caller.device { try admit(device, count, beside: beside) }
        try admitCaller(caller, count, beside: beside)
    }

    /// Counts requests from an address.
    func admit(_ device: Device, _ count: Int = 1, beside: Int = 0) throws(Refusal) {
        guard let limit = limits.perAddress else { return }
        try check(addresses.take(min(count, limit.burst - beside), for: device, limit), against: limit, of: .address)
    }

    /// Counts a request with a verified user's token, after its address was counted.
    ///
    /// The user's rate is checked before the caller's, so that one user cannot use up the rate of all.
    func admitUser(_ caller: Caller) throws(Refusal) {
        if let user = caller.user, let limit = limits.perSubject {
            try check(subjects.take(1, for: user.key, limit), against: limit, of: .subject)
        }
        try admitCaller(caller, 1)
    }

    private func admitCaller(_ caller: Caller, _ count: Int, beside: Int = 0) throws(Refusal) {
        guard let limit = caller.rate ?? (caller.role == .app ? limits.perApp : nil) else { return }
        try check(callers.take(min(count, limit.burst - beside), for: caller.id, limit), against: limit, of: .caller)
    }

    /// Takes room for a request: for each proven subject, by its key in the ledger, and for the idempotency key.
    ///
    /// Each replay under a key is recorded and signed.
    func admit(_ caller: Caller, about shown: [[UInt8]], _ claim: IdempotencyClaim? = nil) throws(Refusal) {
        guard caller.role == .app, let limit = limits.perSubject else { return }
        let taken = shown + (claim.map { [$0.keyDigest] } ?? [])
        for subject in taken { try check(subjects.take(1, for: subject, limit), against: limit, of: .subject) }
    }

    /// Counts requests that one proof is of, at the rate of the key that made it; a batch costs at most one burst.
    func admitKey(_ key: [UInt8], of caller: Caller, _ count: Int) throws(Refusal) {
        guard caller.role == .app, let limit = limits.perSubject else { return }
        try check(subjects.take(min(count, limit.burst), for: key, limit), against: limit, of: .subject)
    }

    private func check(_ wait: Int64?, against limit: RateLimit, of scope: RateScope) throws(Refusal) {
        guard let wait else { return }
        throw refusal(scope, limit, seconds: (wait + 999_999_999) / 1_000_000_000)
    }

    private func refusal(_ scope: RateScope, _ limit: RateLimit?, seconds: Int64) -> Refusal {
        metrics.count(.rateLimited(scope: scope.rawValue))
        return .caller(.rateLimited(scope, limit, retryAfterSeconds: seconds))
    }

    /// Where a request comes from that needs no API key.
    func unauthenticated(_ request: Request) -> Party {
        .unauthenticated(proxies.client(of: request).address.subscriber)
    }

    // MARK: - At once

    /// Takes places for requests that are about to be answered; ``Places/leave()`` gives them back.
    ///
    /// Only apps need places: their limit leaves room for all other callers.
    func enter(_ caller: Caller, _ count: Int = 1) throws(Refusal) -> Places {
        guard let device = caller.device else { return Places() }
        guard underWay.withLock({ $0.take(count, for: device) }) else { throw refusal(.atOnce, nil, seconds: 1) }
        return Places { [self] in underWay.withLock { $0.giveBack(count, of: device) } }
    }

    /// What a request holds while it is answered.
    struct Places: Sendable {
        private let giveBack: (@Sendable () -> Void)?

        fileprivate init(_ giveBack: (@Sendable () -> Void)? = nil) { self.giveBack = giveBack }

        func leave() { giveBack?() }
    }
}
