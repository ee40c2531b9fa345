// SPDX-License-Identifier: Apache-2.0

/// Evidence from one source at one time: the signed data of a request, a notification, or one whole answer of the API.
///
/// All of it is verified and about one app. It still names transactions by their IDs; ``history(keys:)`` is the form
/// without them.
package struct SubscriptionEvidence: Hashable, Sendable {
    /// The source of all of it.
    package var source: FactSource
    /// The verified transactions, of any number of chains.
    package var transactions: [AppStoreTransaction]
    /// The renewal infos; for each, a transaction of its chain is here or already known.
    package var renewals: [AppStoreRenewalInfo]
    /// The statuses that a notification or an answer of the API stated.
    package var statuses: [Status]
    /// Set if this is the whole answer of Get All Subscription Statuses, asked without a filter: when it was asked.
    package var statusesReadAt: Timestamp?
    /// Set if this is the whole answer of Get Transaction History, all pages, asked without a filter or for
    /// auto-renewable subscriptions alone: when its first page was asked for.
    package var historyReadAt: Timestamp?
    /// Whether the answer had entries that were left out, so that it is not the whole.
    package var isPartial = false
    /// The verified app transaction of a request; it names an account, and is no part of ``history(keys:)``.
    package var appTransaction: AppTransaction?

    /// The status of one chain.
    package struct Status: Hashable, Sendable {
        /// Names the chain.
        package let originalTransactionID: TransactionID
        /// The status as the store stated it.
        package let status: Reported<SubscriptionStatus>
        /// As ``StatusRecord/observedAt``.
        package let observedAt: Timestamp

        package init(
            originalTransactionID: TransactionID,
            status: Reported<SubscriptionStatus>,
            observedAt: Timestamp
        ) {
            self.originalTransactionID = originalTransactionID
            self.status = status
            self.observedAt = observedAt
        }
    }

    /// Collects the evidence; the caller sets `statusesReadAt`, `isPartial` and `appTransaction`.
    package init(
        source: FactSource,
        transactions: [AppStoreTransaction] = [],
        renewals: [AppStoreRenewalInfo] = [],
        statuses: [Status] = [],
        historyReadAt: Timestamp? = nil
    ) {
        self.source = source
        self.transactions = transactions
        self.renewals = renewals
        self.statuses = statuses
        self.historyReadAt = historyReadAt
    }

    /// The evidence filed under keys; to be merged with what is known already.
    package func history(keys: some SubscriptionKeys) -> SubscriptionHistory {
        var history = SubscriptionHistory()
        for transaction in transactions {
            history.chains[keys.chainKey(of: transaction.originalTransactionID), default: SubscriptionChain()].merge(
                TransactionRecord(
                    transaction,
                    source: source,
                    account: transaction.appAccountToken.map(keys.accountKey)
                ),
                key: keys.transactionKey(of: transaction.transactionID)
            )
        }
        for renewal in renewals {
            history.chains[keys.chainKey(of: renewal.originalTransactionID), default: SubscriptionChain()]
                .merge(RenewalRecord(renewal, source: source))
        }
        for status in statuses {
            history.chains[keys.chainKey(of: status.originalTransactionID), default: SubscriptionChain()]
                .merge(StatusRecord(status.status, observedAt: status.observedAt, source: source))
        }
        history.statusesReadAt = statusesReadAt
        history.historyReadAt = historyReadAt
        for key in history.chains.keys {
            if let historyReadAt { history.chains[key]?.merge(historyCompleteAt: historyReadAt) }
            if let statusesReadAt { history.chains[key]?.merge(statusesReadAt: statusesReadAt) }
        }
        return history
    }
}
