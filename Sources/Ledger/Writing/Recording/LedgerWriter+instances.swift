// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
import Storage

extension LedgerWriter {
    /// Removes an instance from those that share the database; no other instance waits for it any more.
    package func leave(_ id: UniqueID) throws(LedgerError) {
        try database(InstanceTable(connection: connection).remove(id))
        try acknowledgeStops()
    }

    /// Makes every instance read its files again.
    ///
    /// - Returns: How often that was requested, this time included.
    package func requestReload() throws(LedgerError) -> Int64 {
        let table = InstanceTable(connection: connection)
        try database(table.requestReload())
        return try database(table.reloads())
    }

    /// When every instance has acknowledged what this one has: now if it is the only one; otherwise `nil`, not yet known.
    func acknowledgement() throws(LedgerError) -> Timestamp? {
        let others = try database(InstanceTable(connection: connection).all().filter { $0.instance.id != instance })
        return others.isEmpty ? recordedAt : nil
    }

    /// Notes that this instance acknowledges what is sealed or disabled.
    ///
    /// - Returns: Whether every instance does.
    func acknowledge() throws(LedgerError) -> Bool {
        let table = InstanceTable(connection: connection)
        if let instance { try database(table.acknowledge(of: instance)) }
        return try database(table.isAcknowledged())
    }
}
