// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain
import ServiceRuntime
import Stores

/// Asks the App Store about subscribers after they were answered, if too little was known to decide.
///
/// The next request of the same subscriber finds the answer in the ledger. Each subscription is asked about once an
/// hour, and a few at a time; any more are left out, since another request may come.
final class RetentionLookup: Sendable {
    private static let mostAtOnce = 4
    private static let mostWaiting = 64
    private static let mostRemembered = 16_384

    private struct State {
        /// When subscriptions were asked about.
        var asked = RecentValues<ChainKey, Timestamp>(capacity: RetentionLookup.mostRemembered)
        var waiting: [RetentionQuestion] = []
        var running = 0
    }

    private let store: AppStore
    private let committer: Committer
    private let log: Log
    private let state = Guarded(State())

    init(store: AppStore, committer: Committer, log: Log) {
        self.store = store
        self.committer = committer
        self.log = log
    }

    /// Has the store asked about the subscription of a question; returns at once.
    func ask(about question: RetentionQuestion) {
        guard question.configuration.keyRing.activeKey(for: question.app.bundleID, purpose: .appStoreServerAPI) != nil
        else { return }
        let begins = state.withLock { state in
            let chain = question.chain
            if let last = state.asked[chain], question.receivedAt < last.adding(hours: 1) { return false }
            guard state.waiting.count < Self.mostWaiting else { return false }
            state.asked[chain] = question.receivedAt
            state.waiting.append(question)
            guard state.running < Self.mostAtOnce else { return false }
            state.running += 1
            return true
        }
        if begins { Task { await work() } }
    }

    private func work() async {
        while let question = next() { await fetch(question) }
    }

    private func next() -> RetentionQuestion? {
        state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.running -= 1
            return nil
        }
    }

    private func fetch(_ question: RetentionQuestion) async {
        let app = question.app.bundleID
        let evidence: SubscriptionEvidence
        do throws(StoreError) {
            evidence = try await store.evidence(
                AppStore.Question(
                    transactionID: question.request.originalTransactionID,
                    app: question.app,
                    environment: question.request.environment,
                    needs: .status,
                    party: .caller(.retention)
                ),
                at: question.receivedAt
            )
        } catch {
            log.onceAMinute(
                .info,
                "a subscriber could not be looked up after a real-time request",
                reason: error.label,
                app: app.text,
                with: ["detail": .text(error.description)]
            )
            return
        }
        let report = SubscriptionReport(
            evidence,
            keys: question.keys,
            bundleID: app,
            catalog: question.configuration.catalog
        )
        // What can't be written now is requested again in an hour.
        _ = try? await committer.absorb(report)
    }
}
