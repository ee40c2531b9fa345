// SPDX-License-Identifier: Apache-2.0
import Configuration
package import OfferDomain
package import Storage

/// The uses of offers that evidence of Google Play shows, of one app.
package struct GooglePlayRedemptions: RedemptionSource {
    private let purchases: PurchaseTable
    private let grants: GrantTable
    private let links: CustomerLinks
    private let place: PlayContext
    private var connection: any DatabaseConnection { grants.connection }

    /// The uses in the app of `place`.
    package init(_ grants: GrantTable, links: CustomerLinks, at place: PlayContext) {
        (self.grants, self.links, self.place) = (grants, links, place)
        purchases = PurchaseTable(connection: grants.connection)
    }

    package var app: String { place.app.packageName.text }

    package func subscriptions() throws(StorageError) -> [[UInt8]] { try purchases.all().map(\.bytes) }

    package func neighbours(of key: [UInt8]) throws(StorageError) -> [[UInt8]] {
        var neighbours = try purchases.linked(to: PurchaseKey(key))
        for subject in try customers(of: key) { neighbours += try purchases.subscriptions(of: subject) }
        return neighbours.map(\.bytes)
    }

    package func claimants(of grant: UniqueID) throws(StorageError) -> [[UInt8]] {
        try purchases.purchases(marked: grant).map(\.bytes)
    }

    package func isSure(_ matched: MatchedRedemption) -> Bool { matched.way == .mark }

    /// The customers of a purchase, and every purchase of its chain.
    package func subjects(of key: [UInt8]) throws(StorageError) -> [[UInt8]] {
        try customers(of: key) + purchases.chain(of: PurchaseKey(key)).map(\.bytes)
    }

    package func candidates(of key: [UInt8]) throws(StorageError) -> [RedemptionCandidate] {
        let purchase = PurchaseKey(key)
        guard let record = try purchases.record(of: purchase) else { return [] }
        let forgottenUntil = try SecretVersionTable(connection: connection).forgottenUntil()
        var candidates: [RedemptionCandidate] = []
        for redemption in record.redemptions(purchase) {
            if let forgottenUntil, redemption.redeemedAt < forgottenUntil { continue }
            if let candidate = try candidate(redemption) { candidates.append(candidate) }
        }
        return candidates
    }

    private func candidate(_ redemption: GooglePlayRedemption) throws(StorageError) -> RedemptionCandidate? {
        let (purchase, packageName) = (redemption.purchase, place.app.packageName)
        var key = place.offer(redemption.offer)?.ledgerKey
        if key == nil { key = try grants.formerKey(of: redemption.offer, boughtWith: purchase, in: packageName) }
        guard let offerKey = key else { return nil }
        return RedemptionCandidate(
            use: StoreRedemption(redemption, of: packageName),
            offerKey: offerKey,
            marked: try marked(redemption, offerKey),
            accounts: try accounts(of: purchase),
            grants: try grants.candidates(of: try subjects(of: purchase.bytes), offerKey: offerKey),
            // A grant from before this time does not count, even if the ledger still has it.
            earliestGrant: redemption.redeemedAt.adding(hours: -Store.googlePlay.longestDelayHours),
            isEarlier: try CatalogNameTable(connection: connection).isEarlier(
                redemption.redeemedAt,
                than: .googlePlay(redemption.offer, in: packageName)
            )
        )
    }

    /// The grant that a genuine mark names, even if the ledger has lost or forgotten it.
    private func marked(
        _ redemption: GooglePlayRedemption,
        _ offerKey: Int64
    ) throws(StorageError) -> GrantCandidate? {
        guard let mark = redemption.mark.flatMap(GrantMark.init), place.keys.isGenuine(mark, for: offerKey) else {
            return nil
        }
        return try IssuedGrantTable(connection: connection).candidate(mark.grantID)
            ?? GrantCandidate(id: mark.grantID, account: nil)
    }

    /// All names of the account that a purchase names; empty if it names none.
    private func accounts(of purchase: PurchaseKey) throws(StorageError) -> [[UInt8]] {
        let holders = SubscriptionHolders(connection: connection)
        return try links.withLinked(holders.account(of: purchase.bytes).map { [$0] } ?? [])
    }

    /// The customers that have a purchase, and the same customers' other names.
    private func customers(of purchase: [UInt8]) throws(StorageError) -> [[UInt8]] {
        try links.withLinked(purchases.customers.customers(of: purchase))
    }
}

extension GrantTable {
    /// The key under which a Google Play offer that the catalog no longer has was granted, or its use was stored.
    func formerKey(
        of offer: GooglePlayOfferPath,
        boughtWith purchase: PurchaseKey,
        in packageName: PackageName
    ) throws(StorageError) -> Int64? {
        let granted = try IssuedGrantTable(connection: connection).formerKeys(
            .googlePlay,
            app: packageName.text,
            productID: offer.productID,
            basePlanID: offer.basePlanID,
            offerID: offer.offerID
        )
        if let key = granted.first { return key }
        let name = StoreRedemption.Name(offer)
        return try RedemptionRows(connection: connection).all(of: purchase.bytes)
            .first { $0.name == name && $0.app == packageName.text }?.offerKey
    }
}
