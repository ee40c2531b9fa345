// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Cryptography
import JSON
package import OfferDomain

/// What is to be decided, and recorded, in one transaction of the ledger.
///
/// A class, because it never changes and each request passes it on several times. The members that the committer reads
/// for every request come first, and its derived values are computed here: the committer is on another thread, perhaps
/// on another core, and each cache line of this object must travel there.
package final class DecisionRequest: Sendable {
    /// The catalog's offer, whose rules decide.
    package let offer: CatalogOffer
    /// The stated facts, without those about a subscription of another group than the offer's.
    package let facts: SharedFacts
    /// Whether ``facts`` has everything that the offer's rules read.
    let hasAllFacts: Bool
    /// The key under which a retry gets the same answer; `nil` without `Idempotency-Key`.
    package let idempotency: IdempotencyClaim?
    /// What the ledger may have of the customer under earlier secrets.
    let rotatedKeys: [RotatedKey]
    /// The keys of all names, and of the purchases that are surely the customer's, each once.
    let namedSubjects: [[UInt8]]
    /// The keys of the names alone, without those of subscriptions.
    let customers: [[UInt8]]
    /// The kinds of owners whose grants may be looked up by those keys.
    let owners: GrantOwners
    /// Whether a trusted caller says who the customer is, or evidence shows it.
    let isProven: Bool
    /// What records call the customer: a JSON list of pseudonyms.
    let users: [UInt8]
    /// The terms of a new grant; a replay under the same idempotency key has the terms of the first grant.
    package let terms: GrantTerms
    /// The customer that the request names.
    package let customer: DecisionCustomer
    /// Everything the customer is known as: what the request says, and then what evidence shows; each once.
    package let names: [PseudonymizedName]
    /// What the store itself says of the customer, and how far it is known.
    package let knowledge: StoreKnowledge
    /// The subscription whose purchases at Google Play are read; `nil` if the entry is in the App Store only.
    package let googlePlayScope: GooglePlayScope?
    /// The caller, the time, and the catalog.
    package let origin: DecisionOrigin

    /// Puts together what is said of the customer and what evidence shows.
    package init(
        from origin: DecisionOrigin,
        offer: CatalogOffer,
        customer: DecisionCustomer,
        knowledge: StoreKnowledge,
        terms: GrantTerms
    ) {
        self.origin = origin
        self.terms = terms
        self.offer = offer
        self.customer = customer
        let shown = knowledge.shownNames
        let names = shown.isEmpty ? customer.names : customer.names + shown.filter { !customer.names.contains($0) }
        self.names = names
        (namedSubjects, customers) = Self.subjects(names, knowledge.shownPurchases)
        let isShown = !shown.isEmpty || !knowledge.shownPurchases.isEmpty
        isProven = knowledge.isVouchedFor || isShown
        // A name that the caller only claims must not reveal whether its customer has grants.
        owners = isProven || offer.policy.admitsUnprovenCustomers ? Self.owners(names, knowledge, isShown: isShown) : []
        users = Self.users(names)
        rotatedKeys = names.compactMap { RotatedKey($0.pseudonym) } + knowledge.rotatedKeys
        let facts = customer.facts.asked(of: offer.subscriptionGroupID)
        hasAllFacts = facts.isComplete(for: offer.factNeeds)
        self.facts = facts
        self.knowledge = knowledge
        googlePlayScope = origin.catalog.googlePlayScope(of: offer)
        idempotency = origin.idempotency
    }

    /// UUIDv7.
    package var requestID: UniqueID { origin.requestID }
    /// When the request arrived, by this instance's clock; rules count time up to here.
    package var receivedAt: Timestamp { origin.receivedAt }
    /// Who asked; the entry names the caller.
    package var callerID: CallerID { origin.caller.id }
    /// The policy in force, `sha256:…` over the offers file.
    package var policyName: String { origin.catalog.policyName }
    /// What the customer gets if the outcome of the decision allows it; see ``Grantable/allows(on:)``.
    package var grantable: Grantable { terms.grantable }
    /// `nil` if no trusted caller stated any.
    package var attributes: Attributes? { customer.attributes }

    /// The version of the secret that makes the keys of the request.
    package var secretVersion: String { customer.secretVersion }
    /// The keys of the names and purchases that evidence shows.
    package var shownSubjects: [[UInt8]] { knowledge.shownSubjects }
    /// See ``DecisionCustomer/account``.
    var account: [UInt8]? { customer.account }

    private static func subjects(
        _ names: [PseudonymizedName],
        _ shownPurchases: [[UInt8]]
    ) -> (all: [[UInt8]], ofCustomers: [[UInt8]]) {
        var subjects: [[UInt8]] = []
        subjects.reserveCapacity(names.count + shownPurchases.count)
        for name in names where !subjects.contains(name.pseudonym.ledgerKey) {
            subjects.append(name.pseudonym.ledgerKey)
        }
        // Mostly these are the same.
        if shownPurchases.isEmpty, subjects.count == names.count, names.allSatisfy(\.identity.namesCustomer) {
            return (subjects, subjects)
        }
        for purchase in shownPurchases where !subjects.contains(purchase) { subjects.append(purchase) }
        return (subjects, names.filter(\.identity.namesCustomer).map(\.pseudonym.ledgerKey))
    }

    /// If evidence shows the customer, grants under customer names count, whatever names the request has.
    private static func owners(
        _ names: [PseudonymizedName],
        _ knowledge: StoreKnowledge,
        isShown: Bool
    ) -> GrantOwners {
        var owners = GrantOwners(names.map(\.identity))
        if isShown { owners.insert(.customer) }
        if !knowledge.shownPurchases.isEmpty { owners.insert(.originalTransaction) }
        return owners
    }

    private static func users(_ names: [PseudonymizedName]) -> [UInt8] {
        let recorded = names.prefix(mostRecordedNames)
        var writer = JSONWriter(reserving: 2 + 64 * recorded.count)
        writer.beginArray()
        for name in recorded { writer.string(plain: name.pseudonym.recordText.span) }
        writer.endArray()
        return writer.bytes
    }

    /// An entry has room for this many names; grants count for all names.
    private static let mostRecordedNames = 16

    /// The same request when more is known of the customer.
    package func with(_ knowledge: StoreKnowledge) -> DecisionRequest {
        DecisionRequest(from: origin, offer: offer, customer: customer, knowledge: knowledge, terms: terms)
    }
}
