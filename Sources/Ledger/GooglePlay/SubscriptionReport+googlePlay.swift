// SPDX-License-Identifier: Apache-2.0
import OfferDomain

extension SubscriptionReport {
    /// Files evidence; `customers` are pseudonym keys of a customer that a trusted caller vouches for, and are linked
    /// to every purchase.
    ///
    /// `customer` is the key of the name that the caller uses.
    package init(
        _ evidence: GooglePlayEvidence,
        place: PlayContext,
        customers: [[UInt8]] = [],
        customer: [UInt8]? = nil
    ) {
        self.init(
            .googlePlay(evidence.history(place.keys), accounts: evidence.accounts(place.keys), place),
            secretVersion: place.keys.secretVersion,
            catalog: place.catalog
        )
        for case (let token, .purchase) in evidence.purchases {
            let purchase = place.keys.purchaseKey(of: token).bytes
            links.formUnion(customers.map { SubscriptionLink(subject: $0, subscription: purchase) })
        }
        holders = evidence.holders(place.keys, customer)
        rotatedKeys = place.keys.rotatedKeys(of: evidence)
    }
}

extension GooglePlayEvidence {
    /// For each purchase, the customer that a caller names, and the account that the purchase names.
    fileprivate func holders(_ keys: GooglePlayPseudonyms, _ customer: [UInt8]?) -> [SubscriptionHolder] {
        purchases.flatMap { token, answer in
            guard case .purchase(let purchase) = answer else { return [SubscriptionHolder]() }
            let predecessors = [purchase.linkedToken, purchase.expiredToken].compactMap(\.self)
            func holder(_ kind: SubscriptionHolder.Kind, _ subject: [UInt8], since: Timestamp?) -> SubscriptionHolder {
                SubscriptionHolder(
                    subscription: keys.purchaseKey(of: token).bytes,
                    predecessors: predecessors.map { keys.purchaseKey(of: $0).bytes },
                    kind: kind,
                    subject: subject,
                    since: since
                )
            }
            let account = purchase.accountID.flatMap(GooglePlayAccountID.init)?.key
            return [
                customer.map { holder(.customer, $0, since: nil) },
                account.map { holder(.account, $0, since: observedAt) },
            ].compactMap(\.self)
        }
    }
}
