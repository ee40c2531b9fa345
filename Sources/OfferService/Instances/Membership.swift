// SPDX-License-Identifier: Apache-2.0
import Dispatch
package import Ledger
import OfferDomain
package import ServiceRuntime
package import Storage

/// Keeps this service among those that share its database, on a thread of its own.
///
/// Twice a second it records a heartbeat, reads the heartbeats of the others, follows their reloads, and removes silent
/// instances. A removed instance must acknowledge what is sealed or disabled before it uses a key again.
package final class Membership: Sendable {
    /// How often it looks.
    package static let intervalMilliseconds = 500

    private struct State {
        var instance: Instance
        var others: [Instance] = []
        var failure: String?
        /// The number of the last request to all instances to reload their files that this instance has followed.
        var reloads: Int64?
    }

    private let state: Guarded<State>
    private let lease: Lease
    private let committer: Committer
    private let ledger: LedgerAccess
    private let log: Log
    private let reload: @Sendable () -> Void
    private let stopping = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// An instance, and how long it may use keys.
    package struct Member: Sendable {
        let instance: Instance
        let lease: Lease

        /// The lease is that of the instance's own `KeyUseGuard`.
        package init(_ instance: Instance, lease: Lease) {
            self.instance = instance
            self.lease = lease
        }
    }

    /// How the instance reloads its files after another instance reloaded.
    package struct Reloads: Sendable {
        let known: Int64?
        let reload: @Sendable () -> Void

        /// `reload` is called when another instance reloads its files.
        ///
        /// `known` is what `InstanceTable.reloads()` returned before this instance read its files; later requests are
        /// followed. Without it, the instance follows requests that come after its first look.
        package init(after known: Int64? = nil, reload: @escaping @Sendable () -> Void) {
            self.known = known
            self.reload = reload
        }
    }

    /// A membership that has not joined yet.
    package init(
        _ member: Member,
        committer: Committer,
        ledger: LedgerAccess,
        log: Log,
        reloads: Reloads
    ) {
        state = Guarded(State(instance: member.instance, reloads: reloads.known))
        lease = member.lease
        self.committer = committer
        self.ledger = ledger
        self.log = log
        reload = reloads.reload
    }

    private func newRound() -> MembershipRound {
        MembershipRound(open: ledger.open, clock: ledger.clock)
    }

    /// Joins the others; returns once keys may be used.
    package func start() throws(MembershipError) {
        let round = newRound()
        let start = lease.now
        try round.join(state.withLock { $0.instance })
        try acknowledge()
        lease.renew(from: start)
        let first = Handover(round)
        NamedThread.start(named: "instances") { [self] in
            let round = first.take() ?? newRound()
            while stopping.wait(timeout: .now() + .milliseconds(Self.intervalMilliseconds)) == .timedOut {
                look(with: round)
            }
            hasEnded.signal()
        }
    }

    /// Leaves the others, so that they do not wait for this instance; no key is used after this.
    package func stop() {
        stopping.signal()
        hasEnded.wait()
        lease.end()
        committer.keyUseGuard.waitUntilUnused()
        let id = state.withLock { $0.instance.id }
        let left = Guarded(false)
        committer.change { writer throws(LedgerError) in
            try writer.leave(id)
        } _: { _ in
            left.withLock { $0 = true }
            left.wakeOne()
        }
        _ = left.wait { $0 ? true : nil }
    }

    /// Notes the offers and keys that this instance uses from now on.
    package func note(policyName: String, keysDigest: String) {
        state.withLock { ($0.instance.policyName, $0.instance.keysDigest) = (policyName, keysDigest) }
    }

    /// Makes the other instances reload their files, as this one has just done.
    package func requestReloadOfOthers() {
        let requested = Guarded<Int64?>(nil)
        committer.change { writer throws(LedgerError) in
            let generation = try writer.requestReload()
            requested.withLock { $0 = generation }
        } _: { [state] result in
            guard case .success = result, let generation = requested.withLock({ $0 }) else { return }
            // If another instance requested a reload too, this instance has yet to follow it.
            state.withLock { if $0.reloads == generation - 1 { $0.reloads = generation } }
        }
    }

    /// For the metrics.
    package var gauges: [Gauge] {
        let count = state.withLock { $0.others.count + 1 }
        return [
            Gauge(
                "offer_signer_instances",
                help: "Services that share the database, this one included",
                [.init(Double(count))]
            )
        ]
    }

    /// Problems that the operator should know.
    package var warnings: [Obstacle] {
        let (own, others, failure) = state.withLock { ($0.instance, $0.others, $0.failure) }
        var warnings = failure.map { [Obstacle("instances-unknown", $0)] } ?? []
        let differing = others.filter { $0.policyName != own.policyName || $0.keysDigest != own.keysDigest }
        if !differing.isEmpty {
            let names = differing.map(\.name).joined(separator: ", ")
            warnings.append(Obstacle("instances-differ", "Other offers or keys are in force at: \(names)."))
        }
        return warnings
    }

    private func look(with round: MembershipRound) {
        let instance = state.withLock { $0.instance }
        let start = lease.now
        do throws(MembershipError) {
            let seen = try round.look(as: instance)
            if round.mustAcknowledge {
                try acknowledge()
                round.hasAcknowledged()
            }
            lease.renew(from: start)
            if seen.hasRemoved {
                committer.change { writer throws(LedgerError) in
                    try writer.acknowledgeStops()
                } _: { _ in
                }
            }
            let mustReload = state.withLock { state in
                (state.others, state.failure) = (seen.others, nil)
                defer { state.reloads = max(state.reloads ?? 0, seen.reloads) }
                return seen.reloads > state.reloads ?? seen.reloads
            }
            if mustReload { reload() }
        } catch {
            let reason = error.description
            let isNew = state.withLock { state in
                defer { state.failure = reason }
                return state.failure == nil
            }
            if isNew { log(.error, "the other instances can't be heard of", with: ["reason": .text(reason)]) }
        }
    }

    /// Has the committer read what is sealed or disabled, and returns once no key that a stop blocks is in use.
    private func acknowledge() throws(MembershipError) {
        let outcome = Guarded<Result<Void, LedgerError>?>(nil)
        committer.change { [keyUseGuard = committer.keyUseGuard] writer throws(LedgerError) in
            try writer.readStops()
            keyUseGuard.follow(writer.stops)
            keyUseGuard.waitUntilUnused()
            try writer.acknowledgeStops()
        } _: { result in
            outcome.withLock { $0 = result }
            outcome.wakeOne()
        }
        do throws(LedgerError) { try outcome.wait { $0 }.get() } catch { throw .ledger(error) }
    }
}

/// Why this service can't be among those that share its database.
package enum MembershipError: Error, Sendable, CustomStringConvertible {
    case database(StorageError)
    case ledger(LedgerError)

    /// The reason, for the log.
    package var description: String {
        switch self {
        case .database(let error): error.description
        case .ledger(let error): error.description
        }
    }
}
