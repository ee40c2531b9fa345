// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
package import Ledger
package import OfferDomain
package import ServiceRuntime

/// Why a notification was not taken in; these are all the ways.
package enum NotificationRefusal: Error, Sendable {
    /// The App Store did not sign it for one of our apps, or its content is not as required.
    case unacceptable(SignedDataFault)
    /// The service did not examine it, because too much from that party waits for verification.
    case notExamined
    /// It could not be recorded.
    case notRecorded(LedgerError)
}

/// Receives what the App Store sends on its own initiative.
///
/// Sender, duplicates and order make no difference to what is known afterwards.
package struct NotificationReceiver: Sendable {
    private let store: AppStore
    private let committer: Committer
    private let metrics: any StoreMetrics
    private let log: Log

    /// - Parameters:
    ///   - store: Verifies what came.
    ///   - committer: Records it.
    ///   - metrics: Counts them by type and outcome.
    ///   - log: Receives refusals, above all of notifications that Apple signed for one of our apps.
    package init(
        store: AppStore,
        committer: Committer,
        metrics: any StoreMetrics,
        log: Log
    ) {
        self.store = store
        self.committer = committer
        self.metrics = metrics
        self.log = log
    }

    /// Verifies a notification and its contents; returns once its receipt is durable.
    ///
    /// `signedPayload` is a compact JWS, `body` is what is relayed of it, and the party is the sender.
    package func receive(
        _ signedPayload: [UInt8],
        relayed body: [UInt8]? = nil,
        from party: Party,
        under context: EvidenceContext,
        at now: Timestamp
    ) async throws(NotificationRefusal) -> Absorption {
        let reader = store.reader(of: Array(context.catalog.apps.values))
        let (notification, evidence) = try await opened(signedPayload, from: party, reader, at: now)
        var receipt = NotificationReceipt(notification)
        receipt.relayedBody = body
        var report = SubscriptionReport(
            evidence,
            keys: AppPseudonyms(context.pseudonyms, in: AppName(notification.bundleID)),
            bundleID: notification.bundleID,
            catalog: context.catalog
        )
        report.notification = receipt
        do throws(LedgerError) {
            let absorption = try await committer.absorb(report)
            count(notification, absorption == .recorded ? "recorded" : "repeated")
            return absorption
        } catch {
            count(notification, "failed")
            throw .notRecorded(error)
        }
    }

    private typealias Opened = (notification: AppStoreNotification, evidence: SubscriptionEvidence)

    /// Verifies a notification, which any sender may post, as only the signature identifies Apple: here under
    /// remembered certificates, which takes one signature check, and otherwise on the verifier threads.
    private func opened(
        _ signedPayload: [UInt8],
        from party: Party,
        _ reader: AppStoreSignedDataReader,
        at now: Timestamp
    ) async throws(NotificationRefusal) -> Opened {
        let result: Result<Opened, NotificationRefusal>? = await store.verifying([signedPayload], for: party) {
            do throws(NotificationRefusal) {
                return .success(try opened(signedPayload, reader, at: now))
            } catch {
                return .failure(error)
            }
        }
        guard let result else {
            metrics.count(.notificationsRefused(reason: "not-examined"))
            throw .notExamined
        }
        return try result.get()
    }

    private func opened(
        _ signedPayload: [UInt8],
        _ reader: AppStoreSignedDataReader,
        at now: Timestamp
    ) throws(NotificationRefusal) -> Opened {
        let notification: AppStoreNotification
        do {
            notification = try reader.notification(signedPayload, at: now)
        } catch {
            throw refusal(error, at: "", of: signedPayload, isOurs: error.isOfOurApp)
        }
        do {
            return (notification, try reader.evidence(of: notification, at: now))
        } catch {
            throw refusal(error.fault, at: "/data" + error.piece.memberOfAnswer, of: signedPayload, isOurs: true)
        }
    }

    /// Counts and logs a refusal, with what the notification says of itself if the App Store signed it.
    private func refusal(
        _ fault: SignedDataFault,
        at place: String,
        of signedPayload: [UInt8],
        isOurs: Bool
    ) -> NotificationRefusal {
        metrics.count(.notificationsRefused(reason: fault.label))
        guard isOurs || fault.isOfGenuineData else {
            // Unauthenticated data is logged only at debug level, or it could fill the log.
            log(.debug, Self.refused, with: ["reason": .text(fault.label)])
            return .unacceptable(fault)
        }
        let glimpse = NotificationGlimpse(signedPayload)
        let values: KeyValuePairs<StaticString, LogValue> = [
            "reason": .text(fault.label), "member": .text(place + (fault.pointer ?? "")), "app": .text(glimpse.app),
            "type": .text(glimpse.type), "environment": .text(glimpse.environment),
            "detail": .text(fault.description),
        ]
        if isOurs {
            log(.warning, Self.refused, with: values)
        } else {
            // The number of other apps has no limit, and each app's owner may send its notifications here.
            log.onceAMinute(.warning, Self.refused, of: fault.label, with: values)
        }
        return .unacceptable(fault)
    }

    private static let refused: StaticString = "a notification was refused"

    /// Counts and logs a body without a signed notification; any sender may post one.
    package func refuse(_ body: UnsignedNotification, under context: EvidenceContext) {
        metrics.count(.notificationsRefused(reason: body.label))
        guard case .versionOne(let notification) = body else {
            log(.debug, Self.refused, with: ["reason": .text(body.label)])
            return
        }
        let isOurs = context.catalog.apps.keys.contains { $0.text == notification.bundleID }
        let values: KeyValuePairs<StaticString, LogValue> = [
            "member": "/signedPayload", "type": .text(notification.type),
            "environment": .text(notification.environment),
            "hint": "choose version 2 for the notifications of the app in App Store Connect",
        ]
        let app = isOurs ? notification.bundleID : "unknown"
        log.onceAMinute(.warning, Self.refused, reason: body.label, app: app, with: values)
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
            id: notification.notificationUUID.description,
            type: notification.notificationType.storeText,
            subtype: notification.subtype?.storeText,
            sentAt: notification.signedAt,
            environment: notification.environment
        )
    }
}

extension SignedDataFault {
    /// Whether the App Store signed it for one of our apps, so that it is the settings that refuse it.
    fileprivate var isOfOurApp: Bool {
        switch self {
        case .otherAppAppleID, .appAppleIDNotSet, .environmentNotTaken: true
        default: false
        }
    }
}
