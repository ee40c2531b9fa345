// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Ledger
package import OfferDomain
package import ServiceRuntime

/// Knows whether the service can do its work, and if not, why.
package final class Health: CommitObserver {
    private struct State {
        /// Why the last commit failed, and when the first of the failures was; `nil` after their end is on record.
        var commitFailure: (since: Timestamp, reason: String)?
        var isStopping = false
        /// How many reads of callers and key states have failed since the last success.
        var failedLooks = 0
        /// When the last reload was refused, and the parts that caused it; `nil` if it was not refused.
        var refusedReload: (at: Timestamp, parts: [ConfigurationPart])?
        /// Whether another instance has begun a secret version of customers' ids that this one has not read.
        var hasOutdatedSecret = false
    }

    /// Weak, because the watched server holds the calls that ask for health.
    private struct Watched {
        weak var pulse: Pulse?
    }

    private let pulse = Guarded(Watched())
    private let state = Guarded(State())
    private let metrics: Metrics
    private let clock: WallClock
    private let log: Log

    package init(metrics: Metrics, clock: WallClock, log: Log) {
        self.metrics = metrics
        self.clock = clock
        self.log = log
    }

    /// Counts the batch for the metrics.
    package func committed(requests: Int, microseconds: Int64) {
        metrics.committed(requests: requests, microseconds: microseconds)
    }

    /// Since when records can't be written; `nil` while they can.
    package var failingSince: Timestamp? { commitFailure?.since }

    /// Ends the obstacle, and logs it.
    package func resumed() {
        state.withLock { $0.commitFailure = nil }
        log(.info, "records can be written again")
    }

    /// Counts the use, and warns of one in production that no grant, or another account's, fits.
    package func recorded(_ redemption: MatchedRedemption) {
        metrics.recorded(redemption)
        let use = redemption.use
        guard use.environment == .production else { return }
        warn(of: redemption.match, use.store.recordName, offer: use.name.offerID)
    }

    /// Counts the purchase, and warns of one in production.
    package func recorded(_ purchase: BoughtWithoutOffer) {
        metrics.recorded(purchase)
        guard purchase.environment == .production else { return }
        log(
            .warning,
            "a customer bought the product without the offer that was just signed",
            with: ["offer": .text(purchase.rule), "client": .text(purchase.client ?? "unknown")]
        )
    }

    /// Counts the use for the client.
    package func recorded(_ redemption: ClientRedemption) { metrics.recorded(redemption) }

    package func recorded(_ outcome: RetentionOutcome) { metrics.recorded(outcome) }

    private func warn(of match: RedemptionMatch, _ store: String, offer: String) {
        let members: KeyValuePairs<StaticString, LogValue> = ["store": .text(store), "offer": .text(offer)]
        switch match {
        case .granted, .earlier: break
        case .ungranted: log(.warning, "an offer was used without a grant", with: members)
        case .otherAccount:
            log(.warning, "an offer was used by a different account than it was granted to", with: members)
        }
    }

    /// Logs the error, and makes it an obstacle unless it is about one request only.
    package func failed(_ error: LedgerError) {
        metrics.failed(error)
        log(.error, "records could not be written", with: ["reason": .text(error.description)])
        // What one request reads or wants signed says nothing of the disk.
        if error.isOfOneRequest { return }
        let now = clock.now()
        state.withLock { $0.commitFailure = ($0.commitFailure?.since ?? now, error.description) }
    }

    /// Logs the error; decisions stay right, and are slower.
    package func looksForAll(because error: LedgerError) {
        log(.error, "the ledger could not be read ahead of requests", with: ["reason": .text(error.description)])
    }

    /// Logs what another process has sealed or disabled and this one has yet to acknowledge.
    package func acknowledges(_ stops: SigningStops) {
        for seal in stops.seals where !seal.isAcknowledged {
            log(
                .error,
                "the service is sealed: nothing is signed",
                with: ["cause": .text(seal.cause.rawValue), "by": "another process", "help": .text(seal.cause.remedy)]
            )
        }
        for (key, isAcknowledged) in stops.keys where !isAcknowledged {
            log(.error, "a key was disabled", with: ["key": .text(key.text), "by": "another process"])
        }
    }

    /// Logs what another process has lifted.
    package func lifted(_ stops: SigningStops) {
        for seal in stops.seals {
            log(.warning, "the seal is lifted", with: ["cause": .text(seal.cause.rawValue), "by": "another process"])
        }
        for key in stops.keys.keys.sorted(by: { $0.text < $1.text }) {
            log(.warning, "a key was enabled", with: ["key": .text(key.text), "by": "another process"])
        }
    }

    /// Why records can't be written, and since when; an empty commit shows nothing else.
    package var commitFailure: (since: Timestamp, reason: String)? { state.withLock { $0.commitFailure } }

    /// Notes whether callers and key states could be read; the service can't apply what it has not read.
    func noteStates(areRead: Bool) {
        state.withLock { $0.failedLooks = areRead ? 0 : $0.failedLooks + 1 }
    }

    /// Notes whether another instance keeps customers under a newer secret than this one has.
    func noteSecret(isOutdated: Bool) {
        state.withLock { $0.hasOutdatedSecret = isOutdated }
    }

    /// Notes how a reload ended: because of what it was refused, or `nil` if all came into force.
    func noteReload(refusedFor parts: [ConfigurationPart]?) {
        let now = clock.now()
        state.withLock { $0.refusedReload = parts.map { (now, $0) } }
    }

    /// From now on the service is not ready, so that no new work is sent to it.
    package func beginStopping() {
        state.withLock { $0.isStopping = true }
    }

    /// Makes readiness report what `pulse` finds to be stuck.
    func watch(_ pulse: Pulse) { self.pulse.withLock { $0.pulse = pulse } }

    /// What keeps the service from its work; empty when it is ready.
    ///
    /// `causes` are those of the seal; `isCutOff` says that this instance cannot reach the others via the database.
    package func obstacles(
        _ snapshot: Snapshot,
        sealedBy causes: [ActiveSeal] = [],
        isCutOff: Bool = false
    ) -> [Obstacle] {
        var obstacles: [Obstacle] = []
        let state = state.withLock { $0 }
        let (failure, failedLooks) = (state.commitFailure, state.failedLooks)
        if state.isStopping { obstacles.append(Obstacle("stopping", "the service is stopping")) }
        if let failure {
            obstacles.append(Obstacle("audit-unavailable", "records can't be written: \(failure.reason)"))
        }
        obstacles += pulse.withLock { $0.pulse?.obstacles ?? [] }
        if isCutOff { obstacles.append(Obstacle("cut-off", KeyStop.cutOff.reason)) }
        for seal in causes where seal.cause != .logUnwritable { obstacles.append(Obstacle(seal)) }
        if failedLooks >= 5 {
            obstacles.append(Obstacle("states-unread", "callers and key states can't be read; changes have no effect"))
        }
        if state.hasOutdatedSecret {
            obstacles.append(
                Obstacle("secret-outdated", "customers are kept under a newer secret: list it here too, and reload")
            )
        }
        // A catalog of Google Play's offers alone needs no key of that kind.
        let needs = snapshot.catalog.keyNeeds
        if !needs.isEmpty, snapshot.missingKeys.count == needs.count {
            obstacles.append(Obstacle("key-unavailable", "no key is active for any app of the catalog"))
        }
        if snapshot.callers.isEmpty {
            obstacles.append(Obstacle("no-callers", "no caller has a key; add one with: offer-signer callers add"))
        }
        return obstacles
    }

    /// What keeps some of the work from being done; the service is ready nevertheless.
    package func warnings(_ snapshot: Snapshot) -> [Obstacle] {
        let missing = snapshot.missingKeys.map { need in
            let purpose = need.purpose == .promotionalOffer ? "" : " and \(need.purpose.rawValue)"
            return Obstacle("key-unavailable", "no key is active for \(need.bundleID)\(purpose)")
        }
        return missing + (reloadWarning.map { [$0] } ?? [])
    }

    /// Names only the parts: the contents of files must not reach every caller who may ask for health.
    private var reloadWarning: Obstacle? {
        guard let refused = state.withLock({ $0.refusedReload }) else { return nil }
        let parts = refused.parts.map(\.rawValue).joined(separator: ", ")
        return Obstacle(
            "reload-refused",
            "the reload at \(refused.at.rfc3339) was refused because of \(parts), and what was in force stays so; the log "
                + "has each reason"
        )
    }
}

extension Snapshot {
    /// Offers of the catalog that cannot be signed; all others are signed as usual.
    package var missingKeys: [KeyNeed] { keyRing.unfilled(catalog.keyNeeds) }
}

extension Obstacle {
    /// A seal, without an administrator's reason, which must not reach every caller who may ask for health.
    init(_ seal: ActiveSeal) {
        let why = seal.cause == .administrator ? "by an administrator" : seal.detail
        let record = seal.isRecorded ? "" : "; this is not on record yet"
        self.init(
            "sealed-\(seal.cause.rawValue)",
            "nothing is signed since \(seal.since.rfc3339): \(why)\(record); \(seal.cause.remedy)"
        )
    }
}
