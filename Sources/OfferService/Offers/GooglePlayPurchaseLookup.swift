// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain
import ServiceRuntime
import Stores

/// Asks Google Play about the purchases that one request names.
struct GooglePlayPurchaseLookup: StoreLookup {
    /// Of the purchases that the request names.
    let tokens: [PurchaseToken]
    let place: PlayContext
    let purchases: any GooglePlayPurchaseSource
    /// Knows which account ids were given out.
    let committer: Committer
    /// Whether a purchase that names another account makes the request invalid; otherwise that purchase is ignored.
    var refusesOthers = true
    let log: Log

    func fetch(_ needs: FactNeeds, for decision: DecisionRequest) async throws(Refusal) -> StoreKnowledge {
        let (caller, app) = (decision.origin.caller, place.app.packageName)
        var knowledge = decision.knowledge
        knowledge.mayAsk = false
        let evidence: GooglePlayEvidence
        do {
            evidence = try await purchases.evidence(
                of: tokens,
                of: app,
                walksBack: true,
                for: caller.party,
                at: decision.receivedAt
            )
        } catch {
            if error.isFinal, case .requestRefused(let status, _) = error {
                let pointer = tokens.count == 1 ? "/purchaseTokens/0" : "/purchaseTokens"
                throw .request(.refusedByStore(.googlePlay, pointer: pointer, code: Int64(status)))
            }
            return knowledge.without(error, of: .googlePlay, app: app.text, at: decision.receivedAt, log: log)
        }
        knowledge.findings += tokens.indices.compactMap { evidence.finding(of: tokens[$0], at: $0) }
        let others = try await othersPurchases(evidence, decision)
        if refusesOthers, let index = others.first {
            throw .request(.purchaseOfOtherAccount(pointer: "/purchaseTokens/\(index)"))
        }
        let own = tokens.enumerated().filter { !others.contains($0.offset) }.map(\.element)
        knowledge.googlePlayPurchases = Set(own.map(place.keys.purchaseKey))
        knowledge.shownPurchases = evidence.keys(ofPurchasesFrom: own, place.keys)
        knowledge.rotatedKeys += place.keys.rotatedKeys(of: evidence.purchases.map(\.token))
        knowledge.reports[.googlePlay] = SubscriptionReport(
            evidence,
            place: place,
            customers: caller.role.mayAssertFacts ? decision.purchaseHolders : [],
            customer: caller.role.mayAssertFacts ? decision.purchaseHolders.first : nil
        )
        return knowledge
    }

    /// The indexes of tokens with purchases of other customers, ascending.
    ///
    /// A purchase belongs to the customer who presents its token, unless it names an account ID that the service gave
    /// to a customer other than the request's own and those linked to it. A backend is trusted to name the owner.
    private func othersPurchases(
        _ evidence: GooglePlayEvidence,
        _ decision: DecisionRequest
    ) async throws(Refusal) -> [Int] {
        guard !decision.origin.caller.role.mayAssertFacts else { return [] }
        var named: [PurchaseKey: [UInt8]] = [:]
        for case (let token, .purchase(let purchase)) in evidence.purchases {
            named[place.keys.purchaseKey(of: token)] = purchase.accountID.flatMap(GooglePlayAccountID.init)?.key
        }
        let own = decision.names.map(\.pseudonym).flatMap { [$0] + $0.earlier }.map(\.ledgerKey)
        let others: Set<PurchaseKey>
        do {
            others = try await committer.purchasesOfOthers(named, than: own)
        } catch {
            throw .service(ServiceFault(error))
        }
        return tokens.indices.filter { others.contains(place.keys.purchaseKey(of: tokens[$0])) }
    }
}

extension StoreKnowledge {
    /// Adds purchases that a trusted caller says are the customer's.
    mutating func add(_ tokens: [PurchaseToken], at place: PlayContext) {
        googlePlayPurchases = Set(tokens.map(place.keys.purchaseKey))
        shownPurchases = tokens.map { place.keys.purchaseKey(of: $0).bytes }
        rotatedKeys += place.keys.rotatedKeys(of: tokens)
    }
}

extension GooglePlayEvidence {
    /// Why the answer about the token at `index` of the request is not sufficient; `nil` if it has a purchase.
    fileprivate func finding(of token: PurchaseToken, at index: Int) -> StoreFinding? {
        switch purchases.first(where: { $0.token == token })?.answer {
        case .notFound: .purchaseUnknown(index: index)
        case .gone(isSuperseded: false): .purchaseExpiredTooLong(index: index)
        case .gone(isSuperseded: true): .purchaseReplaced(index: index)
        case .unreadable: .purchaseUnreadable(index: index)
        case .purchase, nil: nil
        }
    }
}
