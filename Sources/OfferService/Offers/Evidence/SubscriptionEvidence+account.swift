// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain
import Stores

/// What signed data shows of the account that it was signed for.
extension SubscriptionEvidence {
    /// Every ID that may identify the account in signed data; the first is the default if the request names none.
    var accountIDs: [TransactionID] {
        transactions.flatMap { transaction in
            [transaction.transactionID, transaction.originalTransactionID]
                + (transaction.appTransactionID.map { [$0] } ?? [])
        } + (appTransaction?.appTransactionID.map { [$0] } ?? [])
    }

    /// Every name that is shown to be the customer's, each once: of whatever group, each original transaction, those that
    /// it is linked to, account of the store, and account token.
    var customerNames: [CustomerIdentity] {
        let shown = transactions.flatMap { transaction in
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
        let ids = transactions.map(\.appTransactionID) + [appTransaction?.appTransactionID]
        return ids.compactMap(\.self).reduce(into: []) { accounts, id in
            if !accounts.contains(.appTransaction(id)) { accounts.append(.appTransaction(id)) }
        }
    }

    /// Refuses transactions that are of another account than the app transaction, or don't name theirs; without an app
    /// transaction, those that name another than the first that names one.
    func refuseSeveralAccounts() throws(Refusal) {
        let shown = appTransaction?.appTransactionID
        guard let account = shown ?? transactions.compactMap(\.appTransactionID).first else { return }
        for (index, transaction) in transactions.enumerated() where transaction.appTransactionID != account {
            if shown == nil, transaction.appTransactionID == nil { continue }
            let pointer = EvidenceFault.Piece.transaction(index).pointer
            throw .request(.signedDataOfOtherAccount(pointer: pointer, member: "appTransactionId"))
        }
    }

    /// Refuses transactions that name another account than the request does.
    ///
    /// Backends are trusted to send the customer's own transactions. A transaction without an account fits every request. An
    /// original signature is bound only to the account that the request names, so the transactions must name the same one,
    /// as a token or as the user name that StoreKit 1 turns into a token. For a JWS they may name one account at most.
    func refuseOtherAccount(
        than binding: PurchaseBinding,
        from caller: Caller,
        signing forms: [SignatureForm] = []
    ) throws(Refusal) {
        guard !caller.role.mayAssertFacts else { return }
        let token: UniqueID?
        switch binding {
        case .appAccountToken(let named): token = named
        // What a user's token proves holds for every form; the request cannot contradict it.
        case .applicationUsername where caller.user?.appAccountToken != nil: token = caller.user?.appAccountToken
        case .applicationUsername(let name) where forms.contains(.v1): token = UniqueID(name.text)
        case .none where forms.contains(.v1): token = nil
        case .applicationUsername where !forms.isEmpty, .none where !forms.isEmpty:
            token = transactions.compactMap(\.appAccountToken).first
        case .applicationUsername, .none: return
        }
        for (index, transaction) in transactions.enumerated() {
            guard let other = transaction.appAccountToken, other != token else { continue }
            let pointer = EvidenceFault.Piece.transaction(index).pointer
            throw .request(.signedDataOfOtherAccount(pointer: pointer, member: "appAccountToken"))
        }
    }
}
