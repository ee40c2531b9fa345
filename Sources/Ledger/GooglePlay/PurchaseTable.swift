// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
package import Storage

/// What the ledger keeps of Google Play's purchases.
package typealias PurchaseTable = SubscriptionTable<GooglePlayPurchaseRecord>

extension SubscriptionTable<GooglePlayPurchaseRecord> {
    /// The history of customers with these names and of the given purchases, with all purchases that replaced each
    /// other.
    ///
    /// `subjects` are pseudonym keys of customers. Other purchases of a given purchase's customers are included.
    /// Returns at most ``SubscriptionCustomers/mostSubscriptions`` purchases.
    package func history(
        of subjects: [[UInt8]],
        purchases: some Sequence<PurchaseKey>
    ) throws(StorageError) -> GooglePlayHistory {
        var found = Reached<PurchaseKey>(limit: SubscriptionCustomers.mostSubscriptions)
        for purchase in Set(purchases).sorted() {
            found.add([purchase])
            for subject in try customers.customers(of: purchase.bytes) { found.add(try subscriptions(of: subject)) }
        }
        for subject in subjects { found.add(try subscriptions(of: subject)) }
        try follow(&found)
        var history = GooglePlayHistory()
        for purchase in found.all { history.purchases[purchase] = try record(of: purchase) }
        return history
    }

    /// The purchase, and all that replaced one another with it.
    func chain(of purchase: PurchaseKey) throws(StorageError) -> [PurchaseKey] {
        var chain = Reached<PurchaseKey>(limit: SubscriptionCustomers.mostSubscriptions)
        chain.add([purchase])
        try follow(&chain)
        return chain.all
    }

    private func follow(_ reached: inout Reached<PurchaseKey>) throws(StorageError) {
        while let purchase = reached.next() { reached.add(try linked(to: purchase)) }
    }

    /// The purchases that this one replaced, and those that replaced it.
    func linked(to purchase: PurchaseKey) throws(StorageError) -> [PurchaseKey] {
        try customers.linked(to: purchase.bytes, limit: SubscriptionCustomers.mostSubscriptions).map(PurchaseKey.init)
    }

    /// The purchases that claim, by their mark, to come from a grant.
    func purchases(marked grantID: UniqueID) throws(StorageError) -> [PurchaseKey] {
        try keys(
            SQL(
                "SELECT subscription FROM subscription_records WHERE marked_grant = ? ORDER BY subscription LIMIT ?",
                .blob(grantID.bytes),
                .integer(Int64(SubscriptionCustomers.mostSubscriptions))
            )
        )
    }
}
