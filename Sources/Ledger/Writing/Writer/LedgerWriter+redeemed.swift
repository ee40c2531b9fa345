// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import Storage

// Caps that count redemptions. Nothing is kept for them: what counts follows from grants, uses and notifications.

/// An offer under one of its keys in the ledger, and what the store calls it.
struct CountedOffer {
    let listing: StoreListing
    let key: Int64
}

extension CatalogOffer {
    /// This offer, and if a cap counts the other store's grants, the same entry there.
    var counted: [CountedOffer] {
        var counted = [CountedOffer(listing: listing, key: ledgerKey)]
        if needs.otherStore, let otherListing, let otherStoreKey {
            counted.append(CountedOffer(listing: otherListing, key: otherStoreKey))
        }
        return counted
    }
}

extension LedgerWriter {
    /// Which of the grants of a history were redeemed, or still may be.
    func redeemable(
        _ request: DecisionRequest,
        _ known: KnownCustomer,
        among history: GrantHistory
    ) throws(LedgerError) -> RedeemableGrants {
        var redeemable = RedeemableGrants()
        func counted(of subjects: [[UInt8]], _ offer: CountedOffer) throws(LedgerError) -> [CountedGrant] {
            try self.counted(grantIDs(of: subjects, offer.key), of: offer, for: request, known.subscriptions)
        }
        let offers = request.offer.counted
        if !history.byCustomer.isEmpty {
            redeemable.byCustomer = try counted(of: customerSubjects(request, known), offers[0])
        }
        if !history.byCustomerInOtherStore.isEmpty, let other = offers.dropFirst().first {
            redeemable.byCustomerInOtherStore = try counted(of: customerSubjects(request, known), other)
        }
        if !history.byOriginalTransaction.isEmpty {
            let subjects = request.subscriptions(with: known.subscriptions)
            redeemable.byOriginalTransaction = try counted(of: subjects, offers[0])
        }
        return redeemable
    }

    /// The grants that were redeemed or still may be, each once, in the order of time.
    ///
    /// A grant is released once a purchase with it would come too late, if its store has since reported on the app and
    /// showed no use of the grant. It is kept if a use could not be known, or could not be matched to it.
    func counted(
        _ grants: [UniqueID],
        of offer: CountedOffer,
        for request: DecisionRequest,
        _ subscriptions: [[UInt8]]
    ) throws(LedgerError) -> [CountedGrant] {
        if grants.isEmpty { return [] }
        let grants = Set(grants).sorted()
        let redeemed = try redeemed(grants)
        guard redeemed.count < grants.count, let reports = try reports(of: offer.listing) else {
            return grants.map { CountedGrant(grantedAt: $0.timestamp) }
        }
        var counted: [CountedGrant] = []
        for grant in grants {
            let granted = grant.timestamp
            let end = granted.adding(hours: offer.listing.store.longestDelayHours)
            var mayBeReleased = !redeemed.contains(grant) && reports.lowerBound <= granted
            if mayBeReleased { mayBeReleased = try isMatchable(grant, of: offer, for: request, subscriptions) }
            if !mayBeReleased || end <= request.receivedAt && reports.upperBound < end {
                counted.append(CountedGrant(grantedAt: granted))
            } else if end > request.receivedAt {
                counted.append(CountedGrant(grantedAt: granted, releasedAt: end))
            }
        }
        return counted
    }

    /// The grants with a known use, even if that is pending or was undone.
    private func redeemed(_ grants: [UniqueID]) throws(LedgerError) -> Set<UniqueID> {
        var redeemed: Set<UniqueID> = []
        let values: [[SQLValue]] = grants.map { [.blob($0.bytes)] }
        try database(
            connection.rows("SELECT state FROM redemptions WHERE grant_id = ?", forEach: values) { place, _ in
                redeemed.insert(grants[place])
            }
        )
        return redeemed
    }

    /// From when until when uses of an app's offers are known; `nil` if its store has reported nothing about it.
    ///
    /// Uses before the first notification may be missing, and uses before `forgotten_until` of a secret are forgotten.
    private func reports(of listing: StoreListing) throws(LedgerError) -> ClosedRange<Timestamp>? {
        let app = listing.appStore?.bundleID.text ?? listing.googlePlay?.packageName.text ?? ""
        let found = try database(
            connection.first(
                SQL(
                    """
                    SELECT first_report_at, last_report_at, (SELECT max(forgotten_until) FROM secret_versions)
                    FROM notified_apps WHERE store = ? AND store_app = ?
                    """,
                    .text(listing.store.recordName),
                    .text(app)
                )
            ) { (first: max($0.integer(0), $0.optionalInteger(2) ?? .min), last: $0.integer(1)) }
        )
        guard let found, found.first <= found.last else { return nil }
        return Timestamp(milliseconds: found.first)...Timestamp(milliseconds: found.last)
    }

    /// Whether a purchase can be matched to the grant: by the account that the purchase names, or by its subscription.
    private func isMatchable(
        _ grant: UniqueID,
        of offer: CountedOffer,
        for request: DecisionRequest,
        _ subscriptions: [[UInt8]]
    ) throws(LedgerError) -> Bool {
        let account = try database(issued.candidate(grant)?.account)
        let named = request.names.filter { !$0.identity.namesCustomer }.map(\.pseudonym.ledgerKey)
        let subjects = (account.map { [$0] } ?? []) + named + subscriptions
        return try grantIDs(of: subjects, offer.key).contains(grant)
    }
}
