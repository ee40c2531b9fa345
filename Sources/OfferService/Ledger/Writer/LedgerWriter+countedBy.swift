// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Storage

extension LedgerWriter {
    /// The keys whose grants count for a decision: those of the customer, the subscription, and linked customers.
    ///
    /// If a request also has proof, a claimed name counts only if a backend linked it. Otherwise an attacker could use up
    /// another customer's caps by claiming their name.
    func countedSubjects(
        _ request: DecisionRequest,
        _ subscriptions: [[UInt8]]
    ) throws(LedgerError) -> [[UInt8]] {
        var subjects = request.subjects(with: subscriptions)
        for claimed in request.claimsBesideProof where try linked(to: [claimed]).isEmpty {
            subjects.removeAll { $0 == claimed }
        }
        let links = try linked(to: request.customers)
        return links.isEmpty ? subjects : subjects + links
    }

    /// The decision, where each cap that is reached says by which of the customer's names it counted.
    ///
    /// Asked again name by name, because most who ask are not refused by a cap.
    func explained(
        _ decision: Decision,
        _ request: DecisionRequest,
        _ subscriptions: [[UInt8]]
    ) throws(LedgerError) -> Decision {
        guard decision.hasReachedCap else { return decision }
        var keys = [request.offer.ledgerKey]
        if request.offer.needs.otherStore, let key = request.offer.otherStoreKey { keys.append(key) }
        var found: CountedNames = []
        let counted = try countedSubjects(request, subscriptions)
        for name in request.names where counted.contains(name.pseudonym.ledgerKey) {
            if try hasGrants(name.pseudonym.ledgerKey, keys) { found.insert(CountedNames(name.identity)) }
        }
        var purchase = CountedNames.originalTransactionID
        if case .authorization = request.grantable { purchase = .purchaseToken }
        for key in request.knowledge.shownPurchases + subscriptions where try hasGrants(key, keys) {
            found.insert(purchase)
        }
        for key in try linked(to: request.customers) where try hasGrants(key, keys) {
            found.insert(.transferredCustomer)
        }
        return decision.counted(by: found)
    }

    private func hasGrants(_ subject: [UInt8], _ offerKeys: [Int64]) throws(LedgerError) -> Bool {
        for key in offerKeys {
            let ids = try database { () throws(StorageError) in try grants.grants(of: key, to: subject) }
            if !ids.isEmpty { return true }
        }
        return false
    }
}
