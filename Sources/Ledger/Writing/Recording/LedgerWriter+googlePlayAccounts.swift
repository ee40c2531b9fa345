// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
import ServiceRuntime
import Storage

extension LedgerWriter {
    /// Notes which customer the account ID in an authorization is given out for, if the request names one.
    ///
    /// `entry` is the index of the entry that records the authorization.
    func note(_ plan: AuthorizationPlan, of request: DecisionRequest, entry: Int64) throws(LedgerError) {
        guard let customer = request.account else { return }
        try database(googlePlayAccounts.add(plan.accountID, of: customer, entry: entry))
    }

    /// The purchases of customers other than these and those that a backend or store linked to them; the account that a
    /// purchase names decides, or else the account that it is on record with.
    func purchasesOfOthers(
        _ named: [PurchaseKey: [UInt8]],
        than own: [[UInt8]]
    ) throws(LedgerError) -> Set<PurchaseKey> {
        let known = try own + vouchedLinks(of: own)
        let customers = try database(googlePlayAccounts.customers(of: Set(named.values)))
        var others: Set<PurchaseKey> = []
        for (purchase, account) in named {
            var holder = customers[account]
            if holder == nil { holder = try database(holders.account(of: purchase.bytes)) }
            if let holder, !known.contains(holder) { others.insert(purchase) }
        }
        return others
    }
}

extension Committer {
    /// The purchases that belong to other customers, by the accounts that they name; all are given as ledger keys.
    package func purchasesOfOthers(
        _ named: [PurchaseKey: [UInt8]],
        than own: [[UInt8]]
    ) async throws(LedgerError) -> Set<PurchaseKey> {
        if named.isEmpty { return [] }
        let found = Guarded<Set<PurchaseKey>>([])
        try await look { writer throws(LedgerError) in
            let others = try writer.purchasesOfOthers(named, than: own)
            found.withLock { $0 = others }
        }
        return found.withLock { $0 }
    }
}
