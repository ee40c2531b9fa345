// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain
package import Storage

/// The uses of promotional offers that evidence of the App Store shows, in the chains of one app or of all.
package struct AppStoreRedemptions: RedemptionSource {
    private let chains: ChainTable
    private let grants: GrantTable
    private let links: CustomerLinks
    private let bundleID: BundleID?
    /// The offer that was used; `nil` if the catalog has none of that name.
    private let offer: (StoreRedemption) -> CatalogOffer?
    private var connection: any DatabaseConnection { grants.connection }
    private var issued: IssuedGrantTable { IssuedGrantTable(connection: connection) }

    /// Those of one app.
    init(_ grants: GrantTable, links: CustomerLinks, of bundleID: BundleID, _ catalog: Catalog) {
        self.init(grants, links: links, of: bundleID) { catalog.appStoreOffer(of: $0, in: bundleID) }
    }

    /// Those of all apps of the catalog: a chain is stored without its app, and a product ID belongs to one app only.
    package init(_ grants: GrantTable, links: CustomerLinks, ofAll catalog: Catalog) {
        self.init(grants, links: links, of: nil) { use in
            catalog.apps.keys.lazy.compactMap { catalog.appStoreOffer(of: use, in: $0) }.first
        }
    }

    private init(
        _ grants: GrantTable,
        links: CustomerLinks,
        of bundleID: BundleID?,
        offer: @escaping (StoreRedemption) -> CatalogOffer?
    ) {
        (self.grants, self.links, self.bundleID, self.offer) = (grants, links, bundleID, offer)
        chains = ChainTable(connection: grants.connection)
    }

    package var app: String { bundleID?.text ?? "" }

    package func subscriptions() throws(StorageError) -> [[UInt8]] {
        try chains.all().map(\.bytes)
    }

    package func neighbours(of chain: [UInt8]) throws(StorageError) -> [[UInt8]] {
        var neighbours: [[UInt8]] = []
        for customer in try subjects(of: chain) { neighbours += try chains.subscriptions(of: customer).map(\.bytes) }
        return neighbours
    }

    package func claimants(of grant: UniqueID) -> [[UInt8]] { [] }

    package func isSure(_ matched: MatchedRedemption) -> Bool { true }

    /// The customers that have a chain, and the same customers' other names.
    package func subjects(of chain: [UInt8]) throws(StorageError) -> [[UInt8]] {
        try links.withLinked(chains.customers.subjects(of: chain))
    }

    /// The grants of an offer to the customers of a chain.
    func grants(of offer: CatalogOffer, to chain: ChainKey) throws(StorageError) -> Set<GrantCandidate> {
        try grants.candidates(of: [chain.bytes] + subjects(of: chain.bytes), offerKey: offer.ledgerKey)
    }

    package func candidates(of key: [UInt8]) throws(StorageError) -> [RedemptionCandidate] {
        let chain = ChainKey(key)
        guard let known = try chains.record(of: chain), let observedAt = known.observedAt else { return [] }
        let subjects = try [key] + subjects(of: key)
        let forgottenUntil = try SecretVersionTable(connection: connection).forgottenUntil()
        var candidates: [RedemptionCandidate] = []
        for redemption in known.redemptions(chain: chain, at: observedAt) {
            if let forgottenUntil {
                if redemption.redeemedAt < forgottenUntil || known.mayHaveBegunEarlier(redemption) { continue }
            }
            candidates.append(try candidate(asFirstReported(redemption), subjects))
        }
        return candidates
    }

    private func candidate(
        _ redemption: Redemption,
        _ subjects: [[UInt8]]
    ) throws(StorageError) -> RedemptionCandidate {
        let use = StoreRedemption(redemption, of: bundleID)
        var keys = offer(use).map { [$0.ledgerKey] } ?? []
        if keys.isEmpty { keys = try formerKeys(of: use) }
        var found: Set<GrantCandidate> = []
        for key in keys { found.formUnion(try grants.candidates(of: subjects, offerKey: key)) }
        let account = (redemption.account?.bytes).map { [$0] } ?? []
        let earliest = redemption.redeemedAt.adding(hours: -Store.appStore.longestDelayHours)
        return RedemptionCandidate(
            use: use,
            accounts: try links.withLinked(account),
            grants: found,
            // A renewal with an offer may come much later than a purchase, so it has no limit.
            earliestGrant: redemption.wasBought == true ? earliest : nil,
            isEarlier: try CatalogNameTable(connection: connection).isEarlier(
                redemption.redeemedAt,
                than: .appStore(productID: use.name.productID, offerID: use.name.offerID)
            )
        )
    }

    /// A pending redemption with the time of its first report, which the ledger keeps.
    ///
    /// The store signs the same redemption many times. Without this, each copy would be news, an app could make any
    /// number of them, and the grant would be matched to the time of the newest copy.
    private func asFirstReported(_ redemption: Redemption) throws(StorageError) -> Redemption {
        guard redemption.state == .pending else { return redemption }
        let name = StoreRedemption(redemption, of: bundleID).name
        let rows = try RedemptionRows(connection: connection).all(of: redemption.key.chain.bytes)
        guard let first = rows.first(where: { $0.name == name }) else { return redemption }
        return redemption.redeemed(at: min(Timestamp(milliseconds: first.redeemedAt), redemption.redeemedAt))
    }

    /// The keys under which an offer was granted whose name the catalog no longer has.
    ///
    /// Keys of other apps find no grant: pseudonyms differ between apps.
    private func formerKeys(of use: StoreRedemption) throws(StorageError) -> [Int64] {
        if use.name.offerID.isEmpty { return [] }
        return try issued.formerKeys(.appStore, productID: use.name.productID, offerID: use.name.offerID)
    }
}
