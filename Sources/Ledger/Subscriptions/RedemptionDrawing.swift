// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import Storage

/// Draws, from what the ledger holds and without changing it, which redemption came from which grant.
///
/// No grant is given to two: neither in one chain, nor in two chains of a customer. First come the redemptions whose
/// account has a grant, then those for which only another account's is left; each time the oldest first.
struct RedemptionDrawing {
    let subscriptions: SubscriptionTables
    let links: CustomerLinks
    let grants: GrantTable
    private var issued: IssuedGrantTable { IssuedGrantTable(connection: subscriptions.connection) }

    /// The chains that may have used the same grants as the changed ones, and all their redemptions.
    struct Drawn {
        let chains: [ChainKey]
        let entries: [RedemptionTable.Entry]
    }

    /// A redemption, and the grants of its offer that are its customer's.
    private struct Candidate {
        let redemption: Redemption
        /// All names of the account that the purchase names; empty if it names none.
        let accounts: [[UInt8]]
        let grants: Set<GrantCandidate>
        /// Whether no grant is to be expected.
        let isEarlier: Bool
    }

    func draw(
        _ changed: Set<ChainKey>,
        _ offer: (Redemption) -> CatalogOffer?
    ) throws(StorageError) -> Drawn {
        var reached = Reached<ChainKey>(limit: SubscriptionTables.mostChains)
        reached.add(changed.sorted())
        var candidates: [Candidate] = []
        while let chain = reached.next() {
            let customers = try customers(of: chain)
            for customer in customers { reached.add(try subscriptions.chainKeys(of: customer).sorted()) }
            for candidate in try self.candidates(chain, customers, offer) {
                reached.add(try holders(of: candidate.grants))
                candidates.append(candidate)
            }
        }
        candidates.sort { $0.redemption.isBefore($1.redemption) }
        return Drawn(chains: reached.all, entries: Self.entries(candidates))
    }

    /// The customers who have a chain, and those who are the same people under other names.
    func customers(of chain: ChainKey) throws(StorageError) -> [[UInt8]] {
        let subjects = try subscriptions.connection.all(
            SQL("SELECT subject FROM app_store_customers WHERE chain = ? ORDER BY subject", .blob(chain.bytes))
        ) { $0.blob(0) }
        return try subjects + links.linked(to: subjects)
    }

    private static func entries(_ candidates: [Candidate]) -> [RedemptionTable.Entry] {
        var matches: [RedemptionKey: (grantID: UniqueID, match: RedemptionMatch)] = [:]
        var taken: Set<UniqueID> = []
        for match in [RedemptionMatch.granted, .otherAccount] {
            for candidate in candidates where matches[candidate.redemption.key] == nil {
                let free = candidate.grants.filter { grant in
                    !taken.contains(grant.id)
                        && grant.isOfOther(than: candidate.accounts) == (match == .otherAccount)
                }
                guard let grant = candidate.redemption.grant(among: free) else { continue }
                taken.insert(grant.id)
                matches[candidate.redemption.key] = (grant.id, match)
            }
        }
        return candidates.map { candidate in
            let found = matches[candidate.redemption.key]
            return RedemptionTable.Entry(
                redemption: candidate.redemption,
                grantID: found?.grantID,
                match: found?.match ?? (candidate.isEarlier ? .earlier : .ungranted)
            )
        }
    }

    private func candidates(
        _ chain: ChainKey,
        _ customers: [[UInt8]],
        _ offer: (Redemption) -> CatalogOffer?
    ) throws(StorageError) -> [Candidate] {
        guard let known = try subscriptions.chain(chain)?.chain, let observedAt = known.observedAt else { return [] }
        var candidates: [Candidate] = []
        let forgottenUntil = try EpochTable(connection: subscriptions.connection).forgottenUntil()
        for redemption in known.redemptions(chain: chain, at: observedAt) {
            if let forgottenUntil {
                if redemption.redeemedAt < forgottenUntil || known.mayHaveBegunEarlier(redemption) { continue }
            }
            let redemption = try asFirstTold(redemption)
            var grants: Set<GrantCandidate> = []
            var keys = offer(redemption).map { [$0.ledgerKey] } ?? []
            if keys.isEmpty { keys = try formerKeys(of: redemption) }
            for key in keys {
                grants.formUnion(try self.grants.candidates(of: [chain.bytes] + customers, offerKey: key))
            }
            let account = (redemption.account?.bytes).map { [$0] } ?? []
            let accounts = try account + links.linked(to: account)
            candidates.append(
                Candidate(
                    redemption: redemption,
                    accounts: accounts,
                    grants: grants,
                    isEarlier: try isEarlier(redemption)
                )
            )
        }
        return candidates
    }

    /// Whether the redemption is older than the offer's entry in the catalog, or than this ledger.
    ///
    /// The ledger does not keep the app of a chain. A product ID belongs to one app.
    private func isEarlier(_ redemption: Redemption) throws(StorageError) -> Bool {
        try CatalogNameTable(connection: subscriptions.connection).isEarlier(
            redemption.redeemedAt,
            than: .appStore(productID: redemption.productID, offerID: redemption.offerID ?? "")
        )
    }

    /// A pending redemption with the instant at which the store first told of it, as the ledger keeps it.
    ///
    /// The store signs the same again and again. Without this each copy would be news, and an app could make as many as it
    /// likes; and the grant would be looked for as of the newest.
    private func asFirstTold(_ redemption: Redemption) throws(StorageError) -> Redemption {
        guard redemption.state == .pending else { return redemption }
        let told = try subscriptions.connection.first(
            SQL(
                """
                SELECT redeemed_at FROM app_store_redemptions
                WHERE chain = ? AND first_transaction = ? AND offer_id = ? AND product_id = ?
                """,
                .blob(redemption.key.chain.bytes),
                .blob([]),
                .text(redemption.offerID ?? ""),
                .text(redemption.productID)
            )
        ) { Timestamp(milliseconds: $0.integer(0)) }
        return told.map { redemption.told(at: min($0, redemption.redeemedAt)) } ?? redemption
    }

    /// Of a name that the catalog no longer has: under which keys it was granted.
    ///
    /// Those of other apps were granted to nobody who has the chain.
    private func formerKeys(of redemption: Redemption) throws(StorageError) -> [Int64] {
        guard let offerID = redemption.offerID else { return [] }
        return try issued.formerKeys(.appStore, productID: redemption.productID, offerID: offerID)
    }

    /// The chains that have one of the grants.
    private func holders(of grants: Set<GrantCandidate>) throws(StorageError) -> [ChainKey] {
        var holders: [ChainKey] = []
        for grant in grants.sorted(by: { $0.id < $1.id }) {
            try subscriptions.connection.rows(
                SQL("SELECT chain FROM app_store_redemptions WHERE grant_id = ? ORDER BY chain", .blob(grant.id.bytes))
            ) { holders.append(ChainKey($0.blob(0))) }
        }
        return holders
    }
}

extension Redemption {
    func isBefore(_ other: Redemption) -> Bool { (redeemedAt, key) < (other.redeemedAt, other.key) }

    /// A renewal that an offer was taken for may come much later than a purchase.
    fileprivate func grant(among grants: some Sequence<GrantCandidate>) -> GrantCandidate? {
        guard wasBought == true else { return grants.nearest(to: redeemedAt) }
        let earliest = redeemedAt.adding(hours: -Store.appStore.longestDelayHours)
        return grants.filter { $0.id.timestamp >= earliest }.nearest(to: redeemedAt)
    }
}
