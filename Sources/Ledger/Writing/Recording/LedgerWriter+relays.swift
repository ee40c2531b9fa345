// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import Storage

extension LedgerWriter {
    /// Keeps what is relayed of a notification, in the transaction that records its receipt.
    func relay(_ body: [UInt8]?, of store: Store, entry index: Int64) throws(LedgerError) {
        guard let body else { return }
        try database(RelayTable(connection: connection).add(body, of: store, entry: index, at: recordedAt))
    }
}
