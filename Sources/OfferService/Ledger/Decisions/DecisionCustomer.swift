// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// A name of a customer, and the pseudonym that caps count under.
package struct PseudonymizedName: Hashable, Sendable {
    /// The name as the caller, the app or evidence has it; it stays in memory.
    package let identity: CustomerIdentity
    /// What the ledger and the audit log have instead of the name.
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
    /// The facts that a trusted caller stated; of an app's, what it has proven of itself.
    package private(set) var facts: SharedFacts
    /// `nil` if no trusted caller stated any.
    package let attributes: Attributes?

    /// The customer of a request, when an offer of that store is decided.
    ///
    /// Where nothing that the request states is believed, as of an app, all names in the App Store are claimed ones. A
    /// purchase at Google Play names the first of the names.
    init(_ stated: StatedCustomer, at store: Store, of app: AppName, in context: RequestContext) {
        let pseudonyms = context.snapshot.pseudonyms
        epoch = pseudonyms.epoch
        (facts, attributes) = (stated.facts, stated.attributes)
        switch store {
        case .appStore:
            names = stated.identities.map { identity in
                let name = context.isBelieved ? identity : identity.asClaimed
                return PseudonymizedName(name, pseudonyms.pseudonym(of: name, in: app))
            }
            account = Self.account(stated.binding, among: names, pseudonyms, in: app)
        case .googlePlay:
            names = stated.identities.filter(\.isGivenAtGooglePlay).map { identity in
                PseudonymizedName(identity, pseudonyms.pseudonym(of: identity, in: app))
            }
            account = names.first?.pseudonym.ledgerKey
        }
        if let proof = context.proof(of: app, at: store) { facts = facts.with(proof.facts) }
    }

    /// A user name of StoreKit 1 that is no UUID is on no transaction.
    ///
    /// Purchases name a token as such, whether it was claimed or not.
    private static func account(
        _ binding: PurchaseBinding,
        among names: [PseudonymizedName],
        _ pseudonyms: Pseudonyms,
        in app: AppName
    ) -> [UInt8]? {
        if case .applicationUsername(let name) = binding, !name.isUniqueID { return nil }
        guard let identity = binding.identity else { return nil }
        let known = names.first { $0.identity == identity }?.pseudonym
        return (known ?? pseudonyms.pseudonym(of: identity, in: app)).ledgerKey
    }
}

extension SharedFacts {
    fileprivate func with(_ app: AppFacts) -> SharedFacts {
        var facts = value
        facts.app = app
        return SharedFacts(facts)
    }
}
