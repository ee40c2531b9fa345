// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Cryptography
package import HTTP
package import ServiceRuntime
import Stores

/// The keys of all identity providers: read at the start, renewed in the background, and read again when a token names
/// an unknown key.
///
/// A provider that does not answer is asked again after growing pauses, and its last keys stay valid for a day. While a
/// provider has valid keys, tokens with made-up key IDs make the service ask it at most once a minute.
package final class ProviderKeys: Sendable {
    typealias Source = IdentityProvider.KeySource

    private let runtime: Runtime
    private let uptime: Uptime
    private let pause: Pause
    private let patienceMilliseconds: Int64
    private let state = Guarded(State())
    /// The key that signed each of the latest tokens, by the token's digest: an app sends one token many times.
    private let signers = Guarded(RecentValues<SHA256Digest, [UInt8]>(capacity: 16_384))

    fileprivate struct State {
        var entries: [Source: ProviderKeysEntry] = [:]
        var transport: (any Transport)?
        var loop: Task<Void, Never>?
        var lastWaiter: UInt64 = 0
        /// The requests that need keys; one has a continuation while it waits for a reading.
        var waiting: [UInt64: (source: Source, continuation: CheckedContinuation<Void, Never>?)] = [:]
    }

    /// Asks no provider before ``start(_:current:)``; a request waits `patienceMilliseconds` for keys, and `pause` is the
    /// time between looks at what is due.
    package init(_ runtime: Runtime, patienceMilliseconds: Int64, pause: Pause = .system) {
        self.runtime = runtime
        self.patienceMilliseconds = patienceMilliseconds
        uptime = Uptime(runtime.clock)
        self.pause = pause
    }

    /// Asks the providers in force, now and whenever it is time, until ``stop()``.
    package func start(_ transport: any Transport, current: CurrentSnapshot) {
        let loop = Task { [weak self, pause] in
            while !Task.isCancelled {
                self?.renew(current.value.identity)
                await pause(milliseconds: Self.lookMilliseconds)
            }
        }
        state.withLock { state in
            state.transport = transport
            state.loop = loop
        }
    }

    /// Asks no provider any more.
    package func stop() {
        let (loop, waiting) = state.withLock { state in
            defer { (state.transport, state.loop, state.waiting) = (nil, nil, [:]) }
            return (state.loop, state.waiting)
        }
        loop?.cancel()
        for (_, waiter) in waiting { waiter.continuation?.resume() }
    }

    /// The known keys; `nil` if there are none, or if they are no longer valid.
    package func known(of source: IdentityProvider.KeySource) -> TokenKeySet? {
        let now = uptime.milliseconds
        return state.withLock { $0.entries[source]?.usable(at: now) }
    }

    /// Whether one of the provider's keys has signed the token; `nil` if the provider has to be asked for its keys first.
    ///
    /// A token without `kid` may be signed with a new key too, so it counts as forged only when `hasAsked`.
    func isSigned(_ token: JSONWebToken, by source: Source, hasAsked: Bool) -> Bool? {
        guard let candidates = known(of: source)?.candidates(for: token), !candidates.isEmpty else { return nil }
        let digest = token.digest
        let signer = signers.withLock { $0[digest] }
        // A key that the provider has withdrawn is no longer a candidate.
        if let signer, candidates.contains(where: { $0.spki == signer }) { return true }
        guard let signer = candidates.first(where: token.isSigned) else {
            return token.keyID == nil && !hasAsked ? nil : false
        }
        signers.withLock { $0[digest] = signer.spki }
        return true
    }

    /// After how many seconds a provider that did not answer is asked again, at least 1.
    func retryAfterSeconds(of source: Source) -> Int {
        let now = uptime.milliseconds
        let next = state.withLock { $0.entries[source]?.nextAt ?? now }
        return Int(max(1, (next - now + 999) / 1000))
    }

    /// Waits until the provider has been asked for the token's key, unless it cannot be asked now, or time runs out.
    ///
    /// If the provider has valid keys, but not the one that the token names, it is asked at most once a minute.
    func awaitKeys(of source: Source, for token: JSONWebToken) async {
        let wasAsking = state.withLock { $0.entries[source]?.isAsking == true }
        askOnDemand(source)
        guard let waiter = state.withLock({ $0.nextWaiter(for: source) }) else { return }
        let patience = Task { [weak self, pause, patienceMilliseconds] in
            await pause(milliseconds: patienceMilliseconds)
            self?.endWait(of: waiter)
        }
        await awaitReading(source, waiter)
        // A reading that was under way may have begun before the provider published the token's key.
        if wasAsking, isSigned(token, by: source, hasAsked: false) == nil {
            askOnDemand(source)
            await awaitReading(source, waiter)
        }
        patience.cancel()
        endWait(of: waiter)
    }

    private func askOnDemand(_ source: Source) {
        let now = uptime.milliseconds
        let mayAsk = state.withLock { state in
            var entry = state.entries[source] ?? ProviderKeysEntry()
            defer { state.entries[source] = entry }
            return entry.mayAskOnDemand(at: now)
        }
        if mayAsk { begin(source) }
    }

    /// Waits until the reading that is under way ends, or the waiter times out.
    private func awaitReading(_ source: Source, _ waiter: UInt64) async {
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                guard state.entries[source]?.isAsking == true, state.waiting[waiter] != nil else { return false }
                state.waiting[waiter]?.continuation = continuation
                return true
            }
            if !waits { continuation.resume() }
        }
    }

    private func endWait(of waiter: UInt64) {
        state.withLock { $0.waiting.removeValue(forKey: waiter) }?.continuation?.resume()
    }

    /// Asks the providers that are due, and drops those that are no longer configured.
    func renew(_ providers: IdentityProviders) {
        let now = uptime.milliseconds
        let sources = Set(providers.all.map(\.keySource))
        let due = state.withLock { state in
            state.entries = state.entries.filter { sources.contains($0.key) || $0.value.isAsking }
            for source in sources where state.entries[source] == nil { state.entries[source] = ProviderKeysEntry() }
            return sources.filter { state.entries[$0].map { !$0.isAsking && now >= $0.nextAt } ?? false }
        }
        for source in due { begin(source) }
    }

    private func begin(_ source: Source) {
        let begun = state.withLock { state -> (any Transport, ProviderKeysEntry)? in
            guard let transport = state.transport, let entry = state.entries[source], !entry.isAsking else {
                return nil
            }
            state.entries[source]?.isAsking = true
            return (transport, entry)
        }
        guard let (transport, entry) = begun else { return }
        Task { [self] in settle(source, await Self.read(source, entry, by: transport)) }
    }

    private static func read(
        _ source: Source,
        _ entry: ProviderKeysEntry,
        by transport: any Transport
    ) async -> Result<ProviderKeysEntry.Answered, ProviderFault> {
        let reading = ProviderReading(transport: transport, timeoutMilliseconds: timeoutMilliseconds)
        do throws(ProviderFault) {
            let url = try await reading.jwksURL(source, lastKnown: entry.jwksURL)
            let isSame = entry.held != nil && url == entry.jwksURL
            let (answer, age) = try await reading.keys(url, unless: isSame ? entry.entityTag : nil)
            return .success(ProviderKeysEntry.Answered(answer: answer, maximumAge: age, jwksURL: url))
        } catch {
            return .failure(error)
        }
    }

    private func settle(_ source: Source, _ outcome: Result<ProviderKeysEntry.Answered, ProviderFault>) {
        let now = uptime.milliseconds
        let (before, waiting) = state.withLock { state in
            let before = state.entries[source]?.fault
            state.entries[source]?.settle(outcome, at: now)
            let waiting = state.waiting.filter { $0.value.source == source }
            for waiter in waiting.keys { state.waiting[waiter]?.continuation = nil }
            return (before, waiting.values.compactMap(\.continuation))
        }
        for continuation in waiting { continuation.resume() }
        report(source, outcome, before: before)
    }

    private func report(
        _ source: Source,
        _ outcome: Result<ProviderKeysEntry.Answered, ProviderFault>,
        before: ProviderFault?
    ) {
        let issuer = LogValue.text(source.issuer)
        switch outcome {
        case .success:
            runtime.metrics.count(.identityProviderRequests(issuer: source.issuer, outcome: "answered"))
            if before != nil {
                runtime.log(.info, "an identity provider's keys can be read again", with: ["issuer": issuer])
            }
        case .failure(let fault):
            runtime.metrics.count(.identityProviderRequests(issuer: source.issuer, outcome: fault.label))
            runtime.log.onceAMinute(
                .warning,
                "an identity provider's keys can't be read",
                reason: fault.label,
                with: ["issuer": issuer, "detail": .text("it \(fault)")]
            )
        }
    }

    // MARK: - Reports

    /// What the operator should know.
    package var warnings: [Obstacle] {
        let now = uptime.milliseconds
        return state.withLock { $0.entries }.sorted { $0.key.issuer < $1.key.issuer }.compactMap { source, entry in
            guard let fault = entry.fault else { return nil }
            let effect =
                entry.usable(at: now) == nil
                ? "its users get 503" : "its last keys stay in use for a day"
            return Obstacle("identity-provider", "\(source.issuer) \(fault); \(effect)")
        }
    }

    /// For the metrics.
    package var gauges: [Gauge] {
        let now = uptime.milliseconds
        let entries = state.withLock { $0.entries }
        return [
            Gauge(
                "offer_signer_identity_provider_keys",
                help: "Keys of an identity provider that tokens are verified with",
                entries.map { .init(Double($1.usable(at: now)?.keys.count ?? 0), labels: [("issuer", $0.issuer)]) }
            ),
            Gauge(
                "offer_signer_identity_provider_keys_age_seconds",
                help: "Time since an identity provider last confirmed its keys",
                entries.compactMap { source, entry in
                    entry.held.map { .init(Double(now - $0.readAt) / 1000, labels: [("issuer", source.issuer)]) }
                }
            ),
        ]
    }

    /// Requests that wait for the keys of one provider.
    fileprivate static let mostWaiting = 256
    private static let lookMilliseconds: Int64 = 1000
    private static let timeoutMilliseconds = 10_000
}

extension ProviderKeys.State {
    /// Tokens with made-up key IDs may wait too, so each provider has a limit; `nil` where too many wait.
    fileprivate mutating func nextWaiter(for source: IdentityProvider.KeySource) -> UInt64? {
        guard entries[source]?.isAsking == true,
            waiting.values.count(where: { $0.source == source }) < ProviderKeys.mostWaiting
        else { return nil }
        lastWaiter += 1
        waiting[lastWaiter] = (source, nil)
        return lastWaiter
    }
}
