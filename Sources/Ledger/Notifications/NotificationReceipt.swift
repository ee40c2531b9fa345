// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// Identifies a notification of a store.
package struct NotificationReceipt: Hashable, Sendable {
    /// Apple's `notificationUUID`, or Pub/Sub's ID of the message within its topic; every delivery has the same one.
    package let id: String
    /// The store's name for the type; a number if the service does not know a type of Google Play.
    package let type: String
    /// As Apple writes it; `nil` for a notification without one, and at Google Play.
    package let subtype: String?
    /// When the store sent it: `signedDate` or `eventTimeMillis`.
    package let sentAt: Timestamp
    /// The environment of the purchase that it is about, if it is about one.
    package let environment: StoreEnvironment?
    /// What is relayed of it, byte for byte; `nil` if nothing is.
    package var relayedBody: [UInt8]?

    package init(
        id: String,
        type: String,
        subtype: String? = nil,
        sentAt: Timestamp,
        environment: StoreEnvironment?
    ) {
        self.id = id
        self.type = type
        self.subtype = subtype
        self.sentAt = sentAt
        self.environment = environment
    }
}
