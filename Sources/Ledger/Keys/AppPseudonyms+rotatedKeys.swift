// SPDX-License-Identifier: Apache-2.0
import Configuration
package import OfferDomain

extension AppPseudonyms {
    /// What the ledger may have of these under earlier secrets; nothing where there is but one.
    package func rotatedKeys(of identities: some Sequence<CustomerIdentity>) -> [RotatedKey] {
        guard hasEarlierVersions else { return [] }
        return Set(identities).compactMap { RotatedKey(pseudonym(of: $0)) }
    }

    /// The same of everything that evidence names.
    func rotatedKeys(of evidence: SubscriptionEvidence, _ customers: [CustomerIdentity]) -> [RotatedKey] {
        guard hasEarlierVersions else { return [] }
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
        return rotatedKeys(of: identities)
    }
}
