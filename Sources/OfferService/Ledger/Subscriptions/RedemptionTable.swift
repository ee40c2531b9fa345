// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
package import Storage

/// The uses that customers made of promotional offers, each with the grant that it came from.
///
/// They are drawn anew from a chain whenever it changes, so the table follows the evidence and not the order in which
/// it came. Used by one thread, inside an open transaction.
package struct RedemptionTable {
    private let connection: any DatabaseConnection

    package init(connection: any DatabaseConnection) {
        self.connection = connection
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
        _ report: SubscriptionReport
    ) throws(StorageError) -> [Entry] {
        let known = try rows(of: key)
        let redemptions = chain.observedAt.map { chain.redemptions(chain: key, at: $0) } ?? []
        let entries = try matched(redemptions, key, report)
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
    private static func grant(for redemption: Redemption, among grants: [UniqueID]) -> UniqueID? {
        let (redeemedAt, latest) = (redemption.redeemedAt, redemption.redeemedAt.adding(minutes: 5))
        return grants.filter { $0.timestamp <= redeemedAt }.max { $0.timestamp < $1.timestamp }
            ?? grants.filter { $0.timestamp <= latest }.min { $0.timestamp < $1.timestamp }
    }

    /// Gives each redemption the grant that it came from, oldest first, and no grant to two.
    private func matched(
        _ redemptions: [Redemption],
        _ chain: ChainKey,
        _ report: SubscriptionReport
    ) throws(StorageError) -> [Entry] {
        guard !redemptions.isEmpty else { return [] }
        let subjects = try customers(of: chain) + [chain.bytes]
        var taken: Set<UniqueID> = []
        var entries: [Entry] = []
        for redemption in redemptions {
            var grants: [UniqueID] = []
            if let offer = report.catalog.offer(of: redemption, in: report.bundleID) {
                for subject in subjects { grants += try self.grants(to: subject, offer) }
            }
            let grant = Self.grant(for: redemption, among: grants.filter { !taken.contains($0) })
            if let grant { taken.insert(grant) }
            entries.append(Entry(redemption: redemption, grantID: grant))
        }
        return entries
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
