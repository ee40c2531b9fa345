// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// The App Store as the service sees it: what it signed is read, and what it knows is asked.
///
/// A class, because each request is handed it several times over and it never changes.
package final class AppStore: Sendable {
    private let authenticator: any SignedDataAuthenticator
    private let api: AppStoreServerAPI
    private let pool: VerificationPool

    package init(
        authenticator: any SignedDataAuthenticator,
        api: AppStoreServerAPI,
        pool: VerificationPool = VerificationPool()
    ) {
        self.authenticator = authenticator
        self.api = api
        self.pool = pool
    }

    /// What `body` makes of signed data: here, if that costs next to nothing, and else on the threads that verify.
    ///
    /// - Returns: `nil` if the party has too much waiting there.
    func verifying<Value: Sendable>(
        _ pieces: [[UInt8]],
        for party: Party,
        _ body: @escaping @Sendable () -> Value
    ) async -> Value? {
        let most = AppStoreSignedDataReader.maximumNotificationBytes
        if pieces.count <= 2, pieces.allSatisfy({ authenticator.remembersChain(of: $0, maximumBytes: most) }) {
            return body()
        }
        return await pool.run(for: party, body)
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
        package let party: Party

        package init(
            transactionID: TransactionID,
            app: AppStoreApp,
            environment: StoreEnvironment?,
            needs: FactNeeds,
            party: Party
        ) {
            self.transactionID = transactionID
            self.app = app
            self.environment = environment
            self.needs = needs
            self.party = party
        }
    }

    /// Asks for all that is needed; everything in the answer is verified before it counts.
    package func evidence(_ question: Question, at now: Timestamp) async throws(StoreError) -> SubscriptionEvidence {
        var evidence = SubscriptionEvidence(source: .storeAPI)
        let asking = AppStoreAsking(
            bundleID: question.app.bundleID,
            party: question.party,
            // An answer out of another environment would not be taken, and production refuses an app that was never
            // approved, whatever is asked.
            environment: question.environment ?? question.app.onlyEnvironment
        )
        if !question.needs.isDisjoint(with: .fromStatuses) {
            let answer = try await api.subscriptionStatuses(of: question.transactionID, asking)
            evidence = try await verified(question.party, evidence) { evidence throws(StoreError) in
                try self.add(answer.answer, of: question.app, to: &evidence, at: now)
            }
        }
        if !question.needs.isDisjoint(with: .fromHistory) {
            let answer = try await api.transactionHistory(of: question.transactionID, asking, .subscriptions)
            let signed = answer.answer.signedTransactions.map(\.bytes)
            evidence = try await verified(question.party, evidence) { evidence throws(StoreError) in
                try self.read(signed, [], of: question.app, into: &evidence, at: now)
            }
            if answer.answer.isComplete { evidence.historyReadAt = now }
        }
        return evidence
    }

    /// Adds to evidence what an answer has, on the threads that verify.
    private func verified(
        _ party: Party,
        _ evidence: SubscriptionEvidence,
        _ add: @escaping @Sendable (inout SubscriptionEvidence) throws(StoreError) -> Void
    ) async throws(StoreError) -> SubscriptionEvidence {
        let result: Result<SubscriptionEvidence, StoreError>? = await pool.run(for: party) {
            var evidence = evidence
            do throws(StoreError) {
                try add(&evidence)
                return .success(evidence)
            } catch {
                return .failure(error)
            }
        }
        guard let result else { throw .unavailable(retryAfter: nil) }
        return try result.get()
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
