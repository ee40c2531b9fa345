// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
import Storage

extension LedgerWriter {
    /// Takes an instance from those that share the database; nobody waits for it any more.
    package func leave(_ id: UniqueID) throws(LedgerError) {
        try database(InstanceTable(connection: connection).remove(id))
        try acknowledgeSwitches()
    }

    /// Has every instance read its files anew.
    ///
    /// - Returns: How often that was done, this time included.
    package func requestReload() throws(LedgerError) -> Int64 {
        let table = InstanceTable(connection: connection)
        try database(table.requestReload())
        return try database(table.reloads())
    }

    /// When something is obeyed that this instance obeys: now, or, with others beside it, nobody knows yet.
    func acknowledgement() throws(LedgerError) -> Timestamp? {
        let others = try database(InstanceTable(connection: connection).all().filter { $0.instance.id != instance })
        return others.isEmpty ? recordedAt : nil
    }

    /// Notes that this instance obeys what is switched off.
    ///
    /// - Returns: Whether every one does.
    func acknowledge() throws(LedgerError) -> Bool {
        let table = InstanceTable(connection: connection)
        if let instance { try database(table.acknowledge(of: instance)) }
        return try database(table.isObeyed())
    }
}
