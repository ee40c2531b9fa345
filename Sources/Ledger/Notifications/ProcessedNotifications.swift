// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain
import Storage

/// The notifications that were processed, so that a repeated one changes nothing; inside an open transaction.
struct ProcessedNotifications {
    let connection: any DatabaseConnection

    /// Remembers a notification about an app; false if it was remembered before.
    func remember(_ notification: NotificationReceipt, of app: StoreApp) throws(StorageError) -> Bool {
        // Two apps at Google Play may have two topics, which number their messages alike.
        let digest = SHA256.digest(of: Array(app.name.utf8) + [0] + Array(notification.id.utf8))
        return try connection.run(
            SQL(
                """
                INSERT INTO store_notifications (notification_id, store, sent_at) VALUES (?, ?, ?)
                ON CONFLICT DO NOTHING
                """,
                [
                    .blob(Array(digest.bytes.prefix(16))), .text(app.store.recordName),
                    .integer(notification.sentAt.milliseconds),
                ]
            )
        ) == 1
    }
}
