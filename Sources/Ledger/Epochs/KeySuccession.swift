// SPDX-License-Identifier: Apache-2.0
import Configuration
package import OfferDomain

/// A key of the ledger, and what it was under the secrets of earlier epochs.
package struct KeySuccession: Hashable, Sendable {
    /// 16 bytes.
    package let current: [UInt8]
    /// Of the same length.
    package let earlier: [[UInt8]]

    /// `nil` if there are no earlier epochs.
    init?(_ pseudonym: Pseudonym) {
        guard !pseudonym.earlier.isEmpty else { return nil }
        current = pseudonym.ledgerKey
        earlier = pseudonym.earlier.map(\.ledgerKey)
    }

    init(current: [UInt8], earlier: [[UInt8]]) {
        self.current = current
        self.earlier = earlier
    }
}

extension AppPseudonyms {
    /// What the ledger may have of these under earlier secrets; nothing where there is but one.
    package func successions(of identities: some Sequence<CustomerIdentity>) -> [KeySuccession] {
        guard hasEarlierEpochs else { return [] }
        return Set(identities).compactMap { KeySuccession(pseudonym(of: $0)) }
    }

    /// The same of everything that evidence names.
    func successions(of evidence: SubscriptionEvidence, _ customers: [CustomerIdentity]) -> [KeySuccession] {
        guard hasEarlierEpochs else { return [] }
        var identities = customers
        for transaction in evidence.transactions {
            identities.append(.originalTransaction(transaction.originalTransactionID))
            identities.append(.originalTransaction(transaction.transactionID))
            identities += transaction.linkedOriginalTransactionIDs.map(CustomerIdentity.originalTransaction)
            if let token = transaction.appAccountToken { identities.append(.appAccountToken(token)) }
            if let account = transaction.appTransactionID { identities.append(.appTransaction(account)) }
        }
        identities += evidence.renewals.map { .originalTransaction($0.originalTransactionID) }
        identities += evidence.statuses.map { .originalTransaction($0.originalTransactionID) }
        return successions(of: identities)
    }
}

extension GooglePlayPseudonyms {
    /// What the ledger may have of these purchases under earlier secrets; nothing where there is but one.
    package func successions(of tokens: some Sequence<PurchaseToken>) -> [KeySuccession] {
        guard hasEarlierEpochs else { return [] }
        return Set(tokens).map { token in
            KeySuccession(current: purchaseKey(of: token).bytes, earlier: earlierPurchaseKeys(of: token).map(\.bytes))
        }
    }

    /// The same of everything that evidence names.
    func successions(of evidence: GooglePlayEvidence) -> [KeySuccession] {
        guard hasEarlierEpochs else { return [] }
        var tokens = evidence.revocations.map(\.token) + evidence.refunds.map(\.token)
        for (token, answer) in evidence.purchases {
            tokens.append(token)
            guard case .purchase(let purchase) = answer else { continue }
            tokens += [purchase.linkedToken, purchase.expiredToken].compactMap(\.self)
        }
        return successions(of: tokens)
    }
}
