// SPDX-License-Identifier: Apache-2.0
import JSON
package import OfferDomain
package import Stores

/// The members of a request that hold what the App Store signed for a customer.
package struct SignedDataMembers: Sendable {
    /// Compact JWS of transactions, as StoreKit 2 gives them to an app; at most ``maximumCount``.
    package let transactions: [[UInt8]]
    /// Compact JWS of renewal infos; each counts only beside a transaction of its subscription.
    package let renewalInfos: [[UInt8]]

    /// How many JWS a request may have of each kind.
    package static let maximumCount = 8

    /// Whether the request has no signed data at all.
    package var isEmpty: Bool { transactions.isEmpty && renewalInfos.isEmpty }

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

    /// All of it verified, and of that app.
    package func evidence(_ reader: AppStoreSignedDataReader, at now: Timestamp) throws(Refusal) -> SubscriptionEvidence
    {
        do {
            return try reader.evidence(
                transactions: transactions,
                renewalInfos: renewalInfos,
                source: .signedTransaction,
                at: now
            )
        } catch {
            throw .signedData(error.fault, pointer: error.piece.pointer)
        }
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
