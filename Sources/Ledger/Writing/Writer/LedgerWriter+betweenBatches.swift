// SPDX-License-Identifier: Apache-2.0
import Storage
import TransparencyLog

// MARK: - Between batches

extension LedgerWriter {
    /// Adds some of the newest grants to their index, if there are many.
    func compactGrants() throws(LedgerError) {
        try database(grants.log?.compactSome())
    }

    /// Reads some of the filter of subjects with grants, if it is not complete.
    func fillFilter() throws(LedgerError) {
        guard hasLeisureWork else { return }
        try database(grants.log?.fillFilter(ofLog: tree.size))
    }

    /// Whether ``fillFilter()`` is of use: once the tree is known, and with it what was recorded before.
    var hasLeisureWork: Bool { isTreeRead && grants.log?.isFilterDue == true }
}
