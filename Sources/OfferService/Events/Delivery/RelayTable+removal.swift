// SPDX-License-Identifier: Apache-2.0
import Ledger
import OfferDomain
import Storage

extension RelayTable {
    /// How many bodies are removed at once, while signatures wait.
    static let mostRemoved = 500

    /// Removes some of the oldest bodies; examines at most ``mostRemoved``, without those that were given up.
    ///
    /// Given-up bodies stay until ``removeAll(receivedBefore:)``, so that they can be sent again.
    ///
    /// - Returns: How many.
    func remove(before entry: Int64, receivedBefore time: Timestamp) throws(StorageError) -> Int {
        try connection.run(
            SQL(
                """
                DELETE FROM relayed_notifications WHERE entry_index IN (
                    SELECT entry_index FROM (
                        SELECT entry_index, received_at FROM relayed_notifications WHERE entry_index < ?
                            AND entry_index NOT IN (
                                SELECT position / ? FROM event_deliveries WHERE given_up_at IS NOT NULL
                            )
                        ORDER BY entry_index LIMIT ?
                    ) AS oldest WHERE received_at < ?
                )
                """,
                .integer(entry),
                .integer(EventPosition.mostPerEntry),
                .integer(Int64(Self.mostRemoved)),
                .integer(time.milliseconds)
            )
        )
    }

    /// Removes some of the bodies that are too old, whether or not every relay has them.
    ///
    /// - Returns: How many.
    func removeAll(receivedBefore time: Timestamp) throws(StorageError) -> Int {
        try connection.run(
            SQL(
                """
                DELETE FROM relayed_notifications WHERE entry_index IN (
                    SELECT entry_index FROM (
                        SELECT entry_index, received_at FROM relayed_notifications ORDER BY entry_index LIMIT ?
                    ) AS oldest WHERE received_at < ?
                )
                """,
                .integer(Int64(Self.mostRemoved)),
                .integer(time.milliseconds)
            )
        )
    }
}
