// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
import Storage

extension LedgerWriter {
    /// Records a seal; a sticky one is also stored for the next start.
    package func seal(_ seal: ActiveSeal) throws(LedgerError) {
        if seal.cause.isSticky {
            let at = try acknowledgement()
            try database(SealStore(connection: connection).add(seal, acknowledgedAt: at))
            _ = try acknowledge()
            try readStops()
        }
        let isAwaited = seal.cause.isSticky && stops.seals.contains { $0.cause == seal.cause && !$0.isAcknowledged }
        try append(.serviceSealed(seal, isAwaited: isAwaited))
    }

    /// Lifts seals, and records that; causes that were never in the database are only recorded.
    package func unseal(_ causes: [SealCause], by requester: Requester, reason: String) throws(LedgerError) {
        for cause in causes {
            if cause.isSticky {
                try database(SealStore(connection: connection).remove(cause))
            }
            try append(.serviceUnsealed(cause, by: requester, reason: reason))
        }
        try readStops()
    }

    /// Disables a key, or leaves it to the `keys` file again, and records that.
    package func set(_ key: KeyID, isDisabled: Bool, by requester: Requester) throws(LedgerError) {
        let at = try acknowledgement()
        let store = KeyStateStore(connection: connection)
        try database(isDisabled ? store.disable(key, at: recordedAt, acknowledgedAt: at) : store.enable(key))
        _ = try acknowledge()
        try readStops()
        let isAwaited = stops.keys[key] == false
        try append(
            isDisabled ? .key(.disabled(key, by: requester, isAwaited: isAwaited)) : .key(.enabled(key, by: requester))
        )
    }

    /// Acknowledges what others have sealed or disabled: the service no longer signs what that blocks.
    ///
    /// If several instances share the database, the last one to acknowledge records it for all.
    package func acknowledgeStops() throws(LedgerError) {
        let isAcknowledgedByAll = try acknowledge()
        guard isAcknowledgedByAll, stops.awaitsAcknowledgement else { return }
        for seal in stops.seals where !seal.isAcknowledged { try append(.sealAcknowledged(seal.cause)) }
        let keys = stops.keys.filter { !$0.value }.keys.sorted { $0.text < $1.text }
        for key in keys { try append(.key(.acknowledged(key))) }
        try database(SealStore(connection: connection).acknowledge(at: recordedAt))
        try readStops()
    }
}
