// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain
import Storage

/// The notifications that were processed, so that a repeated one changes nothing; inside an open transaction.
struct ProcessedNotifications {
    let connection: any DatabaseConnection

    /// Remembers a notification of the App Store; false if it was remembered before.
    func remember(_ notification: NotificationReceipt) throws(StorageError) -> Bool {
        try add(notification.id.bytes, of: .appStore, sentAt: notification.signedAt)
    }

    /// Remembers a message of Google Play; false if it was remembered before.
    func remember(_ message: GooglePlayMessage, of packageName: PackageName) throws(StorageError) -> Bool {
        // Two apps may have two topics, which number their messages alike.
        let key = SHA256.digest(of: Array(packageName.text.utf8) + [0] + Array(message.id.utf8))
        return try add(Array(key.bytes.prefix(16)), of: .googlePlay, sentAt: message.sentAt)
    }

    private func add(_ id: [UInt8], of store: Store, sentAt: Timestamp) throws(StorageError) -> Bool {
        try connection.run(
            SQL(
                """
                INSERT INTO store_notifications (notification_id, store, sent_at) VALUES (?, ?, ?)
                ON CONFLICT DO NOTHING
                """,
                [.blob(id), .text(store.recordName), .integer(sentAt.milliseconds)]
            )
        ) == 1
    }
}
