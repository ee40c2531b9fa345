// SPDX-License-Identifier: Apache-2.0
import Configuration
package import OfferDomain
package import Storage

/// The uses that customers made of offers at Google Play, each with the grant that it came from.
///
/// Play shows a developer-determined offer to every device, so a use without a grant is what this service is for to find.
/// The rows of all purchases that may have come from the same grants are drawn anew together whenever one of them
/// changes, so the table follows the evidence and not the order in which it came. Used by one thread, inside an open
/// transaction.
package struct GooglePlayRedemptionTable {
    private let tables: GooglePlayTables
    private let links: CustomerLinks
    private let grants: GrantTable
    private var issued: IssuedGrantTable { IssuedGrantTable(connection: tables.connection) }
    private var holders: SubscriptionHolders { SubscriptionHolders(connection: tables.connection) }
    private var connection: any DatabaseConnection { tables.connection }

    package init(_ tables: GooglePlayTables, links: CustomerLinks, _ grants: GrantTable) {
        self.tables = tables
        self.links = links
        self.grants = grants
    }

    /// A redemption and what it was matched to.
    package struct Entry: Hashable, Sendable {
        /// The use, as evidence shows it.
        package let redemption: GooglePlayRedemption
        /// The offer's key in the ledger.
        package let offerKey: Int64
        /// `nil` if no grant of ours fits: nobody was asked whether the customer may have the offer.
        package let match: Match?
        /// Whether the purchase names another account than that grant was given to.
        package let isOfOtherAccount: Bool
        /// Whether it is older than this ledger, or than the offer's entry in the catalog.
        package let isEarlier: Bool
        /// What the ledger had before; `nil` of a redemption that is new to it.
        var earlier: EarlierUse?
        /// Whether nothing is new but times, or what ties it to its grant.
        var isCorrection = false

        package init(
            redemption: GooglePlayRedemption,
            offerKey: Int64,
            match: Match?,
            isOfOtherAccount: Bool = false,
            isEarlier: Bool = false
        ) {
            self.redemption = redemption
            self.offerKey = offerKey
            self.match = match
            self.isOfOtherAccount = isOfOtherAccount
            self.isEarlier = isEarlier
        }

        /// How the use compares with grants, for metrics, records and reports.
        package var reconciliation: RedemptionMatch {
            guard match != nil else { return isEarlier ? .earlier : .ungranted }
            return isOfOtherAccount ? .otherAccount : .granted
        }

        /// Whether all that is new is that money was paid back.
        var isRefundAlone: Bool { earlier?.differsByRefund(redemption.refund, in: redemption.state.name) ?? false }
    }

    /// A grant, and what ties a redemption to it.
    package struct Match: Hashable, Sendable {
        /// The grant's ID.
        package let grantID: UniqueID
        /// What shows that the use came from it.
        package let way: Way

        package init(grantID: UniqueID, way: Way) {
            self.grantID = grantID
            self.way = way
        }

        /// What ties a use to a grant, the surest first.
        package enum Way: String, Sendable {
            /// The purchase carries the grant's mark.
            case mark
            /// The offer was granted to the same customer, or for the same chain of purchases, shortly before.
            case customer
        }
    }

    /// Brings the rows up to what the evidence shows; answers those that are new or have changed.
    package func update(
        _ changed: Set<PurchaseKey>,
        _ place: GooglePlayPlace
    ) throws(StorageError) -> [Entry] {
        var news: [Entry] = []
        let (purchases, entries) = try matched(changed, place)
        for purchase in purchases {
            let known = try lines(of: purchase)
            let current = entries.filter { $0.redemption.purchase == purchase }
            let lines = current.map { Line($0, place.app.packageName) }
            for line in known where !lines.contains(line) { try remove(line, of: purchase) }
            for (entry, line) in zip(current, lines) where !known.contains(line) {
                try insert(line, of: purchase)
                try count(entry)
                var entry = entry
                entry.earlier = known.first(where: line.isOfSameUse)?.earlier
                entry.isCorrection = entry.earlier == line.earlier
                news.append(entry)
            }
        }
        return news.sorted { $0.redemption.isBefore($1.redemption) }
    }

    /// Keeps which entry of the audit log tells of a redemption as it is now.
    package func note(_ entryIndex: Int64, of redemption: GooglePlayRedemption) throws(StorageError) {
        try connection.enqueue(
            SQL(
                """
                UPDATE google_play_redemptions SET entry_index = ?
                WHERE purchase = ? AND product_id = ? AND base_plan_id = ? AND offer_id = ?
                """,
                .integer(entryIndex),
                .blob(redemption.purchase.bytes),
                .text(redemption.offer.productID),
                .text(redemption.offer.basePlanID),
                .text(redemption.offer.offerID)
            )
        )
    }

    /// A grant that was used for a purchase counts for the purchase from then on, whoever will have it; only if it is
    /// sure which one it was, since another match may fit better tomorrow.
    private func count(_ entry: Entry) throws(StorageError) {
        guard let match = entry.match, match.way == .mark else { return }
        for subject in try subjects(of: entry.redemption.purchase) {
            try grants.settle(subject)
            grants.change(entry.redemption.purchase.bytes)
            let count = try connection.run(
                SQL(
                    """
                    INSERT INTO grants (subject, offer_key, grant_id, entry_index)
                    SELECT ?, offer_key, grant_id, entry_index FROM grants
                    WHERE subject = ? AND offer_key = ? AND grant_id = ? ON CONFLICT DO NOTHING
                    """,
                    .blob(entry.redemption.purchase.bytes),
                    .blob(subject),
                    .integer(entry.offerKey),
                    .blob(match.grantID.bytes)
                )
            )
            if count > 0 { return }
        }
    }

    /// What a full recomputation finds otherwise than it is kept, by purchases of one app.
    package func differences(_ place: GooglePlayPlace) throws(StorageError) -> (compared: Int, differing: [PurchaseKey])
    {
        var differing: [PurchaseKey] = []
        var seen: Set<PurchaseKey> = []
        var compared = 0
        for purchase in try tables.allPurchases() where !seen.contains(purchase) {
            let drawn = try matched([purchase], place)
            for purchase in drawn.purchases where seen.insert(purchase).inserted {
                let known = try lines(of: purchase)
                let ofApp = known.filter { $0.packageName == place.app.packageName.text }
                let entries = drawn.entries.filter { $0.redemption.purchase == purchase }
                // A purchase of another app has no redemption here, and rows of that app alone.
                let current = entries.map { Line($0, place.app.packageName) }
                compared += max(ofApp.count, current.count)
                if Set(ofApp) != Set(current) { differing.append(purchase) }
            }
        }
        return (compared, differing)
    }

    // MARK: - Matching

    /// A redemption of an offer of the catalog, and the grants of that offer that are its customer's.
    private struct Candidate {
        let redemption: GooglePlayRedemption
        let offerKey: Int64
        /// The grant that its mark names, if the mark is ours and of that offer.
        let marked: GrantCandidate?
        /// All names of the account that the purchase names; empty if it names none.
        let accounts: [[UInt8]]
        let grants: Set<GrantCandidate>
        /// Whether no grant is to be expected.
        let isEarlier: Bool

        /// Whether the grant was still good, however well everything else fits: an authorization that is kept is none.
        func isInTime(_ grant: GrantCandidate) -> Bool {
            grant.id.timestamp >= redemption.redeemedAt.adding(hours: -Store.googlePlay.longestDelayHours)
        }
    }

    /// Every redemption that may have come from the same grants, with no grant for two: first those with a mark, then
    /// those whose account has a grant, then the others, each time oldest first.
    private func matched(
        _ changed: Set<PurchaseKey>,
        _ place: GooglePlayPlace
    ) throws(StorageError) -> (purchases: [PurchaseKey], entries: [Entry]) {
        var reached = Reached<PurchaseKey>(limit: GooglePlayTables.mostPurchases)
        reached.add(changed.sorted())
        var candidates: [Candidate] = []
        while let purchase = reached.next() {
            reached.add(try neighbours(of: purchase))
            for candidate in try self.candidates(purchase, place) {
                reached.add(try holders(of: candidate))
                candidates.append(candidate)
            }
        }
        candidates.sort { $0.redemption.isBefore($1.redemption) }
        return (reached.all, Self.entries(candidates))
    }

    private static func entries(_ candidates: [Candidate]) -> [Entry] {
        var matches: [GooglePlayRedemption: (grant: GrantCandidate, way: Match.Way)] = [:]
        var taken: Set<UniqueID> = []
        for candidate in candidates {
            guard let grant = candidate.marked, candidate.isInTime(grant), taken.insert(grant.id).inserted
            else { continue }
            matches[candidate.redemption] = (grant, .mark)
        }
        for isOfOther in [false, true] {
            for candidate in candidates where matches[candidate.redemption] == nil {
                let free = candidate.grants.filter { grant in
                    !taken.contains(grant.id) && candidate.isInTime(grant)
                        && grant.isOfOther(than: candidate.accounts) == isOfOther
                }
                guard let grant = free.nearest(to: candidate.redemption.redeemedAt) else { continue }
                taken.insert(grant.id)
                matches[candidate.redemption] = (grant, .customer)
            }
        }
        return candidates.map { candidate in
            let match = matches[candidate.redemption]
            return Entry(
                redemption: candidate.redemption,
                offerKey: candidate.offerKey,
                match: match.map { Match(grantID: $0.grant.id, way: $0.way) },
                isOfOtherAccount: match?.grant.isOfOther(than: candidate.accounts) ?? false,
                isEarlier: candidate.isEarlier
            )
        }
    }

    /// Purchases whose redemptions may have come from the same grants as those of this one.
    private func neighbours(of purchase: PurchaseKey) throws(StorageError) -> [PurchaseKey] {
        var neighbours = try tables.linked(to: purchase)
        for subject in try customers(of: purchase) { neighbours += try tables.purchases(of: subject) }
        return neighbours
    }

    private func candidates(
        _ purchase: PurchaseKey,
        _ place: GooglePlayPlace
    ) throws(StorageError) -> [Candidate] {
        guard let record = try tables.record(of: purchase) else { return [] }
        var candidates: [Candidate] = []
        let forgottenUntil = try EpochTable(connection: tables.connection).forgottenUntil()
        for redemption in record.redemptions(purchase) {
            if let forgottenUntil, redemption.redeemedAt < forgottenUntil { continue }
            var key = place.offer(redemption.offer)?.ledgerKey
            if key == nil {
                key = try formerKey(of: redemption.offer, boughtWith: purchase, in: place.app.packageName)
            }
            guard let offer = key else { continue }
            let mark = redemption.mark.flatMap(GrantMark.init).flatMap {
                place.keys.isGenuine($0, for: offer) ? $0 : nil
            }
            candidates.append(
                Candidate(
                    redemption: redemption,
                    offerKey: offer,
                    // A genuine mark names a grant, even one that the ledger has lost or forgotten.
                    marked: try mark.map { mark throws(StorageError) in
                        try issued.candidate(mark.grantID) ?? GrantCandidate(id: mark.grantID, account: nil)
                    },
                    accounts: try accounts(of: purchase),
                    grants: try grants.candidates(of: try subjects(of: purchase), offerKey: offer),
                    isEarlier: try CatalogNameTable(connection: connection).isEarlier(
                        redemption.redeemedAt,
                        than: .googlePlay(redemption.offer, in: place.app.packageName)
                    )
                )
            )
        }
        return candidates
    }

    /// Of an offer that the catalog no longer has: the key under which it was granted, or its use was kept.
    func formerKey(
        of offer: GooglePlayOfferPath,
        boughtWith purchase: PurchaseKey,
        in packageName: PackageName
    ) throws(StorageError) -> Int64? {
        let granted = try issued.formerKeys(
            .googlePlay,
            app: packageName.text,
            productID: offer.productID,
            basePlanID: offer.basePlanID,
            offerID: offer.offerID
        )
        if let key = granted.first { return key }
        return try lines(of: purchase).first { $0.offer == offer && $0.packageName == packageName.text }?.offerKey
    }

    /// All names of the account that a purchase names; empty if it names none.
    private func accounts(of purchase: PurchaseKey) throws(StorageError) -> [[UInt8]] {
        let account = try holders.account(of: purchase.bytes).map { [$0] } ?? []
        return try account + links.linked(to: account)
    }

    /// Under what the grants for a purchase count: its customers, and every purchase of its chain.
    private func subjects(of purchase: PurchaseKey) throws(StorageError) -> [[UInt8]] {
        var chain = Reached<PurchaseKey>(limit: GooglePlayTables.mostPurchases)
        chain.add([purchase])
        while let next = chain.next() { chain.add(try tables.linked(to: next)) }
        return try customers(of: purchase) + chain.all.map(\.bytes)
    }

    /// The customers who have a purchase, and those who are the same people under other names.
    private func customers(of purchase: PurchaseKey) throws(StorageError) -> [[UInt8]] {
        let subjects = try tables.subjects(of: purchase)
        return try subjects + links.linked(to: subjects)
    }

    /// The purchases that have one of the grants that a redemption may have come from, or claim it.
    private func holders(of candidate: Candidate) throws(StorageError) -> [PurchaseKey] {
        var holders: [PurchaseKey] = []
        for grant in Set(candidate.grants.map(\.id) + (candidate.marked.map { [$0.id] } ?? [])).sorted() {
            holders += try tables.purchases(marked: grant)
            try connection.rows(
                SQL(
                    "SELECT purchase FROM google_play_redemptions WHERE grant_id = ? ORDER BY purchase",
                    .blob(grant.bytes)
                )
            ) { holders.append(PurchaseKey($0.blob(0))) }
        }
        return holders
    }

    // MARK: - Rows

    /// A row but for its purchase.
    fileprivate struct Line: Hashable {
        let offer: GooglePlayOfferPath
        let offerKey: Int64
        let state: String
        let redeemedAt: Int64
        let settledAt: Int64?
        let refundedAt: Int64?
        let refundedMillipercent: Int64?
        let grantID: [UInt8]?
        let matchedBy: String?
        let match: String
        let packageName: String
        let environment: String

        /// Whether the other line is of the same use, whatever came of it.
        func isOfSameUse(_ other: Line) -> Bool { offer == other.offer }

        var earlier: EarlierUse {
            EarlierUse(
                state: state,
                refundedAt: refundedAt,
                refundedMillipercent: refundedMillipercent,
                grantID: grantID,
                match: match
            )
        }
    }

    private func lines(of purchase: PurchaseKey) throws(StorageError) -> [Line] {
        var lines: [Line] = []
        try connection.rows(
            SQL(
                """
                SELECT product_id, base_plan_id, offer_id, offer_key, state, redeemed_at, settled_at, grant_id, matched_by,
                    matched_as, package_name, environment, refunded_at, refunded_millipercent
                FROM google_play_redemptions WHERE purchase = ?
                """,
                .blob(purchase.bytes)
            )
        ) { row in
            lines.append(
                Line(
                    offer: GooglePlayOfferPath(productID: row.text(0), basePlanID: row.text(1), offerID: row.text(2)),
                    offerKey: row.integer(3),
                    state: row.text(4),
                    redeemedAt: row.integer(5),
                    settledAt: row.optionalInteger(6),
                    refundedAt: row.optionalInteger(12),
                    refundedMillipercent: row.optionalInteger(13),
                    grantID: row.optionalBlob(7),
                    matchedBy: row.optionalText(8),
                    match: row.text(9),
                    packageName: row.text(10),
                    environment: row.text(11)
                )
            )
        }
        return lines
    }

    private func remove(_ line: Line, of purchase: PurchaseKey) throws(StorageError) {
        try connection.enqueue(
            SQL(
                """
                DELETE FROM google_play_redemptions
                WHERE purchase = ? AND product_id = ? AND base_plan_id = ? AND offer_id = ?
                """,
                .blob(purchase.bytes),
                .text(line.offer.productID),
                .text(line.offer.basePlanID),
                .text(line.offer.offerID)
            )
        )
    }

    private func insert(_ line: Line, of purchase: PurchaseKey) throws(StorageError) {
        let row: [SQLValue] = [
            .blob(purchase.bytes),
            .text(line.offer.productID),
            .text(line.offer.basePlanID),
            .text(line.offer.offerID),
            .integer(line.offerKey),
            .text(line.state),
            .integer(line.redeemedAt),
            line.settledAt.map(SQLValue.integer) ?? .null,
            line.grantID.map(SQLValue.blob) ?? .null,
            SQLValue(line.matchedBy),
            .text(line.match),
            .text(line.packageName),
            .text(line.environment),
            line.refundedAt.map(SQLValue.integer) ?? .null,
            line.refundedMillipercent.map(SQLValue.integer) ?? .null,
        ]
        try connection.insert(row, into: Self.insertion)
    }

    private static let insertion = Insertion(
        into: "google_play_redemptions",
        columns: """
            purchase, product_id, base_plan_id, offer_id, offer_key, state, redeemed_at, settled_at, grant_id,
            matched_by, matched_as, package_name, environment, refunded_at, refunded_millipercent
            """
    )
}

extension GooglePlayRedemptionTable.Line {
    fileprivate init(_ entry: GooglePlayRedemptionTable.Entry, _ packageName: PackageName) {
        let redemption = entry.redemption
        self.init(
            offer: redemption.offer,
            offerKey: entry.offerKey,
            state: redemption.state.name,
            redeemedAt: redemption.redeemedAt.milliseconds,
            settledAt: redemption.state.settledAt?.milliseconds,
            refundedAt: redemption.refund?.at.milliseconds,
            refundedMillipercent: redemption.refund?.millipercent.map(Int64.init),
            grantID: entry.match?.grantID.bytes,
            matchedBy: entry.match?.way.rawValue,
            match: entry.reconciliation.rawValue,
            packageName: packageName.text,
            environment: redemption.environment.rawValue
        )
    }
}

extension GooglePlayRedemption {
    fileprivate func isBefore(_ other: GooglePlayRedemption) -> Bool {
        (redeemedAt, purchase, offer) < (other.redeemedAt, other.purchase, other.offer)
    }
}
