// SPDX-License-Identifier: Apache-2.0
import Configuration
import JSON
package import OfferDomain
package import Stores

/// The members of a request that hold what the App Store signed for a customer.
package struct SignedDataMembers: Sendable {
    /// Compact JWS of transactions, as StoreKit 2 gives them to an app; at most ``maximumCount``.
    package let transactions: [[UInt8]]
    /// Compact JWS of renewal infos; each counts only beside a transaction of its subscription.
    package let renewalInfos: [[UInt8]]
    /// Compact JWS of the app transaction, which only requests for introductory offers have.
    package var appTransaction: [UInt8]?

    /// How many JWS a request may have of each kind.
    package static let maximumCount = 8

    /// Whether the request has no signed data at all.
    package var isEmpty: Bool { transactions.isEmpty && renewalInfos.isEmpty && appTransaction == nil }

    /// Transactions alone.
    init(transactions: [[UInt8]] = []) {
        self.transactions = transactions
        renewalInfos = []
    }

    init(_ reader: inout ObjectReader, _ mismatches: Mismatches) {
        func texts(_ name: StaticString) -> [[UInt8]] {
            reader.elements(name, atMost: Self.maximumCount) { value in
                value.stringBytes
                    ?? mismatches.none(value, "expected a compact JWS in a string, found \(value.summary)")
            }
        }
        transactions = texts("signedTransactions")
        renewalInfos = texts("signedRenewalInfo")
    }

    /// Verifies all of it with the reader of one app; refuses the whole if any part is invalid.
    package func evidence(_ reader: AppStoreSignedDataReader, at now: Timestamp) throws(Refusal) -> SubscriptionEvidence
    {
        var evidence: SubscriptionEvidence
        do {
            evidence = try reader.evidence(
                transactions: transactions,
                renewalInfos: renewalInfos,
                source: .signedTransaction,
                at: now
            )
        } catch {
            throw .signedData(error.fault, pointer: error.piece.pointer)
        }
        if let appTransaction {
            evidence.appTransaction = try Self.verified(appTransaction, reader, at: now)
        }
        return evidence
    }

    private static func verified(
        _ jws: [UInt8],
        _ reader: AppStoreSignedDataReader,
        at now: Timestamp
    ) throws(Refusal) -> AppTransaction {
        let pointer = "/signedAppTransaction"
        let transaction: AppTransaction
        do { transaction = try reader.appTransaction(jws, at: now) } catch {
            throw .signedData(error, pointer: pointer)
        }
        guard transaction.appTransactionID != nil else {
            let message = "has no appTransactionId; the app can have it signed again by AppTransaction.refresh()"
            throw .request(.invalid([Mismatch(pointer: pointer, offset: 0, message: message)]))
        }
        return transaction
    }
}

extension AppStore {
    /// Verifies the signed data of a request; without any, the evidence is empty.
    ///
    /// Looks up the app only for signed data, which most requests do not have, and refuses an app that is not in the
    /// catalog.
    func verified(
        _ signedData: SignedDataMembers,
        of bundleID: BundleID,
        in catalog: Catalog,
        for party: Party,
        at now: Timestamp
    ) async throws(Refusal) -> SubscriptionEvidence {
        guard !signedData.isEmpty else { return SubscriptionEvidence(source: .signedTransaction) }
        guard let app = catalog.apps[bundleID] else { throw .decision(.unknownOffer(.app)) }
        var pieces = signedData.transactions + signedData.renewalInfos
        if let appTransaction = signedData.appTransaction { pieces.append(appTransaction) }
        let reader = reader(of: [app])
        let result: Result<SubscriptionEvidence, Refusal>? = await verifying(pieces, for: party) {
            do throws(Refusal) {
                return .success(try signedData.evidence(reader, at: now))
            } catch {
                return .failure(error)
            }
        }
        guard let result else { throw .service(.overloaded) }
        return try result.get()
    }
}

extension EvidenceFault.Piece {
    /// The JSON pointer to it in a request.
    var pointer: String {
        switch self {
        case .transaction(let index): "/signedTransactions/\(index)"
        case .renewalInfo(let index): "/signedRenewalInfo/\(index)"
        }
    }
}
