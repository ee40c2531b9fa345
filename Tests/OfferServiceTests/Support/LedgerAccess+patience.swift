// SPDX-License-Identifier: Apache-2.0
import OfferService
import Storage

@testable import Ledger

extension LedgerAccess {
    /// A connection that writes; its transactions may pause for longer than a service's: a server would end those after
    /// a second, and a debug build beside seven other tests takes more.
    func openPatiently() throws(StorageError) -> any DatabaseConnection {
        try open(idleTimeoutMilliseconds: 60_000)
    }
}
