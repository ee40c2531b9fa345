// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Dispatch
import OfferDomain
package import ServiceRuntime

/// Signs a checkpoint of the newest durable entries, at most a second after they are durable, on a thread of its own.
///
/// Each checkpoint is on disk, in the database and in a file beside it, before it is published. A checkpoint that
/// contradicts an earlier one is never signed: the publisher recomputes the earlier checkpoint's hash from the stored
/// entries. Instances that share a database each sign what they find, and adopt another's larger checkpoint.
package final class CheckpointPublisher: Sendable {
    private struct State {
        var latest: SignedCheckpoint?
        /// When the latest one was last known to cover every entry.
        var coveredAt: Timestamp
        /// What kept a checkpoint from being signed or kept; `nil` once one has been.
        var obstacle: String?
    }

    /// How long entries wait for others before all of them are signed for.
    package static let intervalMilliseconds = 500

    let signable: SignableLog
    let clock: WallClock
    let log: Log
    let listener: Listener
    private let state: Guarded<State>
    private let stopping = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// What the publisher calls, on its own thread.
    package struct Listener: Sendable {
        let mayPublish: @Sendable () -> Bool
        let published: @Sendable (SignedCheckpoint) -> Void
        let contradiction: @Sendable (String) -> Void

        /// - Parameters:
        ///   - mayPublish: Returns false once the log contradicts something that was signed, because each further
        ///     checkpoint would be another fork.
        ///   - published: Called with each new checkpoint.
        ///   - contradiction: Called when the log no longer matches what was signed; nothing is signed then.
        package init(
            mayPublish: @escaping @Sendable () -> Bool = { true },
            published: @escaping @Sendable (SignedCheckpoint) -> Void = { _ in },
            contradiction: @escaping @Sendable (String) -> Void
        ) {
            self.mayPublish = mayPublish
            self.published = published
            self.contradiction = contradiction
        }
    }

    /// A publisher that is not yet running.
    ///
    /// `stored` is the newest checkpoint of an earlier run, which was found to fit the log.
    package init(
        of signable: SignableLog,
        stored: SignedCheckpoint?,
        clock: WallClock,
        log: Log,
        listener: Listener
    ) {
        self.signable = signable
        self.clock = clock
        self.log = log
        self.listener = listener
        state = Guarded(State(latest: stored, coveredAt: clock.now()))
    }

    /// The newest checkpoint, with the cosignatures that came for it; any thread may ask.
    package var latest: SignedCheckpoint? { state.withLock { $0.latest } }

    /// For how many seconds the log has had entries that no checkpoint covers; near 0 in normal operation.
    package var ageSeconds: Double {
        let coveredAt = state.withLock { $0.coveredAt }
        return Double(max(0, clock.now().milliseconds - coveredAt.milliseconds)) / 1000
    }

    /// What keeps checkpoints from being signed; `nil` while nothing does.
    package var obstacle: String? { state.withLock { $0.obstacle } }

    /// Starts the thread; it signs at once, then after each pause, and once more when it stops.
    package func start() {
        NamedThread.start(named: "checkpoints") { [self] in
            repeat { publish() } while !isStopped(within: Self.intervalMilliseconds)
            publish()
            hasEnded.signal()
        }
    }

    private func isStopped(within milliseconds: Int) -> Bool {
        stopping.wait(timeout: .now() + .milliseconds(milliseconds)) == .success
    }

    /// Signs a checkpoint of what was recorded last, and ends the thread.
    package func stop() {
        stopping.signal()
        hasEnded.wait()
    }

    /// Adds what a witness signed to the latest checkpoint, if it is still the one that was signed.
    package func add(_ cosignature: VerifiedSignature, to signed: SignedCheckpoint) {
        state.withLock { state in
            guard state.latest?.checkpoint == signed.checkpoint else { return }
            state.latest?.add(cosignature)
        }
    }

    /// One look at the log, and a checkpoint if there is something new.
    package func publish() {
        let now = clock.now()
        guard listener.mayPublish(), let head = signable.heads.newest, head.size > 0 else { return }
        let earlier = latest?.checkpoint
        guard head != earlier?.head else {
            state.withLock { ($0.coveredAt, $0.obstacle) = (now, nil) }
            return
        }
        do throws(PublishingError) {
            let signed = try sign(head, after: earlier, at: now)
            state.withLock { $0 = State(latest: signed, coveredAt: now) }
            listener.published(signed)
        } catch {
            report(error)
        }
    }

    private func sign(
        _ head: TreeHead,
        after earlier: Checkpoint?,
        at now: Timestamp
    ) throws(PublishingError) -> SignedCheckpoint {
        if let earlier {
            guard head.size >= earlier.size else { throw .shrunk(from: earlier.size, to: head.size) }
            try demand(earlier.head)
        }
        try demand(head)
        return try keep(head, at: now)
    }

    /// Throws unless the stored log has that head.
    private func demand(_ head: TreeHead) throws(PublishingError) {
        let found: SHA256Digest
        do { found = try signable.heads.rootHash(ofSize: head.size) } catch { throw .unreadable(error) }
        guard found == head.rootHash else { throw .rewritten(size: head.size) }
    }

    private func keep(_ head: TreeHead, at now: Timestamp) throws(PublishingError) -> SignedCheckpoint {
        let signed: SignedCheckpoint
        do { signed = try SignedCheckpoint(head, signedBy: signable.key, at: now) } catch { throw .signing(error) }
        do throws(CheckpointKeepingError) {
            try signable.keeping.keep(signed)
            return signed
        } catch {
            if case .isOutrun(let other) = error { return try believed(other) }
            throw .keeping(error)
        }
    }

    /// What another instance has signed meanwhile, if it is our key's and of this log.
    private func believed(_ other: CheckpointTable.Stored) throws(PublishingError) -> SignedCheckpoint {
        let signed: SignedCheckpoint
        do throws(CheckpointFault) {
            let key = signable.key.verifierKey
            signed = try SignedCheckpoint(parsing: other.note, signedBy: key, at: other.signedAt)
        } catch {
            throw .notBelieved(error)
        }
        try demand(signed.checkpoint.head)
        // A restored database loses its checkpoint, whichever instance signed it, so this instance keeps it too.
        do { try signable.keeping.take(signed) } catch { throw .keeping(error) }
        return signed
    }

    private func report(_ error: PublishingError) {
        let reason = error.description
        let isNew = state.withLock { state in
            defer { state.obstacle = reason }
            return state.obstacle != reason
        }
        guard isNew else { return }
        log(.error, "no checkpoint of the audit log could be signed", with: ["reason": .text(reason)])
        if error.isContradiction { listener.contradiction(reason) }
    }
}
