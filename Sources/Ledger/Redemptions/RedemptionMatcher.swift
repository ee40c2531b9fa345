// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
package import Storage

/// Reads uses from one store's evidence, and the grants that each may come from; inside an open transaction.
package protocol RedemptionSource {
    /// The app of the uses; empty if they are of all apps.
    var app: String { get }

    /// Every subscription with evidence.
    func subscriptions() throws(StorageError) -> [[UInt8]]

    /// The subscriptions whose uses may come from the same grants as the uses of this one.
    func neighbours(of subscription: [UInt8]) throws(StorageError) -> [[UInt8]]

    /// The uses of a subscription, and the grants that each may come from.
    func candidates(of subscription: [UInt8]) throws(StorageError) -> [RedemptionCandidate]

    /// The subscriptions that claim the grant by themselves.
    func claimants(of grant: UniqueID) throws(StorageError) -> [[UInt8]]

    /// The subjects under which the grants for a subscription count.
    func subjects(of subscription: [UInt8]) throws(StorageError) -> [[UInt8]]

    /// Whether a use certainly came from its grant: for an unsure match, a better one may be found later.
    func isSure(_ matched: MatchedRedemption) -> Bool
}

/// A use of an offer, and its customer's grants of that offer.
package struct RedemptionCandidate {
    let use: StoreRedemption
    /// The offer's key in the ledger, at Google Play.
    var offerKey: Int64?
    /// The grant that its mark names, if this service made the mark, for that offer.
    var marked: GrantCandidate?
    /// All names of the account that the purchase names; empty if it names none.
    let accounts: [[UInt8]]
    let grants: Set<GrantCandidate>
    /// Earlier grants never match; `nil` if there is no such limit.
    let earliestGrant: Timestamp?
    /// Whether no grant can be expected: the use is older than this ledger, or than the offer's entry in the catalog.
    let isEarlier: Bool

    fileprivate func isInTime(_ grant: GrantCandidate) -> Bool {
        earliestGrant.map { grant.id.timestamp >= $0 } ?? true
    }

    fileprivate func matched(_ found: (grant: GrantCandidate, way: MatchedRedemption.Way)?) -> MatchedRedemption {
        guard let (grant, way) = found else {
            return MatchedRedemption(use, offerKey: offerKey, isEarlier ? .earlier : .ungranted)
        }
        let match: RedemptionMatch = grant.isOfOther(than: accounts) ? .otherAccount : .granted
        return MatchedRedemption(use, offerKey: offerKey, match, grant: (grant.id, way))
    }
}

/// Finds which use of an offer came from which grant, without changing anything.
///
/// A grant matches at most one use. Uses with a mark are matched first, then uses whose account has a grant, then uses
/// with only another account's grant left. Each time, the oldest use comes first.
struct RedemptionMatcher {
    let rows: RedemptionRows

    /// The most subscriptions that are matched together.
    private static let mostSubscriptions = 256

    /// All subscriptions that may use the same grants as the changed ones, and all their uses, the oldest first.
    func matched(
        _ changed: some Sequence<[UInt8]>,
        _ source: some RedemptionSource
    ) throws(StorageError) -> (subscriptions: [[UInt8]], uses: [MatchedRedemption]) {
        var reached = Reached<[UInt8]>(limit: Self.mostSubscriptions)
        reached.add(changed.sorted { $0.lexicographicallyPrecedes($1) })
        var candidates: [RedemptionCandidate] = []
        while let subscription = reached.next() {
            reached.add(try source.neighbours(of: subscription))
            for candidate in try source.candidates(of: subscription) {
                for grant in Set(candidate.grants.map(\.id) + (candidate.marked.map { [$0.id] } ?? [])).sorted() {
                    reached.add(try source.claimants(of: grant))
                    reached.add(try rows.subscriptions(matchedTo: grant))
                }
                candidates.append(candidate)
            }
        }
        return (reached.all, Self.match(candidates.sorted { $0.use.isBefore($1.use) }))
    }

    private static func match(_ candidates: [RedemptionCandidate]) -> [MatchedRedemption] {
        var found: [Int: (grant: GrantCandidate, way: MatchedRedemption.Way)] = [:]
        var taken: Set<UniqueID> = []
        for (place, candidate) in candidates.enumerated() {
            guard let grant = candidate.marked, candidate.isInTime(grant), taken.insert(grant.id).inserted
            else { continue }
            found[place] = (grant, .mark)
        }
        for isOfOther in [false, true] {
            for (place, candidate) in candidates.enumerated() where found[place] == nil {
                let free = candidate.grants.filter { grant in
                    !taken.contains(grant.id) && candidate.isInTime(grant)
                        && grant.isOfOther(than: candidate.accounts) == isOfOther
                }
                guard let grant = free.nearest(to: candidate.use.redeemedAt) else { continue }
                taken.insert(grant.id)
                found[place] = (grant, .customer)
            }
        }
        return candidates.enumerated().map { place, candidate in candidate.matched(found[place]) }
    }
}
