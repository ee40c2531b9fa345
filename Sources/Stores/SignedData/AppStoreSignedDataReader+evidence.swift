// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// A fault, and which of the pieces of evidence has it.
package struct EvidenceFault: Error, Hashable, Sendable {
    /// The piece that was refused.
    package let piece: Piece
    /// Why it was refused.
    package let fault: SignedDataFault

    /// A list and a place in it, counted from 0.
    package enum Piece: Hashable, Sendable {
        case transaction(Int)
        case renewalInfo(Int)
    }
}

extension AppStoreSignedDataReader {
    /// Reads signed transactions and their renewal infos: all or nothing, except what `pairing` leaves out.
    ///
    /// - Throws: The first fault, transactions first.
    package func evidence(
        transactions: [[UInt8]],
        renewalInfos: [[UInt8]] = [],
        pairing: RenewalPairing = .byTransaction,
        source: FactSource,
        at now: Timestamp
    ) throws(EvidenceFault) -> SubscriptionEvidence {
        var evidence = SubscriptionEvidence(source: source)
        for (index, jws) in transactions.enumerated() {
            do {
                evidence.transactions.append(try transaction(jws, at: now))
            } catch {
                throw EvidenceFault(piece: .transaction(index), fault: error)
            }
        }
        for (index, jws) in renewalInfos.enumerated() {
            do {
                let paired = evidence.transactions
                evidence.renewals.append(try renewalInfo(jws, pairedWith: paired, pairing, at: now))
            } catch {
                // Otherwise a renewal info that does not match would discard a refund that came with it.
                if pairing == .byStore, error.isOfPairing { continue }
                throw EvidenceFault(piece: .renewalInfo(index), fault: error)
            }
        }
        return evidence
    }

    /// What a notification says about a subscription, with its inner JWS verified too; empty if it is about none.
    ///
    /// The inner data must belong to the notification's app.
    package func evidence(
        of notification: AppStoreNotification,
        at now: Timestamp
    ) throws(EvidenceFault) -> SubscriptionEvidence {
        guard case .subscription(let content) = notification.content else {
            return SubscriptionEvidence(source: .notification)
        }
        var evidence = try restricted(to: notification.bundleID).evidence(
            transactions: content.signedTransaction.map { [$0] } ?? [],
            renewalInfos: content.signedRenewalInfo.map { [$0] } ?? [],
            pairing: .byStore,
            source: .notification,
            at: now
        )
        guard evidence.transactions.allSatisfy({ $0.environment == notification.environment }) else {
            throw EvidenceFault(piece: .transaction(0), fault: .environmentNotTaken(pointer: "/environment"))
        }
        if let transaction = evidence.transactions.first, let status = notification.status {
            evidence.statuses = [
                SubscriptionEvidence.Status(
                    originalTransactionID: transaction.originalTransactionID,
                    status: status,
                    observedAt: notification.signedAt
                )
            ]
        }
        return evidence
    }
}
