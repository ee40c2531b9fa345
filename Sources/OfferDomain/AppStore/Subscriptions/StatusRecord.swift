// SPDX-License-Identifier: Apache-2.0

/// The status of a subscription as the store stated it, in a response of its API or in a notification.
package struct StatusRecord: Hashable, Sendable, Superseding {
    /// The status as the store stated it.
    package var status: Reported<SubscriptionStatus>
    /// When the status was true: a notification's `signedDate`; for an API response, which is not signed as a whole,
    /// the later `signedDate` of the data that came with the status.
    package var observedAt: Timestamp
    /// Whether it came from a notification or from the API.
    package var source: FactSource

    package init(_ status: Reported<SubscriptionStatus>, observedAt: Timestamp, source: FactSource) {
        self.status = status
        self.observedAt = observedAt
        self.source = source
    }

    var signedAt: Timestamp { observedAt }

    var contents: [Content] { [Content(source.rank), Content(status.storeText)] }
}
