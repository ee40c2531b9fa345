// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
import ServiceRuntime

/// Guards every use of a signing key: a stop blocks new uses at once.
///
/// It blocks in memory, so no disk has to answer first. The caller that blocks a key then waits for the uses
/// that have begun, so that later records come after the last signature.
package final class KeyUseGuard: Sendable {
    /// A stop that holds in this process and is not in the database, or not yet.
    package struct Held<Value: Sendable>: Sendable {
        /// What holds: a seal, or who disabled a key.
        package var value: Value
        /// The number of the act; the release of an earlier act must not release what a later one holds.
        package let serial: Int

        package init(value: Value, serial: Int) {
            (self.value, self.serial) = (value, serial)
        }
    }

    /// The number of current uses of a key; keys that only a seal can block share one count.
    private struct Uses {
        let key: KeyID?
        var count = 0
    }

    private struct State {
        var stored = SigningStops()
        var seals: [SealCause: Held<ActiveSeal>] = [:]
        var keys: [KeyID: Held<Requester>] = [:]
        var serial = 0
        /// The keys that were ever used: they are few, so a linear search is faster than a hash of their names.
        var uses: [Uses] = []
        var waiting = 0

        mutating func beginUse(of key: KeyID?) -> Int {
            let place = uses.firstIndex { $0.key == key } ?? uses.count
            if place == uses.count { uses.append(Uses(key: key)) }
            uses[place].count += 1
            return place
        }

        mutating func nextSerial() -> Int {
            serial += 1
            return serial
        }

        func stop(of key: KeyID?) -> KeyStop? {
            if !seals.isEmpty || !stored.seals.isEmpty {
                let causes = Set(seals.keys).union(stored.seals.map(\.cause))
                return .sealed(SealCause.allCases.filter(causes.contains))
            }
            if let key, stored.keys[key] != nil || keys[key] != nil { return .disabled(key) }
            return nil
        }
    }

    private let state = Guarded(State())
    private let lease: Lease?

    /// Allows every use that no stop blocks; with a `lease`, only while that is held.
    package init(lease: Lease? = nil) {
        self.lease = lease
    }

    // MARK: - Using a key

    /// Whether this instance has been out of contact with the others for too long to know what is sealed or disabled.
    package var isCutOff: Bool { lease.map { !$0.isHeld } ?? false }

    /// The stop that blocks this key now, or, without a key, all grants; `nil` if there is none.
    package func stop(of key: KeyID?) -> KeyStop? {
        if isCutOff { return .cutOff }
        return state.withLock { $0.stop(of: key) }
    }

    /// Uses a key, unless a stop blocks it; `body` must be short and must not wait.
    ///
    /// `nil` is a key that only a seal of the whole service stops, such as that of a service account.
    package func use<Value, Failure: Error>(
        _ key: KeyID?,
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Result<Value, KeyStop> {
        let place: Int
        do throws(KeyStop) {
            place = try state.withLock { state throws(KeyStop) in
                if let stop = state.stop(of: key) { throw stop }
                return state.beginUse(of: key)
            }
        } catch {
            return .failure(error)
        }
        defer { endUse(at: place) }
        // Checked after the use is counted: a thread that waits for its end has not yet acknowledged for this instance.
        if isCutOff { return .failure(.cutOff) }
        return .success(try body())
    }

    private func endUse(at place: Int) {
        let hasWaiting = state.withLock { state in
            state.uses[place].count -= 1
            return state.waiting > 0
        }
        if hasWaiting { state.wakeAll() }
    }

    /// Waits until no key is in use, or that one is not; takes a fraction of a millisecond once new uses are blocked.
    ///
    /// Do not call it from within ``use(_:_:)``.
    package func waitUntilUnused(_ key: KeyID? = nil) {
        state.withLock { $0.waiting += 1 }
        _ = state.wait { state in
            let isUsed = state.uses.contains { $0.count > 0 && (key == nil || $0.key == key) }
            return isUsed ? nil : true
        }
        state.withLock { $0.waiting -= 1 }
    }

    // MARK: - What holds

    /// Every cause that holds, in the order of ``SealCause``.
    package var seals: [ActiveSeal] {
        state.withLock { state in
            SealCause.allCases.compactMap { cause in
                let stored = state.stored.seals.first { $0.cause == cause }
                let recorded = stored.map {
                    ActiveSeal(cause: cause, since: $0.since, detail: $0.detail, requester: .service, isRecorded: true)
                }
                return recorded ?? state.seals[cause]?.value
            }
        }
    }

    /// Whether an administrator has disabled that key.
    package func isDisabled(_ key: KeyID) -> Bool {
        state.withLock { $0.stored.keys[key] != nil || $0.keys[key] != nil }
    }

    /// What was sealed or disabled in the database when it was last read.
    package var stored: SigningStops { state.withLock { $0.stored } }

    /// Applies what is sealed or disabled in the database; the committer's thread calls it in the order of the commits.
    ///
    /// - Returns: The stops that no longer hold.
    @discardableResult
    package func follow(_ stops: SigningStops) -> SigningStops {
        state.withLock { state in
            defer { state.stored = stops }
            return state.stored == stops ? SigningStops() : state.stored.lifted(in: stops)
        }
    }

    // MARK: - Blocking and releasing

    /// Blocks the uses of all keys.
    ///
    /// - Returns: The act, for `settle` and `release`.
    package func hold(_ seal: ActiveSeal) -> Int {
        state.withLock { state in
            let serial = state.nextSerial()
            let earlier = state.seals[seal.cause]?.value
            state.seals[seal.cause] = Held(value: earlier ?? seal, serial: serial)
            return serial
        }
    }

    /// Notes that the act's entry is durable; from now on the database holds what must outlive the process.
    package func settle(_ cause: SealCause, _ serial: Int) {
        state.withLock { state in
            guard state.seals[cause]?.serial == serial else { return }
            if cause.isSticky { state.seals[cause] = nil } else { state.seals[cause]?.value.isRecorded = true }
        }
    }

    /// Releases what that act held.
    package func release(_ cause: SealCause, _ serial: Int) {
        state.withLock { state in
            if state.seals[cause]?.serial == serial { state.seals[cause] = nil }
        }
    }

    /// The seals that hold in this process alone.
    package var held: [Held<ActiveSeal>] { state.withLock { Array($0.seals.values) } }
    /// The keys that are disabled in this process alone, and who disabled them.
    package var heldKeys: [KeyID: Held<Requester>] { state.withLock { $0.keys } }

    /// Blocks the uses of one key.
    package func hold(_ key: KeyID, by requester: Requester) -> Int {
        state.withLock { state in
            let serial = state.nextSerial()
            state.keys[key] = Held(value: requester, serial: serial)
            return serial
        }
    }

    /// Releases what that act held: the database has it now, or it was reversed.
    package func release(_ key: KeyID, _ serial: Int) {
        state.withLock { state in
            if state.keys[key]?.serial == serial { state.keys[key] = nil }
        }
    }
}
