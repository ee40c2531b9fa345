// SPDX-License-Identifier: Apache-2.0
import Configuration
package import Ledger
package import OfferDomain
package import ServiceRuntime

/// The seal: it stops all signing by the service until it is lifted; any thread may use it.
///
/// To seal, the service blocks key uses, waits for those that have begun, and then writes the entry. So no signature
/// is made after the entry is durable. To unseal, it writes the entry first.
package final class Seal: Sendable {
    private let keyUseGuard: KeyUseGuard
    private let committer: Committer
    private let clock: WallClock
    private let log: Log
    /// Checks whether a cause still holds; called before it is lifted.
    private let conditions = Guarded<[SealCause: @Sendable () -> String?]>([:])
    /// The lasting causes that this instance has found itself and that have not been lifted.
    private let found = Guarded<Set<SealCause>>([])
    /// What has an entry that is being written.
    private let busy = Guarded<Set<Subject>>([])
    /// Why records can't be written just now, and since when.
    private let unwritable: @Sendable () -> (since: Timestamp, reason: String)?

    private enum Subject: Hashable {
        case service(SealCause)
        case end(SealCause)
        case key(KeyID)
    }

    /// `unwritable` says since when and why records can't be written; that seals too, while it lasts.
    package init(
        keyUseGuard: KeyUseGuard,
        committer: Committer,
        clock: WallClock,
        log: Log,
        unwritable: @escaping @Sendable () -> (since: Timestamp, reason: String)?
    ) {
        self.keyUseGuard = keyUseGuard
        self.committer = committer
        self.clock = clock
        self.log = log
        self.unwritable = unwritable
    }

    /// Whether nothing is signed.
    package var isSealed: Bool { !causes.isEmpty }

    /// Whether keys cannot be used because this instance cannot reach the others through the database.
    var isCutOff: Bool { keyUseGuard.isCutOff }

    /// Whether every instance that shares the database has acknowledged the seals that last until they are lifted.
    package var isAcknowledged: Bool {
        // The others do not know what is not on record yet.
        !keyUseGuard.held.contains { $0.value.cause.isSticky } && keyUseGuard.stored.seals.allSatisfy(\.isAcknowledged)
    }

    /// Whether every instance that shares the database has acknowledged that the key is disabled, if it is.
    package func isAcknowledged(_ key: KeyID) -> Bool {
        keyUseGuard.heldKeys[key] == nil && keyUseGuard.stored.keys[key] != false
    }

    /// Every cause that holds, in the order of `SealCause`.
    package var causes: [ActiveSeal] {
        var causes = keyUseGuard.seals
        if let (since, reason) = unwritable() {
            let seal = ActiveSeal(
                cause: .logUnwritable,
                since: since,
                detail: reason,
                requester: .service,
                isRecorded: false
            )
            causes.insert(seal, at: causes.firstIndex { $0.cause == .checkpoint } ?? causes.endIndex)
        }
        return causes
    }

    /// Has `condition` asked before a seal of that cause is lifted; it answers why the seal must stay, or nothing.
    package func keep(_ cause: SealCause, while condition: @escaping @Sendable () -> String?) {
        conditions.withLock { $0[cause] = condition }
    }

    // MARK: - Sealing

    /// Seals the service for a cause that it has found by itself; nothing is signed from the return on.
    ///
    /// The entry follows, and is tried again each second until it is durable.
    package func seal(_ cause: SealCause, detail: String) {
        seal(cause, detail: detail, by: .service) { _ in }
        if cause.isSticky { found.withLock { _ = $0.insert(cause) } }
    }

    /// Seals the service; returns once the entry is durable, and ``isAcknowledged`` is true or the wait for that ends.
    ///
    /// - Throws: Why the entry could not be written; the service is sealed nevertheless.
    package func seal(_ cause: SealCause, detail: String, by requester: Requester) async throws(LedgerError) {
        try await withCheckedContinuation { continuation in
            seal(cause, detail: detail, by: requester) { continuation.resume(returning: $0) }
        }.get()
        await awaitAcknowledgement()
    }

    /// If several instances share the database, waits for a limited time until each has acknowledged or is removed.
    private func awaitAcknowledgement() async {
        for _ in 0..<100 {
            guard committer.keyUseGuard.stored.awaitsAcknowledgement else { return }
            await Pause.system(milliseconds: 50)
            committer.change({ _ in }, { _ in })
        }
    }

    func seal(
        _ cause: SealCause,
        detail: String,
        by requester: Requester,
        then done: @escaping @Sendable (Result<Void, LedgerError>) -> Void
    ) {
        let seal = ActiveSeal(
            cause: cause,
            since: clock.now(),
            detail: detail,
            requester: requester,
            isRecorded: false
        )
        let serial = keyUseGuard.hold(seal)
        // A reason that a person gives is recorded, but not logged.
        let known = requester.callerID == nil ? detail : "see the records"
        log(
            .error,
            "the service is sealed: nothing is signed",
            with: [
                "cause": .text(cause.rawValue), "detail": .text(known), "by": .text(requester.name),
                "help": .text(cause.remedy),
            ]
        )
        record(seal, serial: serial, then: done)
    }

    private func record(
        _ seal: ActiveSeal,
        serial: Int,
        then done: @escaping @Sendable (Result<Void, LedgerError>) -> Void
    ) {
        busy.withLock { _ = $0.insert(.service(seal.cause)) }
        // Also on a retry: the first attempt may still be waiting.
        keyUseGuard.waitUntilUnused()
        committer.change { writer throws(LedgerError) in
            try writer.seal(seal)
        } _: { [self] result in
            if case .failure(let error) = result {
                log(
                    .error,
                    "the seal is not on record yet; it holds nevertheless",
                    with: ["cause": .text(seal.cause.rawValue), "reason": .text(error.description)]
                )
            } else {
                keyUseGuard.settle(seal.cause, serial)
            }
            busy.withLock { _ = $0.remove(.service(seal.cause)) }
            done(result)
        }
    }

    /// Tries again to record what holds and is not on record yet; called once a second.
    package func recordWhatIsHeld() {
        // Read before the guard: an attempt that ends in between is in this copy, or the guard shows what it recorded.
        let before = busy.withLock { $0 }
        func isBusy(_ subject: Subject) -> Bool { before.contains(subject) || self.isBusy(subject) }
        for held in keyUseGuard.held where !held.value.isRecorded && !isBusy(.service(held.value.cause)) {
            record(held.value, serial: held.serial) { _ in }
        }
        for (key, held) in keyUseGuard.heldKeys where !isBusy(.key(key)) { record(key, held: held) { _ in } }
        sealAgain()
    }

    /// Seals again for causes that still hold here, after a command or another instance has lifted the seal.
    ///
    /// That command or instance checks only what it can see: not this machine's clock, memory and processor.
    private func sealAgain() {
        let sealed = Set(keyUseGuard.seals.map(\.cause))
        // A log that was found to be changed stays so, also where the seal was lifted before this instance had noticed.
        if !sealed.contains(.checkpoint), let why = reason(for: .checkpoint) { seal(.checkpoint, detail: why) }
        for cause in found.withLock({ $0.subtracting(sealed) }) where cause != .checkpoint {
            if let why = reason(for: cause) {
                seal(cause, detail: why)
            } else {
                found.withLock { _ = $0.remove(cause) }
            }
        }
    }

    /// Why a seal of that cause must stay, as this instance sees it.
    private func reason(for cause: SealCause) -> String? { conditions.withLock { $0[cause] }?() }

    private func isBusy(_ subject: Subject) -> Bool { busy.withLock { $0.contains(subject) } }

    // MARK: - Lifting

    /// Lifts every seal that lasts until it is lifted; returns once that is durable, and then keys are used again.
    ///
    /// - Throws: ``UnsealRefusal`` if one of the seals must stay; then all of them stay.
    package func unseal(_ reason: SealReason, by requester: Requester) async throws(UnsealRefusal) {
        if causes.isEmpty { try await hearOthers() }
        let held = keyUseGuard.held
        let active = causes
        guard !active.isEmpty else { return }
        let obstacles = active.compactMap(obstacle)
        guard obstacles.isEmpty else { throw .holds(obstacles) }
        do {
            try await committer.change { writer throws(LedgerError) in
                try writer.unseal(active.map(\.cause), by: requester, reason: reason.text)
            }
        } catch {
            throw .ledger(error)
        }
        for entry in held { keyUseGuard.release(entry.value.cause, entry.serial) }
        log(
            .warning,
            "the seal is lifted",
            with: ["by": .text(requester.name), "sealed": .text(isSealed ? "yes" : "no")]
        )
    }

    /// Another instance, or a command, may have sealed a moment ago.
    private func hearOthers() async throws(UnsealRefusal) {
        do throws(LedgerError) { try await committer.change { _ in } } catch { throw .ledger(error) }
    }

    private func obstacle(_ seal: ActiveSeal) -> SealObstacle? {
        if let why = reason(for: seal.cause) { return SealObstacle(cause: seal.cause, reason: why) }
        // A seal that ends with its condition cannot be lifted by hand.
        return seal.cause.isSticky ? nil : SealObstacle(cause: seal.cause, reason: seal.detail)
    }

    /// A condition that the service watches itself holds, or holds no more; called once a second.
    package func set(_ cause: SealCause, holds detail: String?, by requester: Requester = .service) {
        let held = keyUseGuard.held.first { $0.value.cause == cause }
        switch (detail, held) {
        case (nil, nil): return
        case (let detail?, nil): seal(cause, detail: detail, by: requester) { _ in }
        case (let detail?, .some):
            // It is back before its end was written, which lifts only what was there then.
            if isBusy(.end(cause)) { seal(cause, detail: detail, by: requester) { _ in } }
        case (nil, let held?): end(cause, held.serial, by: requester)
        }
    }

    private func end(_ cause: SealCause, _ serial: Int, by requester: Requester) {
        guard !isBusy(.service(cause)), busy.withLock({ $0.insert(.end(cause)).inserted }) else { return }
        committer.change { writer throws(LedgerError) in
            try writer.unseal([cause], by: requester, reason: "the cause is gone")
        } _: { [self] result in
            if case .success = result {
                keyUseGuard.release(cause, serial)
                log(.warning, "a cause of the seal is gone", with: ["cause": .text(cause.rawValue)])
            }
            busy.withLock { _ = $0.remove(.end(cause)) }
        }
    }

    // MARK: - One key

    /// Whether an administrator has disabled that key.
    package func isDisabled(_ key: KeyID) -> Bool { keyUseGuard.isDisabled(key) }

    /// Disables a key, which signs nothing from now on; returns once that is durable.
    ///
    /// - Throws: Why the entry could not be written; the key is disabled nevertheless.
    package func disable(_ key: KeyID, by requester: Requester) async throws(LedgerError) {
        let serial = keyUseGuard.hold(key, by: requester)
        log(.error, "a key was disabled", with: ["key": .text(key.text), "by": .text(requester.name)])
        try await withCheckedContinuation { continuation in
            record(key, held: KeyUseGuard.Held(value: requester, serial: serial)) { continuation.resume(returning: $0) }
        }.get()
        await awaitAcknowledgement()
    }

    private func record(
        _ key: KeyID,
        held: KeyUseGuard.Held<Requester>,
        then done: @escaping @Sendable (Result<Void, LedgerError>) -> Void
    ) {
        busy.withLock { _ = $0.insert(.key(key)) }
        keyUseGuard.waitUntilUnused(key)
        committer.change { writer throws(LedgerError) in
            try writer.set(key, isDisabled: true, by: held.value)
        } _: { [keyUseGuard, busy] result in
            if case .success = result { keyUseGuard.release(key, held.serial) }
            busy.withLock { _ = $0.remove(.key(key)) }
            done(result)
        }
    }

    /// Leaves a key to the `keys` file again, once that is durable.
    package func enable(_ key: KeyID, by requester: Requester) async throws(LedgerError) {
        let held = keyUseGuard.heldKeys[key]
        try await committer.change { writer throws(LedgerError) in
            try writer.set(key, isDisabled: false, by: requester)
        }
        if let held { keyUseGuard.release(key, held.serial) }
        log(.warning, "a key was enabled", with: ["key": .text(key.text), "by": .text(requester.name)])
    }
}

/// Why a seal must stay.
package struct SealObstacle: Hashable, Sendable {
    /// The cause that still holds.
    package let cause: SealCause
    /// A sentence, or part of one.
    package let reason: String

    package init(cause: SealCause, reason: String) {
        self.cause = cause
        self.reason = reason
    }
}

/// Why seals were not lifted.
package enum UnsealRefusal: Error, Sendable {
    case holds([SealObstacle])
    case ledger(LedgerError)
}

extension Requester {
    /// For logs.
    fileprivate var name: String { callerID?.text ?? kind }
}
