// SPDX-License-Identifier: Apache-2.0

/// The status of a subscription as the store itself told it, in an answer of its API or in a notification.
package struct StatusRecord: Hashable, Sendable, Superseding {
    /// The status as the store told it.
    package var status: Reported<SubscriptionStatus>
    /// The instant for which it was true: of a notification its `signedDate`; of an answer of the API, which is not
    /// signed as a whole, the later `signedDate` of what came with the status.
    package var observedAt: Timestamp
    /// Whether a notification or the API told it.
    package var source: FactSource

    package init(_ status: Reported<SubscriptionStatus>, observedAt: Timestamp, source: FactSource) {
        self.status = status
        self.observedAt = observedAt
        self.source = source
    }

    var signedAt: Timestamp { observedAt }

    var contents: [Content] { [Content(source.rank), Content(status.storeText)] }
}
