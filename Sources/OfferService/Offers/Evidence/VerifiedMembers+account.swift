// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Stores

/// What signed data shows of the account that it was signed for.
extension VerifiedMembers {
    /// Every ID that may identify the account in signed data; the first is the default if the request names none.
    var ids: [TransactionID] {
        evidence.transactions.flatMap { transaction in
            [transaction.transactionID, transaction.originalTransactionID]
                + (transaction.appTransactionID.map { [$0] } ?? [])
        } + (appTransaction?.appTransactionID.map { [$0] } ?? [])
    }

    /// Every name that is shown to be the customer's, each once: of whatever group, each original transaction, those that
    /// it is linked to, account of the store, and account token.
    var names: [CustomerIdentity] {
        let shown = evidence.transactions.flatMap { transaction in
            [.originalTransaction(transaction.originalTransactionID)]
                + transaction.linkedOriginalTransactionIDs.map(CustomerIdentity.originalTransaction)
                + (transaction.appAccountToken.map { [CustomerIdentity.appAccountToken($0)] } ?? [])
        }
        return (shown + accounts).reduce(into: []) { names, name in
            if !names.contains(name) { names.append(name) }
        }
    }

    /// The names that the store has for the account within the app, each once.
    var accounts: [CustomerIdentity] {
        let ids = evidence.transactions.map(\.appTransactionID) + [appTransaction?.appTransactionID]
        return ids.compactMap(\.self).reduce(into: []) { accounts, id in
            if !accounts.contains(.appTransaction(id)) { accounts.append(.appTransaction(id)) }
        }
    }

    /// Refuses transactions that are of another account than the app transaction, or don't name theirs; without an app
    /// transaction, those that name another than the first that names one.
    func refuseOthers() throws(Refusal) {
        let shown = appTransaction?.appTransactionID
        guard let account = shown ?? evidence.transactions.compactMap(\.appTransactionID).first else { return }
        for (index, transaction) in evidence.transactions.enumerated() where transaction.appTransactionID != account {
            if shown == nil, transaction.appTransactionID == nil { continue }
            let pointer = EvidenceFault.Piece.transaction(index).pointer
            throw .request(.signedDataOfOtherAccount(pointer: pointer, member: "appTransactionId"))
        }
    }
}
