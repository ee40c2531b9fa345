// SPDX-License-Identifier: Apache-2.0
package import Configuration
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

/// The customer that a request names, before any evidence: a backend states it, or an app claims it.
///
/// What evidence shows is in ``StoreKnowledge/shownNames``, and counts too.
package struct DecisionCustomer: Sendable {
    /// Each name once; the caller's own name for the customer comes first.
    package let names: [PseudonymizedName]
    /// The version of the secret that makes the pseudonyms and all other keys of the request.
    package let secretVersion: String
    /// The ledger's key of the account that purchases made with the grant will name; `nil` if they will name none.
    package let account: [UInt8]?
    /// The facts that a trusted caller stated; for an app, what it has proven about itself.
    package let facts: SharedFacts
    /// `nil` if no trusted caller stated any.
    package let attributes: Attributes?

    package init(
        names: [PseudonymizedName],
        secretVersion: String,
        account: [UInt8]?,
        facts: SharedFacts,
        attributes: Attributes?
    ) {
        self.names = names
        self.secretVersion = secretVersion
        self.account = account
        self.facts = facts
        self.attributes = attributes
    }
}
