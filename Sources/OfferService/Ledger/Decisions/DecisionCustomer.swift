// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// A name of a customer, and the pseudonym that caps count under.
package struct PseudonymizedName: Hashable, Sendable {
    package let identity: CustomerIdentity
    package let pseudonym: Pseudonym

    package init(_ identity: CustomerIdentity, _ pseudonym: Pseudonym) {
        self.identity = identity
        self.pseudonym = pseudonym
    }
}

/// Whom a request says that a decision is about, before any evidence: a backend's word, or what an app claims.
///
/// What evidence shows is in ``StoreKnowledge/shownNames``, and counts beside these.
package struct DecisionCustomer: Sendable {
    /// Each once; the one that the caller calls its own comes first.
    package let names: [PseudonymizedName]
    /// Under whose secret the pseudonyms, and all other keys of the request, are made.
    package let epoch: String
    /// The ledger's key of the account that purchases made with the grant will name; `nil` if they will name none.
    package let account: [UInt8]?
    /// What the app sets as `obfuscatedAccountId` at Google Play; `nil` of what is signed.
    package let accountID: GooglePlayAccountID?

    /// The customer of a request for something to be signed, or of one for nothing.
    ///
    /// Where `isBelieved` is not so, as of an app, all names are claimed ones.
    package init(
        _ identities: [CustomerIdentity],
        isBelieved: Bool,
        binding: PurchaseBinding = .none,
        _ pseudonyms: Pseudonyms,
        in app: AppName
    ) {
        names = identities.map { identity in
            let name = isBelieved ? identity : identity.asClaimed
            return PseudonymizedName(name, pseudonyms.pseudonym(of: name, in: app))
        }
        epoch = pseudonyms.epoch
        account = Self.account(binding, names, pseudonyms, app)
        accountID = nil
    }

    /// The customer of a request for an offer at Google Play, whose purchase will name the first of the names.
    package init(buying identities: [CustomerIdentity], _ pseudonyms: Pseudonyms, in app: AppName) {
        names = identities.map { PseudonymizedName($0, pseudonyms.pseudonym(of: $0, in: app)) }
        epoch = pseudonyms.epoch
        account = names.first?.pseudonym.ledgerKey
        accountID = identities.first.map { GooglePlayPseudonyms(pseudonyms, in: app).accountID(of: $0) }
    }

    /// A user name of StoreKit 1 that is no UUID is on no transaction.
    ///
    /// Purchases name a token as such, whether it was claimed or not.
    private static func account(
        _ binding: PurchaseBinding,
        _ names: [PseudonymizedName],
        _ pseudonyms: Pseudonyms,
        _ app: AppName
    ) -> [UInt8]? {
        if case .applicationUsername(let name) = binding, !name.isUniqueID { return nil }
        guard let identity = binding.identity else { return nil }
        let known = names.first { $0.identity == identity }?.pseudonym
        return (known ?? pseudonyms.pseudonym(of: identity, in: app)).ledgerKey
    }
}
