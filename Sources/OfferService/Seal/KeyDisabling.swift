// SPDX-License-Identifier: Apache-2.0
package import Ledger
package import OfferDomain
package import ServiceRuntime
import Storage

/// Disables and enables keys in the database, and records it.
package struct KeyDisabling {
    private let ledger: LedgerAccess
    private let clock: WallClock

    package init(ledger: LedgerAccess, clock: WallClock) {
        self.ledger = ledger
        self.clock = clock
    }

    /// The disabled keys.
    package func disabled() throws(LedgerError) -> Set<KeyID> {
        guard ledger.exists else { return [] }
        return try database(KeyStateStore(connection: ledger.open()).disabled())
    }

    /// Whether a use of a key is on record: a signature of an offer, or of a token for a store.
    ///
    /// A key that a service has only loaded does not count as used; neither does an ID without a key.
    package func isUseOnRecord(of id: KeyID) throws(LedgerError) -> Bool {
        guard ledger.exists else { return false }
        var uses = KeyUses()
        try database(uses.read(ledger.open()))
        return uses.last[id] != nil
    }

    /// Disables a key, or leaves it to the `keys` file again.
    package func set(_ id: KeyID, isDisabled: Bool) throws(LedgerError) {
        // No service would read a database that is created only now.
        guard ledger.exists else { throw .databaseGone }
        let now = clock.now()
        do throws(LedgerChangeError<StorageError>) {
            try ledger.change { connection throws(StorageError) in
                let store = KeyStateStore(connection: connection)
                if isDisabled { try store.disable(id, at: now) } else { try store.enable(id) }
                return [isDisabled ? .key(.disabled(id, by: .command)) : .key(.enabled(id, by: .command))]
            }
        } catch {
            switch error {
            case .refused(let error): throw .database(error)
            case .ledger(let error): throw error
            }
        }
    }
}
