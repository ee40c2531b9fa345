// SPDX-License-Identifier: Apache-2.0
import Storage
import TransparencyLog

// MARK: - Between two transactions

extension LedgerWriter {
    /// Carries some of what was granted over to its place, if there is much of it.
    func mergeGrants() throws(LedgerError) {
        try database(grants.mergeSome())
    }

    /// Reads some of who was granted something, if that is not known.
    func readGranted() throws(LedgerError) {
        guard hasLeisureWork else { return }
        try database(grants.readGranted(ofLog: tree.size))
    }

    /// Whether ``readGranted()`` is of use: once the tree is known, and with it what was recorded before.
    var hasLeisureWork: Bool { isTreeRead && grants.isReadingDue }
}
