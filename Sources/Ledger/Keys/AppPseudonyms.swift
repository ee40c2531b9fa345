// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// The keys under which evidence of one app is filed: the pseudonyms that caps count under.
///
/// An original transaction has the same key here and among the grants.
package struct AppPseudonyms: SubscriptionKeys, Sendable {
    private let pseudonyms: Pseudonyms
    private let app: AppName

    package init(_ pseudonyms: Pseudonyms, in app: AppName) {
        self.pseudonyms = pseudonyms
        self.app = app
    }

    /// The name of the secret version in force.
    package var secretVersion: String { pseudonyms.secretVersion }

    /// A chain is filed under its original transaction.
    package func chainKey(of originalTransactionID: TransactionID) -> ChainKey {
        ChainKey(key(of: .originalTransaction(originalTransactionID)))
    }

    /// The key of any transaction; an original one's has the same bytes as its chain's key.
    package func transactionKey(of transactionID: TransactionID) -> TransactionKey {
        TransactionKey(key(of: .originalTransaction(transactionID)))
    }

    /// The key of an `appAccountToken`.
    package func accountKey(of token: UniqueID) -> AccountKey {
        AccountKey(key(of: .appAccountToken(token)))
    }

    /// The key of a customer, or of a transaction.
    package func key(of identity: CustomerIdentity) -> [UInt8] {
        pseudonym(of: identity).ledgerKey
    }

    package func pseudonym(of identity: CustomerIdentity) -> Pseudonym { pseudonyms.pseudonym(of: identity, in: app) }

    /// Whether anything may be filed under an earlier secret.
    var hasEarlierVersions: Bool { pseudonyms.hasEarlierVersions }
}
