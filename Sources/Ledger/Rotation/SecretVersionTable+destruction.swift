// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import Storage

extension SecretVersionTable {
    /// Notes that the secret of a version is destroyed, and deletes what would lead from its entries to a customer.
    ///
    /// `next` is the secret version that took over.
    func destroy(_ secretVersion: Entry, before next: Entry, at now: Timestamp) throws(StorageError) {
        // A grant at the very end was used a little later; without the grant, that use would pass for ungranted.
        let settled = min(next.begunAt.adding(hours: Self.settlingHours), now)
        try DestructionSweep(connection: connection, secretVersion: secretVersion, next: next).run(settled: settled)
        try connection.run(
            SQL(
                "UPDATE secret_versions SET destroyed_at = ?, forgotten_until = ? WHERE name = ?",
                .integer(now.milliseconds),
                .integer(settled.milliseconds),
                .text(secretVersion.name)
            )
        )
    }

    /// How long after a grant a use of it may come, in either store.
    private static let settlingHours = 96
}
