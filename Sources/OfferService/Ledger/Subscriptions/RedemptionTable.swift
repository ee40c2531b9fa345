// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
package import Storage

/// The uses that customers made of promotional offers, each with the grant that it came from.
///
/// They are drawn anew from a chain whenever it changes, so the table follows the evidence and not the order in which
/// it came. Used by one thread, inside an open transaction.
package struct RedemptionTable {
    private let connection: any DatabaseConnection
    private let links: CustomerLinks

    /// Grants are looked for among those of the customers of a chain, and of whoever is linked to them.
    package init(connection: any DatabaseConnection, links: CustomerLinks) {
        self.connection = connection
        self.links = links
    }

    /// A redemption and what it was matched to.
    package struct Entry: Hashable, Sendable {
        package let redemption: Redemption
        /// `nil` if no grant of ours fits: it was made by somebody else's signature, or before this ledger.
        package let grantID: UniqueID?
    }

    /// Brings the rows of one chain up to what its evidence shows; answers those that are new or have changed.
    ///
    /// They are drawn as of the newest evidence and not as of now: when it arrived makes no difference.
    package func update(
        _ key: ChainKey,
        _ chain: SubscriptionChain,
        of bundleID: BundleID,
        _ catalog: Catalog
    ) throws(StorageError) -> [Entry] {
        let known = try rows(of: key)
        let redemptions = chain.observedAt.map { chain.redemptions(chain: key, at: $0) } ?? []
        let entries = try matched(redemptions, key) { catalog.offer(of: $0, in: bundleID) }
        let lines = entries.map { Line($0) }
        for line in known where !lines.contains(line) { try remove(line, of: key) }
        var changed: [Entry] = []
        for (entry, line) in zip(entries, lines) where !known.contains(line) {
            try insert(line, of: key)
            changed.append(entry)
        }
        return changed
    }

    // MARK: - Matching

    /// The last one before it; without any, the first of the five minutes after it, because the store's clock and ours
    /// need not agree to the second.
    private static func grant(for redemption: Redemption, among grants: Set<UniqueID>) -> UniqueID? {
        let (redeemedAt, latest) = (redemption.redeemedAt, redemption.redeemedAt.adding(minutes: 5))
        // Ids of one version begin with their time, so they are in its order.
        return grants.filter { $0.timestamp <= redeemedAt }.max() ?? grants.filter { $0.timestamp <= latest }.min()
    }

    /// Gives each redemption the grant that it came from, oldest first, and no grant to two.
    private func matched(
        _ redemptions: [Redemption],
        _ chain: ChainKey,
        _ offer: (Redemption) -> CatalogOffer?
    ) throws(StorageError) -> [Entry] {
        guard !redemptions.isEmpty else { return [] }
        let customers = try customers(of: chain)
        let subjects = try customers + links.linked(to: customers)
        var taken: Set<UniqueID> = []
        var entries: [Entry] = []
        for redemption in redemptions {
            var grant: UniqueID?
            if let offer = offer(redemption) {
                grant = try self.grant(for: redemption, of: offer, to: subjects, chain, taken)
            }
            if let grant { taken.insert(grant) }
            entries.append(Entry(redemption: redemption, grantID: grant))
        }
        return entries
    }

    /// A grant that was used for a chain counts for the chain from then on, whoever will have it.
    private func grant(
        for redemption: Redemption,
        of offer: CatalogOffer,
        to subjects: [[UInt8]],
        _ chain: ChainKey,
        _ taken: Set<UniqueID>
    ) throws(StorageError) -> UniqueID? {
        let ofChain = try grants(to: chain.bytes, offer)
        var subjectOfGrant: [UniqueID: [UInt8]] = [:]
        for subject in subjects {
            for id in try grants(to: subject, offer) { subjectOfGrant[id] = subject }
        }
        let candidates = Set(ofChain).union(subjectOfGrant.keys).subtracting(taken)
        let grant = Self.grant(for: redemption, among: candidates)
        if let grant, let subject = subjectOfGrant[grant], !ofChain.contains(grant) {
            try count(grant, of: subject, for: chain, offer)
        }
        return grant
    }

    private func count(
        _ grant: UniqueID,
        of subject: [UInt8],
        for chain: ChainKey,
        _ offer: CatalogOffer
    ) throws(StorageError) {
        try connection.run(
            SQL(
                """
                INSERT INTO grants (subject, offer_key, grant_id, entry_index)
                SELECT ?, offer_key, grant_id, entry_index FROM grants
                WHERE subject = ? AND offer_key = ? AND grant_id = ? ON CONFLICT DO NOTHING
                """,
                .blob(chain.bytes),
                .blob(subject),
                .integer(offer.ledgerKey),
                .blob(grant.bytes)
            )
        )
    }

    private func customers(of chain: ChainKey) throws(StorageError) -> [[UInt8]] {
        var subjects: [[UInt8]] = []
        try connection.rows(
            SQL("SELECT subject FROM app_store_customers WHERE chain = ? ORDER BY subject", .blob(chain.bytes))
        ) { subjects.append($0.blob(0)) }
        return subjects
    }

    private func grants(to subject: [UInt8], _ offer: CatalogOffer) throws(StorageError) -> [UniqueID] {
        var grants: [UniqueID] = []
        try connection.rows(
            SQL(
                "SELECT grant_id FROM grants WHERE subject = ? AND offer_key = ?",
                .blob(subject),
                .integer(offer.ledgerKey)
            )
        ) { row in
            if let id = UniqueID(bytes: row.blob(0)) { grants.append(id) }
        }
        return grants
    }

    // MARK: - Rows

    /// A row but for its chain.
    fileprivate struct Line: Hashable {
        let firstTransaction: [UInt8]
        let offerID: String
        let productID: String
        let state: String
        let redeemedAt: Int64
        let settledAt: Int64?
        let grantID: [UInt8]?
    }

    private func rows(of chain: ChainKey) throws(StorageError) -> [Line] {
        var lines: [Line] = []
        try connection.rows(
            SQL(
                """
                SELECT first_transaction, offer_id, product_id, state, redeemed_at, settled_at, grant_id
                FROM app_store_redemptions WHERE chain = ?
                """,
                .blob(chain.bytes)
            )
        ) { row in
            lines.append(
                Line(
                    firstTransaction: row.blob(0),
                    offerID: row.text(1),
                    productID: row.text(2),
                    state: row.text(3),
                    redeemedAt: row.integer(4),
                    settledAt: row.optionalInteger(5),
                    grantID: row.optionalBlob(6)
                )
            )
        }
        return lines
    }

    private func remove(_ line: Line, of chain: ChainKey) throws(StorageError) {
        try connection.run(
            SQL(
                "DELETE FROM app_store_redemptions WHERE chain = ? AND first_transaction = ?",
                .blob(chain.bytes),
                .blob(line.firstTransaction)
            )
        )
    }

    private func insert(_ line: Line, of chain: ChainKey) throws(StorageError) {
        try connection.run(
            SQL(
                """
                INSERT INTO app_store_redemptions
                    (chain, first_transaction, offer_id, product_id, state, redeemed_at, settled_at, grant_id)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
                .blob(chain.bytes),
                .blob(line.firstTransaction),
                .text(line.offerID),
                .text(line.productID),
                .text(line.state),
                .integer(line.redeemedAt),
                line.settledAt.map(SQLValue.integer) ?? .null,
                line.grantID.map(SQLValue.blob) ?? .null
            )
        )
    }
}

extension RedemptionTable.Line {
    fileprivate init(_ entry: RedemptionTable.Entry) {
        let redemption = entry.redemption
        self.init(
            firstTransaction: redemption.key.firstTransaction?.bytes ?? [],
            offerID: redemption.offerID ?? "",
            productID: redemption.productID,
            state: redemption.state.name,
            redeemedAt: redemption.redeemedAt.milliseconds,
            settledAt: redemption.state.settledAt?.milliseconds,
            grantID: entry.grantID?.bytes
        )
    }
}

extension Redemption.State {
    /// As rows, records and metrics name it.
    package var name: String {
        switch self {
        case .pending: "pending"
        case .redeemed: "redeemed"
        case .converted: "converted"
        case .notConverted: "notConverted"
        }
    }

    /// When it ended well or badly.
    package var settledAt: Timestamp? {
        switch self {
        case .pending, .redeemed: nil
        case .converted(let instant), .notConverted(let instant): instant
        }
    }
}

extension Catalog {
    /// The offer that was redeemed; `nil` if the catalogue has none of that name.
    fileprivate func offer(of redemption: Redemption, in bundleID: BundleID) -> CatalogOffer? {
        guard let offerID = redemption.offerID.flatMap({ try? OfferID($0) }) else { return nil }
        return storeOffer(offerID, boughtWith: redemption.productID, in: bundleID)
    }
}
