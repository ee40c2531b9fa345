// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import Storage

extension EpochTable {
    /// Notes that the secret of an epoch is destroyed, and deletes what would lead from its entries to a customer.
    ///
    /// `next` is the epoch that took over.
    func destroy(_ epoch: Entry, before next: Entry, at now: Timestamp) throws(StorageError) {
        // A grant at the very end was used a little later; without the grant, that use would pass for ungranted.
        let settled = min(next.begunAt.adding(hours: Self.settlingHours), now)
        try EpochForgetting(connection: connection, epoch: epoch, next: next).run(settled: settled)
        try connection.run(
            SQL(
                "UPDATE customer_epochs SET destroyed_at = ?, forgotten_until = ? WHERE epoch = ?",
                .integer(now.milliseconds),
                .integer(settled.milliseconds),
                .text(epoch.name)
            )
        )
    }

    /// How long after a grant a use of it may come, in either store.
    private static let settlingHours = 96
}
