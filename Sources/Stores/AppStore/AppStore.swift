// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Ledger
package import OfferDomain

/// The App Store as the service sees it: what it signed is read, and what it knows is asked.
///
/// A class, because each request is handed it several times over and it never changes.
package final class AppStore: Sendable {
    private let authenticator: any SignedDataAuthenticator
    private let api: AppStoreServerAPI
    private let pool: VerificationPool

    /// Signatures and certificates are verified on the threads of `pool`.
    package init(
        authenticator: any SignedDataAuthenticator,
        api: AppStoreServerAPI,
        pool: VerificationPool = VerificationPool()
    ) {
        self.authenticator = authenticator
        self.api = api
        self.pool = pool
    }

    /// Runs `body`, which verifies signed data: here if that is cheap, otherwise on the verifier threads.
    ///
    /// Data from apps always goes to those threads: with a genuine chain, an attacker can send many forged signatures.
    ///
    /// - Returns: `nil` if too much of the party is waiting there.
    package func verifying<Value: Sendable>(
        _ pieces: [[UInt8]],
        for party: Party,
        _ body: @escaping @Sendable () -> Value
    ) async -> Value? {
        let most = AppStoreSignedDataReader.maximumNotificationBytes
        if party.device == nil, pieces.count <= 2,
            pieces.allSatisfy({ authenticator.remembersChain(of: $0, maximumBytes: most) })
        {
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
        /// The app that is asked about: its bundle ID chooses the key, and only its data is taken from the answer.
        package let app: AppStoreApp
        /// Where the transaction is known to be; `nil` if that isn't known.
        package let environment: StoreEnvironment?
        /// The facts that the rules need: they decide which endpoints are asked.
        package let needs: FactNeeds
        /// The party that the hourly budget is charged to.
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
            let place = AnswerPlace(app: question.app, environment: answer.environment)
            evidence = try await verified(evidence, for: question.party) { evidence throws(StoreError) in
                try self.add(answer.answer, of: place, to: &evidence, at: now)
            }
        }
        if !question.needs.isDisjoint(with: .fromHistory) {
            let answer = try await api.transactionHistory(of: question.transactionID, asking, .subscriptions)
            let place = AnswerPlace(app: question.app, environment: answer.environment)
            evidence = try await verified(evidence, for: question.party) { evidence throws(StoreError) in
                try self.add(answer.answer, of: place, to: &evidence, at: now)
            }
        }
        return evidence
    }

    /// Has the purchases of an original transaction carry another token, from the current period on.
    ///
    /// - Returns: The environment of the purchases. After a failure they may carry it too.
    package func setAppAccountToken(
        _ token: UniqueID,
        of id: TransactionID,
        _ asking: AppStoreAsking
    ) async -> Result<StoreEnvironment, StoreError> {
        do throws(StoreError) {
            return .success(try await api.setAppAccountToken(token, of: id, asking))
        } catch {
            return .failure(error)
        }
    }

    /// Adds to evidence what an answer has, on the threads that verify.
    private func verified(
        _ evidence: SubscriptionEvidence,
        for party: Party,
        add: @escaping @Sendable (inout SubscriptionEvidence) throws(StoreError) -> Void
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

    /// Where an answer comes from.
    private struct AnswerPlace: Sendable {
        let app: AppStoreApp
        let environment: StoreEnvironment
    }

    private func add(
        _ statuses: SubscriptionStatuses,
        of place: AnswerPlace,
        to evidence: inout SubscriptionEvidence,
        at now: Timestamp
    ) throws(StoreError) {
        var entries = AnswerEntries()
        for member in statuses.unreadable { leaveOut(member, reason: "unreadable-entry", of: place, in: &entries) }
        for item in statuses.groups.flatMap(\.lastTransactions) {
            let read = try read(
                transactions: [item.signedTransaction.bytes],
                renewalInfos: item.signedRenewalInfo.map { [$0.bytes] } ?? [],
                of: place,
                in: &entries,
                at: now
            )
            guard let read else { continue }
            guard read.transactions.allSatisfy({ $0.originalTransactionID == item.originalTransactionID }) else {
                leaveOut("/originalTransactionId", reason: "other-subscription", of: place, in: &entries)
                continue
            }
            entries.taken += 1
            evidence.transactions += read.transactions
            evidence.renewals += read.renewals
            let signedAt = (read.transactions.map(\.signedAt) + read.renewals.map(\.signedAt)).max() ?? now
            evidence.statuses.append(
                SubscriptionEvidence.Status(
                    originalTransactionID: item.originalTransactionID,
                    status: Reported(String(item.status)),
                    observedAt: signedAt
                )
            )
        }
        try entries.requireTrust()
        if entries.leftOut == 0 { evidence.statusesReadAt = now } else { evidence.isPartial = true }
    }

    private func add(
        _ history: TransactionHistory,
        of place: AnswerPlace,
        to evidence: inout SubscriptionEvidence,
        at now: Timestamp
    ) throws(StoreError) {
        var entries = AnswerEntries()
        for member in history.unreadable { leaveOut(member, reason: "unreadable-entry", of: place, in: &entries) }
        for signed in history.signedTransactions {
            let read = try read(transactions: [signed.bytes], of: place, in: &entries, at: now)
            guard let read else { continue }
            entries.taken += 1
            evidence.transactions += read.transactions
        }
        try entries.requireTrust()
        if entries.leftOut > 0 { evidence.isPartial = true } else if history.isComplete { evidence.historyReadAt = now }
    }

    /// What became of the entries of one answer.
    private struct AnswerEntries {
        var taken = 0
        var leftOut = 0
        /// The fault of the first entry whose signature is invalid.
        var distrust: String?

        /// Rejects an answer with a badly signed entry and no usable one: it may not come from the App Store.
        func requireTrust() throws(StoreError) {
            if taken == 0, let distrust { throw .badAnswer(reason: distrust) }
        }
    }

    private func leaveOut(
        _ member: String,
        reason: String,
        of place: AnswerPlace,
        in entries: inout AnswerEntries
    ) {
        entries.leftOut += 1
        api.leftOut(member, of: place.app.bundleID, in: place.environment, reason: reason)
    }

    /// Reads and verifies one entry of an answer; `nil` if it is left out, which does not affect other entries.
    private func read(
        transactions: [[UInt8]],
        renewalInfos: [[UInt8]] = [],
        of place: AnswerPlace,
        in entries: inout AnswerEntries,
        at now: Timestamp
    ) throws(StoreError) -> SubscriptionEvidence? {
        do {
            return try reader(of: [place.app]).evidence(
                transactions: transactions,
                renewalInfos: renewalInfos,
                pairing: .byStore,
                source: .storeAPI,
                at: now
            )
        } catch {
            if error.fault.isTemporary { throw .unavailable(retryAfter: nil) }
            if !error.fault.isOfGenuineData { entries.distrust = entries.distrust ?? error.fault.label }
            let member = error.piece.memberOfAnswer + (error.fault.pointer ?? "")
            leaveOut(member, reason: error.fault.label, of: place, in: &entries)
            return nil
        }
    }
}

extension EvidenceFault.Piece {
    /// What the App Store calls it in answers and notifications.
    var memberOfAnswer: String {
        switch self {
        case .transaction: "/signedTransactionInfo"
        case .renewalInfo: "/signedRenewalInfo"
        }
    }
}
