// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
import Storage

extension NotificationReceipt {
    /// Whether a subscriber has turned off renewal, or renewal was turned off for the subscriber.
    fileprivate var isCancellation: Bool {
        type == NotificationType.didChangeRenewalStatus.rawValue
            && subtype == NotificationSubtype.autoRenewDisabled.rawValue
    }
}

extension LedgerWriter {
    /// Keeps a shown answer until its outcome is known.
    func note(_ shown: ShownAnswer, requestID: UniqueID, at now: Timestamp) throws(LedgerError) {
        try database(retentionAnswers.add(shown, requestID: requestID, at: now))
    }

    /// Notes the answers after which a subscriber canceled, if the report is about a cancellation.
    func noteCancellation(_ report: SubscriptionReport) throws(LedgerError) {
        guard let notification = report.notification, notification.isCancellation,
            case .appStore(let history, _) = report.content
        else { return }
        for chain in history.chains.keys {
            let earlier = report.rotatedKeys.filter { $0.current == chain.bytes }.flatMap(\.earlier)
            for key in [chain.bytes] + earlier {
                retentionOutcomes += try database(retentionAnswers.cancel(key, at: notification.sentAt))
            }
        }
    }

    /// Settles some of the answers without a cancellation in time, and deletes some that are old.
    package func settleRetention(at now: Timestamp) throws(LedgerError) {
        retentionOutcomes += try database(retentionAnswers.settle(at: now))
    }
}
