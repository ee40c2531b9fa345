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
    package let facts: SharedFacts
    /// `nil` if no trusted caller stated any.
    package let attributes: Attributes?

    package init(
        names: [PseudonymizedName],
        epoch: String,
        account: [UInt8]?,
        facts: SharedFacts,
        attributes: Attributes?
    ) {
        self.names = names
        self.epoch = epoch
        self.account = account
        self.facts = facts
        self.attributes = attributes
    }
}
