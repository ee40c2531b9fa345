// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import Storage

extension LedgerWriter {
    /// The keys whose grants count for a decision: those of the customer, the subscription, and linked customers.
    ///
    /// If a request also has proof, a claimed name counts only if it is linked to a customer. Otherwise an attacker could use up
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

    /// The same for caps per customer; unless a backend vouches for them, every purchase in the evidence counts too.
    func customerSubjects(_ request: DecisionRequest, _ known: KnownCustomer) throws(LedgerError) -> [[UInt8]] {
        let subjects = try countedSubjects(request, known.subscriptions)
        guard !request.knowledge.isVouchedFor, let histories = known.histories else { return subjects }
        return Array(Set(subjects + histories.purchases))
    }

    /// The decision, with the customer's names by which each reached cap counted.
    ///
    /// The ledger is asked again name by name: a cap refuses few requests.
    func explained(
        _ decision: Decision,
        of request: DecisionRequest,
        with subscriptions: [[UInt8]]
    ) throws(LedgerError) -> Decision {
        guard decision.hasReachedCap else { return decision }
        var (found, redeemed): (CountedNames, CountedNames) = ([], [])
        for (kind, subject) in try countedNames(request, subscriptions) {
            for offer in request.offer.counted {
                let grants = try grantIDs(of: [subject], offer.key)
                if !grants.isEmpty { found.insert(kind) }
                guard request.offer.needs.redemptions else { continue }
                if try !counted(grants, of: offer, for: request, subscriptions).isEmpty { redeemed.insert(kind) }
            }
        }
        return decision.counted(by: found, redeemed: redeemed)
    }

    /// The keys under which grants count, and what each of them names.
    private func countedNames(
        _ request: DecisionRequest,
        _ subscriptions: [[UInt8]]
    ) throws(LedgerError) -> [(CountedNames, subject: [UInt8])] {
        let counted = try countedSubjects(request, subscriptions)
        let names = request.names.filter { counted.contains($0.pseudonym.ledgerKey) }
            .map { (CountedNames($0.identity), $0.pseudonym.ledgerKey) }
        var purchase = CountedNames.originalTransactionID
        if case .authorization = request.grantable { purchase = .purchaseToken }
        let purchases = (request.knowledge.shownPurchases + subscriptions).map { (purchase, $0) }
        return try names + purchases + linked(to: request.customers).map { (.transferredCustomer, $0) }
    }
}
