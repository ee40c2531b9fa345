// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
package import OfferDomain

/// What is to be decided, and recorded, in one transaction of the ledger.
///
/// A class, because it is handed on several times for each request and never changes. What the committer looks at for every
/// request comes first, and what it would have to work out is worked out here: it is on another thread, and so perhaps another
/// core, to which each cache line of this has to come.
package final class DecisionRequest: Sendable {
    package let offer: CatalogOffer
    /// What the customer gets if the decision is one that it has an answer to.
    package let deliverable: Deliverable
    /// The epoch of the secret that those pseudonyms, and all other keys of the request, are made with.
    package let epoch: String
    /// What is stated, and of the subscription group that the offer's plan is in, as far as it says of which it is.
    package let facts: SharedFacts
    /// Whether nothing is missing there that the offer's rules read.
    let hasAllFacts: Bool
    package let idempotency: IdempotencyClaim?
    /// What the ledger may have of the customer under earlier secrets.
    let successions: [KeySuccession]
    /// The keys of all names, each once.
    let namedSubjects: [[UInt8]]
    /// The keys of the names alone, without those of subscriptions.
    let customers: [[UInt8]]
    /// The key of the account that purchases made with the grant will name, if the request says it.
    let account: [UInt8]?
    /// Whose grants those keys lead to.
    let owners: GrantOwners
    /// What records call the customer: a JSON list of pseudonyms.
    let users: [UInt8]
    /// `nil` if nobody who is believed stated any.
    package let attributes: Attributes?
    /// What is granted if it is granted, and not as what was granted before under the same idempotency key.
    package let terms: GrantTerms
    package let callerID: CallerID
    /// The policy in force, `sha256:…` over the offers file.
    package let policyName: String
    /// Everything the customer is known as.
    package let names: [CustomerIdentity]
    /// Of each name the pseudonym that caps count under.
    package let pseudonyms: [Pseudonym]
    /// What the store itself says of the customer, and how far it is known.
    package let knowledge: StoreKnowledge
    /// For which subscription purchases at Google Play are looked at; `nil` if the entry is in the App Store alone.
    package let googlePlayScope: GooglePlayScope?

    package init(
        terms: GrantTerms,
        callerID: CallerID,
        offer: CatalogOffer,
        names: [CustomerIdentity],
        pseudonyms: [Pseudonym],
        epoch: String,
        facts: SharedFacts,
        knowledge: StoreKnowledge = StoreKnowledge(),
        googlePlayScope: GooglePlayScope? = nil,
        attributes: Attributes?,
        idempotency: IdempotencyClaim?,
        deliverable: Deliverable,
        policyName: String
    ) {
        precondition(names.count == pseudonyms.count, "each name has its pseudonym")
        self.terms = terms
        self.callerID = callerID
        self.offer = offer
        self.names = names
        self.pseudonyms = pseudonyms
        (namedSubjects, customers) = Self.subjects(names, pseudonyms)
        account = Self.account(deliverable, names, pseudonyms)
        owners = GrantOwners(names)
        users = Self.users(pseudonyms)
        successions = pseudonyms.compactMap(KeySuccession.init) + knowledge.successions
        self.epoch = epoch
        let facts = facts.asked(of: offer.subscriptionGroupID)
        hasAllFacts = facts.isComplete(for: offer.factNeeds)
        self.facts = facts
        self.knowledge = knowledge
        self.googlePlayScope = googlePlayScope
        self.attributes = attributes
        self.idempotency = idempotency
        self.deliverable = deliverable
        self.policyName = policyName
    }

    /// UUIDv7.
    package var requestID: UniqueID { terms.id }
    package var receivedAt: Timestamp { terms.signedAt }

    private static func subjects(
        _ names: [CustomerIdentity],
        _ pseudonyms: [Pseudonym]
    ) -> (all: [[UInt8]], ofCustomers: [[UInt8]]) {
        var subjects: [[UInt8]] = []
        subjects.reserveCapacity(names.count)
        for pseudonym in pseudonyms where !subjects.contains(pseudonym.ledgerKey) {
            subjects.append(pseudonym.ledgerKey)
        }
        // Mostly these are the same.
        if subjects.count == names.count, names.allSatisfy(\.namesCustomer) { return (subjects, subjects) }
        return (subjects, zip(names, pseudonyms).filter(\.0.namesCustomer).map(\.1.ledgerKey))
    }

    /// See ``account``: a user name of StoreKit 1 that is no UUID is on no transaction.
    private static func account(
        _ deliverable: Deliverable,
        _ names: [CustomerIdentity],
        _ pseudonyms: [Pseudonym]
    ) -> [UInt8]? {
        switch deliverable {
        case .signature(let plan):
            switch plan.binding {
            case .none: nil
            case .applicationUsername(let name) where !name.isUniqueID: nil
            case .appAccountToken, .applicationUsername:
                names.firstIndex(where: \.isPurchaseBinding).map { pseudonyms[$0].ledgerKey }
            }
        case .authorization: pseudonyms.first?.ledgerKey
        case .preview: nil
        }
    }

    private static func users(_ pseudonyms: [Pseudonym]) -> [UInt8] {
        var writer = JSONWriter(reserving: 2 + 64 * pseudonyms.count)
        writer.beginArray()
        for pseudonym in pseudonyms { writer.string(plain: pseudonym.recordText.span) }
        writer.endArray()
        return writer.bytes
    }

    /// Each name with its pseudonym.
    var identities: [(identity: CustomerIdentity, pseudonym: Pseudonym)] {
        zip(names, pseudonyms).map { ($0, $1) }
    }

    /// The same request when more is known of the customer.
    package func with(_ knowledge: StoreKnowledge) -> DecisionRequest {
        DecisionRequest(
            terms: terms,
            callerID: callerID,
            offer: offer,
            names: names,
            pseudonyms: pseudonyms,
            epoch: epoch,
            facts: facts,
            knowledge: knowledge,
            googlePlayScope: googlePlayScope,
            attributes: attributes,
            idempotency: idempotency,
            deliverable: deliverable,
            policyName: policyName
        )
    }
}
