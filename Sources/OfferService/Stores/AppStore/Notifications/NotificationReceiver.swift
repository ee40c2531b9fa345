// SPDX-License-Identifier: Apache-2.0
import Cryptography
package import OfferDomain

/// Why a notification was not taken in; these are all the ways.
package enum NotificationRefusal: Error, Sendable {
    /// It is not one that the App Store signed for one of our apps, or what is in it is not as it must be.
    case unacceptable(SignedDataFault)
    /// Strangers have caused so much work of late that it was not looked at.
    case notExamined
    /// It could not be recorded.
    case notRecorded(LedgerError)
}

/// Takes in what the App Store tells of its own accord.
///
/// Whoever brings it, and how often, and in which order, makes no difference to what is known afterwards.
package struct NotificationReceiver: Sendable {
    private let store: AppStore
    private let committer: Committer
    private let allowance: StrangerAllowance?
    private let metrics: Metrics
    private let log: Log

    /// - Parameters:
    ///   - store: Verifies what came.
    ///   - committer: Records it.
    ///   - allowance: For notifications that anybody may have sent; `nil` where Apple itself was asked for them.
    ///   - metrics: Counts them by type and outcome.
    ///   - log: Told of those that Apple signed for one of our apps and that are refused all the same.
    package init(
        store: AppStore,
        committer: Committer,
        allowance: StrangerAllowance?,
        metrics: Metrics,
        log: Log
    ) {
        self.store = store
        self.committer = committer
        self.allowance = allowance
        self.metrics = metrics
        self.log = log
    }

    /// Verifies a notification with all that is in it; returns when it is durable that it was received.
    ///
    /// `signedPayload` is a compact JWS.
    package func receive(
        _ signedPayload: [UInt8],
        under configuration: Snapshot,
        at now: Timestamp
    ) async throws(NotificationRefusal) -> Absorption {
        let reader = store.reader(of: Array(configuration.catalog.apps.values))
        let notification = try opened(signedPayload, reader, at: now)
        let evidence = try evidence(of: notification, reader, at: now)
        let report = SubscriptionReport(
            evidence,
            keys: AppPseudonyms(configuration.pseudonyms, in: AppName(notification.bundleID)),
            bundleID: notification.bundleID,
            catalog: configuration.catalog,
            notification: NotificationReceipt(notification)
        )
        do throws(LedgerError) {
            let absorption = try await committer.absorb(report)
            count(notification, absorption == .recorded ? "recorded" : "repeated")
            return absorption
        } catch {
            count(notification, "failed")
            throw .notRecorded(error)
        }
    }

    private func opened(
        _ signedPayload: [UInt8],
        _ reader: AppStoreSignedDataReader,
        at now: Timestamp
    ) throws(NotificationRefusal) -> AppStoreNotification {
        let isOfStranger = !reader.remembersChain(ofNotification: signedPayload)
        if isOfStranger, let allowance, !allowance.take() {
            metrics.count(.notificationsRefused(reason: "not-examined"))
            throw .notExamined
        }
        do {
            let notification = try reader.notification(signedPayload, at: now)
            if isOfStranger { allowance?.giveBack() }
            return notification
        } catch {
            if isOfStranger, !error.costStrangersAllowance { allowance?.giveBack() }
            throw refusal(error, isOurs: error.isOfOurApp)
        }
    }

    private func evidence(
        of notification: AppStoreNotification,
        _ reader: AppStoreSignedDataReader,
        at now: Timestamp
    ) throws(NotificationRefusal) -> SubscriptionEvidence {
        do {
            return try reader.evidence(of: notification, at: now)
        } catch {
            throw refusal(error.fault, isOurs: true)
        }
    }

    private func refusal(_ fault: SignedDataFault, isOurs: Bool) -> NotificationRefusal {
        metrics.count(.notificationsRefused(reason: fault.label))
        // What strangers send is counted only, or they could fill the log.
        log(isOurs ? .warning : .debug, "a notification was refused", ["reason": .text(fault.label)])
        return .unacceptable(fault)
    }

    private func count(_ notification: AppStoreNotification, _ outcome: String) {
        metrics.count(
            .notifications(
                type: notification.notificationType.known?.rawValue ?? "other",
                environment: notification.environment.rawValue,
                outcome: outcome
            )
        )
    }
}

extension NotificationReceipt {
    fileprivate init(_ notification: AppStoreNotification) {
        self.init(
            id: notification.notificationUUID,
            type: notification.notificationType.storeText,
            subtype: notification.subtype?.storeText,
            signedAt: notification.signedAt,
            environment: notification.environment.rawValue
        )
    }
}

extension SignedDataFault {
    /// Whether it took a look at certificates to find out that a stranger signed it: under a good chain it was the store, for
    /// whomever, and what is not even in form can be sent by the thousand at next to no cost.
    fileprivate var costStrangersAllowance: Bool {
        if case .notVerified(let error) = self { error.tookCertificates && !isTemporary } else { false }
    }

    /// Whether the App Store signed it for one of our apps, so that it is the settings that refuse it.
    fileprivate var isOfOurApp: Bool {
        switch self {
        case .otherAppAppleID, .appAppleIDNotSet, .environmentNotTaken: true
        default: false
        }
    }
}
