// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Dispatch
package import HTTP
import OfferDomain
import ServiceRuntime

/// Submits each checkpoint to one witness, on a thread of its own, and keeps what it signs.
///
/// Nothing waits for the witness. A refusal is logged as an error: a witness that holds more of this log than there is,
/// or another beginning of it, has seen entries that are gone.
final class WitnessLink: Sendable {
    /// What is known of the witness.
    struct Progress: Sendable {
        /// What it last signed, of this run or an earlier one.
        var cosigned: (size: Int64, seconds: Int64)?
        /// The size that it holds, as far as it signed or reported one.
        var held: Int64 = 0
        var fault: Fault?
        /// Since when there is a checkpoint that it has not signed.
        var behindSince: Timestamp?
    }

    /// Why it does not sign.
    struct Fault: Hashable, Sendable {
        let isRefusal: Bool
        let reason: String
    }

    let witness: LogPolicy.Witness
    private let context: WitnessContext
    /// What the database has of the witness, whichever instance requested the signature.
    private let stored: @Sendable () -> (size: Int64, seconds: Int64)?
    private let state: Guarded<Progress>
    private let isStopping = Guarded(false)
    private let wake = DispatchSemaphore(value: 0)
    private let hasEnded = DispatchSemaphore(value: 0)

    init(
        _ witness: LogPolicy.Witness,
        progress: Progress,
        stored: @escaping @Sendable () -> (size: Int64, seconds: Int64)?,
        context: WitnessContext
    ) {
        self.witness = witness
        self.stored = stored
        self.context = context
        state = Guarded(progress)
    }

    var progress: Progress { state.withLock { $0 } }

    func start() {
        NamedThread.start(named: "witness") { [self] in
            var failures = 0
            while !isStopping.withLock({ $0 }) {
                failures = submit() ? 0 : failures + 1
                pause(after: failures)
            }
            hasEnded.signal()
        }
    }

    /// Lets it look for a new checkpoint.
    func checkpointPublished(at now: Timestamp) {
        state.withLock { $0.behindSince = $0.behindSince ?? now }
        wake.signal()
    }

    func stop() {
        isStopping.withLock { $0 = true }
        wake.signal()
        hasEnded.wait()
    }

    /// Until the next checkpoint; after a failure at least for a while, twice as long each time.
    private func pause(after failures: Int) {
        guard failures > 0 else {
            _ = wake.wait(timeout: .now() + .seconds(60))
            return
        }
        let end = DispatchTime.now() + .seconds(min(60, 1 << min(failures - 1, 6)))
        while !isStopping.withLock({ $0 }), wake.wait(timeout: end) == .success {}
    }

    /// Submits the latest checkpoint, unless the witness has signed it.
    ///
    /// - Returns: Whether nothing is left to be done.
    func submit() -> Bool {
        guard let signed = context.publisher.latest else { return true }
        guard progress.cosigned?.size != signed.checkpoint.size || !isSigned(signed) else { return true }
        // Once more when it says what it holds, and once more if it holds something else by then.
        for _ in 0..<3 {
            let old = progress.held
            switch ask(signed, from: old) {
            case .cosigned(let cosignature):
                accept(cosignature, signed)
                return true
            case .holds(let size) where size == old && size == signed.checkpoint.size:
                let reason = "it holds another log of \(size) entries"
                return settle(.init(isRefusal: true, reason: reason), isContradiction: true)
            case .holds(let size) where size <= signed.checkpoint.size:
                state.withLock { $0.held = size }
            case .holds(let size): return isOutrun(by: size, signed)
            case .contradicts(let reason):
                return settle(.init(isRefusal: true, reason: reason), isContradiction: true)
            case .refused(let reason): return settle(.init(isRefusal: true, reason: reason))
            case .unreachable(let reason): return settle(.init(isRefusal: false, reason: reason))
            }
        }
        return settle(.init(isRefusal: false, reason: "what it holds changes from answer to answer"))
    }

    /// Whether nothing is left to be done for a checkpoint when the witness holds more: another instance was faster.
    ///
    /// The log is asked for its size only now, so that it has all that a witness can have seen; where it can't be read, nothing
    /// is known, which is no contradiction.
    private func isOutrun(by size: Int64, _ signed: SignedCheckpoint) -> Bool {
        guard let newest = context.signable.heads.newest?.size else {
            return settle(.init(isRefusal: false, reason: "it holds \(size) entries, and the log can't be read"))
        }
        guard size <= newest else {
            let reason = "it holds \(size) entries of this log, which has only \(newest)"
            return settle(.init(isRefusal: true, reason: reason), isContradiction: true)
        }
        let kept = stored()
        return state.withLock { state in
            (state.held, state.fault) = (size, nil)
            guard let kept, kept.size >= signed.checkpoint.size else { return false }
            (state.cosigned, state.behindSince) = (kept, nil)
            return true
        }
    }

    private func isSigned(_ signed: SignedCheckpoint) -> Bool {
        signed.note.signatures.contains { $0.keyID == witness.key.keyID && $0.name == witness.key.name }
    }

    private func ask(_ signed: SignedCheckpoint, from old: Int64) -> WitnessAnswer {
        let request: ClientRequest
        do {
            let proof = try context.signable.heads.consistencyProof(from: old, to: signed.checkpoint.size)
            var body = Array("old \(old)\n".utf8)
            for hash in proof { body += Base64.encode(hash.bytes) + [UInt8(ascii: "\n")] }
            body += [UInt8(ascii: "\n")] + signed.ownNote.bytes
            request = try ClientRequest(.post, url: witness.url + "/add-checkpoint", body: body)
        } catch {
            return .unreachable("\(error)")
        }
        switch send(request) {
        case .success(let response): return WitnessAnswer(response, to: signed.note, from: witness.key)
        case .failure(let error): return .unreachable(error.description)
        }
    }

    /// Blocks this thread, which is not one of Swift's shared pool, until there is an answer.
    private func send(_ request: ClientRequest) -> Result<ClientResponse, ClientError> {
        let outcome = Guarded<Result<ClientResponse, ClientError>?>(nil)
        Task { [transport = context.transport] in
            let result: Result<ClientResponse, ClientError>
            do throws(ClientError) {
                result = .success(try await transport.send(request))
            } catch {
                result = .failure(error)
            }
            outcome.withLock { $0 = result }
            outcome.wakeOne()
        }
        return outcome.wait { $0 }
    }

    private func accept(_ cosignature: VerifiedSignature, _ signed: SignedCheckpoint) {
        do throws(CheckpointKeepingError) {
            try context.signable.keeping.keep(cosignature, of: signed)
        } catch {
            context.log(.warning, "a witness's signature could not be kept", with: ["reason": .text(error.description)])
        }
        context.publisher.add(cosignature, to: signed)
        let size = signed.checkpoint.size
        let isLatest = context.publisher.latest?.checkpoint.size == size
        let earlier = state.withLock { state in
            let earlier = state.fault
            state.cosigned = (size, cosignature.seconds ?? 0)
            (state.held, state.fault) = (size, nil)
            state.behindSince = isLatest ? nil : context.clock.now()
            return earlier
        }
        if earlier != nil { context.log(.info, "a witness signs again", with: ["witness": .text(witness.name)]) }
    }

    private func settle(_ fault: Fault, isContradiction: Bool = false) -> Bool {
        let isNew = state.withLock { state in
            defer { state.fault = fault }
            return state.fault != fault
        }
        guard isNew else { return false }
        context.log(
            fault.isRefusal ? .error : .warning,
            fault.isRefusal ? "a witness refuses the audit log's checkpoint" : "a witness can't be asked",
            with: ["witness": .text(witness.name), "reason": .text(fault.reason)]
        )
        if isContradiction { context.contradiction("The witness \(witness.name) says: \(fault.reason).") }
        return false
    }
}

/// What all witnesses of a log have in common.
package struct WitnessContext: Sendable {
    /// Sends the requests.
    let transport: any Transport
    let signable: SignableLog
    let publisher: CheckpointPublisher
    let clock: WallClock
    let log: Log
    /// Called when a witness holds more of the log than there is, or another beginning of it.
    let contradiction: @Sendable (String) -> Void

    /// The rest is the publisher's: what is signed, and whom a contradiction is reported to.
    package init(transport: any Transport, publisher: CheckpointPublisher) {
        self.transport = transport
        self.publisher = publisher
        signable = publisher.signable
        clock = publisher.clock
        log = publisher.log
        contradiction = publisher.listener.contradiction
    }
}
