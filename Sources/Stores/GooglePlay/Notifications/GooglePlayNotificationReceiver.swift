// SPDX-License-Identifier: Apache-2.0
import Configuration
package import HTTP
package import Ledger
package import OfferDomain
package import ServiceRuntime

/// Checks that Pub/Sub posts a message, on behalf of our own subscription.
package protocol GooglePushAuthentication: Sendable {
    /// Throws unless the token in `Authorization` proves it.
    func identify(_ headers: HeaderFields) async throws(GooglePushRefusal)
}

/// Why it isn't known to be Pub/Sub.
package enum GooglePushRefusal: Error, Hashable, Sendable {
    /// The token is missing or invalid; the label is one of a closed list, of lowercase words and hyphens.
    case refused(label: String)
    /// Google's keys could not be read, so the sender is unknown.
    case keysUnavailable
}

/// Why a message was not recorded, so that Pub/Sub will send it again.
package enum GooglePlayNotificationRefusal: Error, Hashable, Sendable {
    case unauthenticated(label: String)
    /// Google's keys could not be read.
    case keysUnavailable
    /// The store could not be asked what has changed.
    case storeSilent(StoreError)
    /// It could not be recorded.
    case notRecorded(LedgerError)
}

/// Receives what Google Play sends on its own initiative.
///
/// A message is a hint: the service asks the store for the state of the purchase, and that counts. So order and
/// duplicates do not matter. A message that can never be used is acknowledged, or Pub/Sub would resend it for days.
package struct GooglePlayNotificationReceiver: Sendable {
    private let authentication: any GooglePushAuthentication
    private let store: any GooglePlayPurchaseSource
    private let committer: Committer
    private let metrics: any StoreMetrics
    private let log: Log
    /// Messages that are on record, so that a repetition costs no question to the store.
    private let recent = Guarded(RecentValues<Message, Bool>(capacity: 4096))

    private struct Message: Hashable {
        let packageName: PackageName
        let messageID: String
    }

    /// - Parameters:
    ///   - authentication: Recognizes messages of Pub/Sub.
    ///   - store: Gives the current state of a purchase.
    ///   - committer: Records it.
    ///   - metrics: Counts them by type and outcome.
    ///   - log: Receives messages that Google sent and that the service can't use.
    package init(
        authentication: any GooglePushAuthentication,
        store: any GooglePlayPurchaseSource,
        committer: Committer,
        metrics: any StoreMetrics,
        log: Log
    ) {
        self.authentication = authentication
        self.store = store
        self.committer = committer
        self.metrics = metrics
        self.log = log
    }

    /// The outcome of a message that the service acknowledges.
    package enum Outcome: Hashable, Sendable {
        /// All that it led to is durable.
        case recorded
        /// It was on record before.
        case repeated
        /// The service can never use it; the label is one of a closed list.
        case dropped(label: String)
    }

    /// Takes in a push request; returns when what it led to is durable.
    package func receive(
        _ request: Request,
        under context: EvidenceContext,
        at now: Timestamp
    ) async throws(GooglePlayNotificationRefusal) -> Outcome {
        try await authenticate(request.headers)
        guard let message = PushMessage(request.body) else { return drop("malformed-message") }
        guard let notification = DeveloperNotification(message.data) else { return drop("malformed-notification") }
        guard let place = PlayContext(notification.packageName, in: context) else {
            return drop("unknown-package", notification)
        }
        let delivery = Message(packageName: notification.packageName, messageID: message.id)
        if recent.withLock({ $0[delivery] }) == true {
            count(notification, outcome: "repeated")
            return .repeated
        }
        let relayed = context.relayedStores.contains(.googlePlay) ? request.body : nil
        let outcome = try await take(notification, message: (message, relayed), in: place, at: now)
        if outcome == .recorded || outcome == .repeated { recent.withLock { $0[delivery] = true } }
        return outcome
    }

    // MARK: - Authentication

    /// Unauthenticated traffic needs no rate limit here: a forgery costs one verification at most, and made-up key IDs
    /// make the service ask Google once a minute.
    private func authenticate(_ headers: HeaderFields) async throws(GooglePlayNotificationRefusal) {
        do throws(GooglePushRefusal) {
            try await authentication.identify(headers)
        } catch {
            switch error {
            case .refused(let label):
                metrics.count(.notificationsRefused(reason: label))
                // Unauthenticated messages are logged only at debug level, or they could fill the log.
                log(.debug, "a push message was refused", with: ["reason": .text(label)])
                throw .unauthenticated(label: label)
            case .keysUnavailable:
                metrics.count(.notificationsRefused(reason: "keys-unavailable"))
                throw .keysUnavailable
            }
        }
    }

    // MARK: - What it reports

    /// Drops a message; if it is relayed, its receipt is recorded first, because a relay follows the log.
    private func drop(
        _ label: String,
        _ notification: DeveloperNotification,
        message: ReceivedMessage,
        in place: PlayContext,
        at now: Timestamp
    ) async throws(GooglePlayNotificationRefusal) -> Outcome {
        if message.relayed != nil {
            _ = try await record(GooglePlayEvidence(observedAt: now), of: notification, message: message, in: place)
        }
        return drop(label, notification)
    }

    private typealias ReceivedMessage = (push: PushMessage, relayed: [UInt8]?)

    private func take(
        _ notification: DeveloperNotification,
        message: ReceivedMessage,
        in place: PlayContext,
        at now: Timestamp
    ) async throws(GooglePlayNotificationRefusal) -> Outcome {
        var evidence = reported(by: notification, at: now)
        do throws(StoreError) {
            if let question = notification.question {
                evidence.take(try await ask(question.token, walksBack: question.walksBack, notification, at: now))
            }
        } catch {
            guard error.isFinal else {
                count(notification, outcome: "failed")
                throw .storeSilent(error)
            }
            if !evidence.hasOwnReport {
                return try await drop("purchase-refused", notification, message: message, in: place, at: now)
            }
        }
        if evidence.isNotFound, !evidence.hasOwnReport {
            return try await drop("purchase-not-found", notification, message: message, in: place, at: now)
        }
        return try await record(evidence, of: notification, message: message, in: place)
    }

    /// What the notification itself reports, whatever the store says of the purchase: no answer repeats it.
    private func reported(by notification: DeveloperNotification, at now: Timestamp) -> GooglePlayEvidence {
        var evidence = GooglePlayEvidence(observedAt: now)
        evidence.reports = notification.question.map { [($0.token, notification.sentAt)] } ?? []
        switch notification.content {
        case .subscription(let type, let token):
            if SubscriptionChange(rawValue: type) == .revoked { evidence.revocations = [(token, notification.sentAt)] }
        case .voidedPurchase(let token, isSubscription: true, let isPartial):
            let refund = Refund(at: notification.sentAt, millipercent: isPartial ? nil : Refund.whole)
            evidence.refunds = [(token, refund)]
        case .voidedPurchase, .oneTimeProduct, .pendingRefundReview, .test, .other: break
        }
        return evidence
    }

    private func ask(
        _ token: PurchaseToken,
        walksBack: Bool,
        _ notification: DeveloperNotification,
        at now: Timestamp
    ) async throws(StoreError) -> GooglePlayEvidence {
        var evidence = try await store.evidence(
            of: [token],
            of: notification.packageName,
            walksBack: walksBack,
            for: nil,
            at: now
        )
        evidence.isReported = true
        return evidence
    }

    private func record(
        _ evidence: GooglePlayEvidence,
        of notification: DeveloperNotification,
        message: ReceivedMessage,
        in place: PlayContext
    ) async throws(GooglePlayNotificationRefusal) -> Outcome {
        var receipt = NotificationReceipt(
            id: message.push.id,
            type: notification.type,
            sentAt: notification.sentAt,
            environment: evidence.environment
        )
        receipt.relayedBody = message.relayed
        var report = SubscriptionReport(evidence, place: place)
        report.notification = receipt
        do throws(LedgerError) {
            let absorption = try await committer.absorb(report)
            let outcome = absorption == .recorded ? "recorded" : "repeated"
            count(notification, outcome: outcome, in: evidence.environment)
            return absorption == .recorded ? .recorded : .repeated
        } catch {
            count(notification, outcome: "failed", in: evidence.environment)
            throw .notRecorded(error)
        }
    }

    // MARK: - Log and metrics

    private func drop(_ label: String, _ notification: DeveloperNotification? = nil) -> Outcome {
        metrics.count(.notificationsRefused(reason: label))
        log(
            .warning,
            "a message of Google Play can't be taken in",
            with: [
                "reason": .text(label), "type": .text(notification?.type ?? "unknown"),
                "app": .text(notification?.packageName.text ?? "unknown"), "environment": "unknown",
            ]
        )
        return .dropped(label: label)
    }

    private func count(
        _ notification: DeveloperNotification,
        outcome: String,
        in environment: StoreEnvironment? = nil
    ) {
        metrics.count(
            .notifications(
                type: notification.label,
                environment: environment?.rawValue ?? "unknown",
                outcome: outcome
            )
        )
    }
}

extension DeveloperNotification {
    /// The purchase to ask the store about, and whether to ask about earlier ones too; `nil` for no question.
    fileprivate var question: (token: PurchaseToken, walksBack: Bool)? {
        switch content {
        // Only a new purchase replaces another one; asking each time would double the questions.
        case .subscription(let type, let token): (token, SubscriptionChange(rawValue: type) == .purchased)
        case .voidedPurchase(let token, isSubscription: true, _): (token, false)
        case .voidedPurchase, .oneTimeProduct, .pendingRefundReview, .test, .other: nil
        }
    }
}

extension GooglePlayEvidence {
    /// Whether the store was asked for a purchase and has none with that token.
    fileprivate var isNotFound: Bool { purchases.first?.answer == .notFound }

    /// Whether it contains something to record without an answer of the store.
    fileprivate var hasOwnReport: Bool { !revocations.isEmpty || !refunds.isEmpty }

    /// Adds what the store answered.
    fileprivate mutating func take(_ answered: GooglePlayEvidence) {
        isReported = answered.isReported
        purchases = answered.purchases
    }

    /// The environment of the purchase that was requested.
    fileprivate var environment: StoreEnvironment? {
        guard case .purchase(let purchase) = purchases.first?.answer else { return nil }
        return purchase.isTest ? .sandbox : .production
    }
}
