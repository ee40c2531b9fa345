// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// The App Store as the service sees it: what it signed is read, and what it knows is asked.
///
/// A class, because each request is handed it several times over and it never changes.
package final class AppStore: Sendable {
    private let authenticator: any SignedDataAuthenticator
    private let api: AppStoreServerAPI

    package init(authenticator: any SignedDataAuthenticator, api: AppStoreServerAPI) {
        self.authenticator = authenticator
        self.api = api
    }

    /// Reads what the App Store signed for one of these apps.
    package func reader(of apps: [AppStoreApp]) -> AppStoreSignedDataReader {
        AppStoreSignedDataReader(apps: apps, authenticator: authenticator)
    }

    /// A question about a customer.
    package struct Question: Sendable {
        /// Any transaction of the customer.
        package let transactionID: TransactionID
        package let app: AppStoreApp
        /// Where the transaction is known to be; `nil` if that isn't known.
        package let environment: StoreEnvironment?
        package let needs: FactNeeds
        package let caller: CallerID

        package init(
            transactionID: TransactionID,
            app: AppStoreApp,
            environment: StoreEnvironment?,
            needs: FactNeeds,
            caller: CallerID
        ) {
            self.transactionID = transactionID
            self.app = app
            self.environment = environment
            self.needs = needs
            self.caller = caller
        }
    }

    /// Asks for all that is needed; everything in the answer is verified before it counts.
    package func evidence(_ question: Question, at now: Timestamp) async throws(StoreError) -> SubscriptionEvidence {
        var evidence = SubscriptionEvidence(source: .storeAPI)
        let asking = AppStoreAsking(
            bundleID: question.app.bundleID,
            caller: question.caller,
            // An answer out of another environment would not be taken, and production refuses an app that was never
            // approved, whatever is asked.
            environment: question.environment ?? question.app.onlyEnvironment
        )
        if !question.needs.isDisjoint(with: .fromStatuses) {
            let answer = try await api.subscriptionStatuses(of: question.transactionID, asking)
            try add(answer.answer, of: question.app, to: &evidence, at: now)
        }
        if !question.needs.isDisjoint(with: .fromHistory) {
            let answer = try await api.transactionHistory(of: question.transactionID, asking, .subscriptions)
            let signed = answer.answer.signedTransactions.map(\.bytes)
            try read(signed, [], of: question.app, into: &evidence, at: now)
            if answer.answer.isComplete { evidence.historyReadAt = now }
        }
        return evidence
    }

    private func add(
        _ statuses: SubscriptionStatuses,
        of app: AppStoreApp,
        to evidence: inout SubscriptionEvidence,
        at now: Timestamp
    ) throws(StoreError) {
        for item in statuses.groups.flatMap(\.lastTransactions) {
            let renewal = item.signedRenewalInfo.map { [$0.bytes] } ?? []
            let read = try read([item.signedTransaction.bytes], renewal, of: app, into: &evidence, at: now)
            guard read.transactions.allSatisfy({ $0.originalTransactionID == item.originalTransactionID }) else {
                throw .badAnswer(reason: "a status comes with a transaction of another subscription")
            }
            let signedAt = (read.transactions.map(\.signedAt) + read.renewals.map(\.signedAt)).max() ?? now
            evidence.statuses.append(
                SubscriptionEvidence.Status(
                    originalTransactionID: item.originalTransactionID,
                    status: Reported(String(item.status)),
                    observedAt: signedAt
                )
            )
        }
        evidence.statusesReadAt = now
    }

    @discardableResult
    private func read(
        _ transactions: [[UInt8]],
        _ renewalInfos: [[UInt8]],
        of app: AppStoreApp,
        into evidence: inout SubscriptionEvidence,
        at now: Timestamp
    ) throws(StoreError) -> SubscriptionEvidence {
        do {
            let read = try reader(of: [app]).evidence(
                transactions: transactions,
                renewalInfos: renewalInfos,
                pairing: .byStore,
                source: .storeAPI,
                at: now
            )
            evidence.transactions += read.transactions
            evidence.renewals += read.renewals
            return read
        } catch {
            if error.fault.isTemporary { throw .unavailable(retryAfter: nil) }
            throw .badAnswer(reason: error.fault.label)
        }
    }
}
