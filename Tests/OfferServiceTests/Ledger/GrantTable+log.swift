// SPDX-License-Identifier: Apache-2.0
@testable import Ledger

/// What the log of grants has to do between two transactions; nothing on a server, which has no such log.
extension GrantTable {
    var isCompactionDue: Bool { log?.isCompactionDue ?? false }
    var isFilterDue: Bool { log?.isFilterDue ?? false }

    func compactSome() throws { try log?.compactSome() }

    func compactAll() throws {
        while isCompactionDue { try compactSome() }
    }

    func fillFilter(ofLog entries: Int64) throws { try log?.fillFilter(ofLog: entries) }
}
