// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain

extension DecisionCustomer {
    /// The customer of a request, when an offer of that store is decided.
    ///
    /// Where nothing that the request states is believed, as of an app, all names in the App Store are claimed ones. A
    /// purchase at Google Play names the first of the names.
    init(_ stated: StatedCustomer, at store: Store, of app: AppName, in context: RequestContext) {
        let pseudonyms = context.snapshot.pseudonyms
        let names: [PseudonymizedName]
        let account: [UInt8]?
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
        let proof = context.proof(of: app, at: store)
        self.init(
            names: names,
            secretVersion: pseudonyms.secretVersion,
            account: account,
            facts: proof.map { stated.facts.with($0.facts) } ?? stated.facts,
            attributes: stated.attributes
        )
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
