// SPDX-License-Identifier: Apache-2.0
import Configuration
package import OfferDomain
package import Storage

/// What the ledger keeps of Google Play's purchases, and which customer has which.
///
/// Each report is merged into the stored data part by part, so order and duplicates do not matter. Used by one thread,
/// inside an open transaction.
package struct GooglePlayTables {
    let connection: any DatabaseConnection

    var customers: SubscriptionCustomers { SubscriptionCustomers(store: .googlePlay, connection: connection) }

    /// How many purchases are ever looked at together: more than any customer has, and few enough for one transaction.
    package static let mostPurchases = 256

    package init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    // MARK: - Reading

    /// The history of customers with these names and of the given purchases, with all purchases that replaced each
    /// other.
    ///
    /// `subjects` are pseudonym keys of customers. Other purchases of a given purchase's customers are included.
    /// Returns at most ``mostPurchases`` purchases.
    package func history(
        of subjects: [[UInt8]],
        purchases: some Sequence<PurchaseKey>
    ) throws(StorageError) -> GooglePlayHistory {
        var found = Reached<PurchaseKey>(limit: Self.mostPurchases)
        for purchase in Set(purchases).sorted() {
            found.add([purchase])
            for subject in try customers.subjects(of: purchase.bytes) { found.add(try self.purchases(of: subject)) }
        }
        for subject in subjects { found.add(try self.purchases(of: subject)) }
        while let purchase = found.next() { found.add(try linked(to: purchase)) }
        var history = GooglePlayHistory()
        for purchase in found.all { history.purchases[purchase] = try record(of: purchase) }
        return history
    }

    /// What is kept of a purchase; `nil` if nothing is.
    func record(of purchase: PurchaseKey) throws(StorageError) -> GooglePlayPurchaseRecord? {
        var record: GooglePlayPurchaseRecord?
        // Unreadable data must not count as missing data.
        var isDamaged = false
        try connection.rows(
            SQL("SELECT record FROM google_play_purchases WHERE purchase = ?", .blob(purchase.bytes))
        ) { row in
            record = GooglePlayPurchaseRecord(json: row.text(0))
            isDamaged = record == nil
        }
        guard !isDamaged else { throw .unexpectedValue(column: 0) }
        return record
    }

    func purchases(of subject: [UInt8]) throws(StorageError) -> [PurchaseKey] {
        try customers.subscriptions(of: subject, limit: Self.mostPurchases).map(PurchaseKey.init)
    }

    /// The purchases that this one replaced, and those that replaced it.
    func linked(to purchase: PurchaseKey) throws(StorageError) -> [PurchaseKey] {
        try keys(
            SQL(
                """
                SELECT predecessor FROM google_play_links WHERE purchase = ?
                UNION SELECT purchase FROM google_play_links WHERE predecessor = ? ORDER BY 1 LIMIT ?
                """,
                .blob(purchase.bytes),
                .blob(purchase.bytes),
                .integer(Int64(Self.mostPurchases))
            )
        )
    }

    /// The purchases that claim, by their mark, to come from a grant.
    func purchases(marked grantID: UniqueID) throws(StorageError) -> [PurchaseKey] {
        try keys(
            SQL(
                "SELECT purchase FROM google_play_purchases WHERE marked_grant = ? ORDER BY purchase LIMIT ?",
                .blob(grantID.bytes),
                .integer(Int64(Self.mostPurchases))
            )
        )
    }

    /// Every purchase that is kept.
    func allPurchases() throws(StorageError) -> [PurchaseKey] {
        try keys(SQL("SELECT purchase FROM google_play_purchases ORDER BY purchase"))
    }

    private func keys(_ sql: SQL) throws(StorageError) -> [PurchaseKey] {
        var keys: [PurchaseKey] = []
        try connection.rows(sql) { keys.append(PurchaseKey($0.blob(0))) }
        return keys
    }

    // MARK: - Merging

    /// Adds what is new; returns the purchases that changed or have a new customer.
    package func merge(_ report: GooglePlayPurchaseReport) throws(StorageError) -> Set<PurchaseKey> {
        var changed: Set<PurchaseKey> = []
        for (key, news) in report.history.purchases {
            let known = try record(of: key)
            var merged = known ?? GooglePlayPurchaseRecord()
            merged.merge(news)
            guard merged != known else { continue }
            try write(merged, key)
            for predecessor in merged.predecessors where known?.predecessors.contains(predecessor) != true {
                try add(predecessor, before: key)
            }
            changed.insert(key)
        }
        for link in report.links.union(report.accounts) where try customers.add(link) {
            changed.insert(PurchaseKey(link.subscription))
        }
        return changed
    }

    /// Puts this in the place of what is kept of a purchase.
    func write(_ record: GooglePlayPurchaseRecord, _ purchase: PurchaseKey) throws(StorageError) {
        let grantID = record.mark.flatMap(GrantMark.init)?.grantID
        let row: [SQLValue] = [
            .blob(purchase.bytes), .text(record.json), (grantID?.bytes).map(SQLValue.blob) ?? .null,
        ]
        try connection.insert(row, into: Self.purchases)
    }

    private static let purchases = Insertion(
        into: "google_play_purchases",
        columns: "purchase, record, marked_grant",
        onConflict: .replaces(keyColumns: 1)
    )
    private static let links = Insertion(
        into: "google_play_links",
        columns: "purchase, predecessor",
        onConflict: .keeps
    )

    private func add(_ predecessor: PurchaseKey, before purchase: PurchaseKey) throws(StorageError) {
        try connection.insert([.blob(purchase.bytes), .blob(predecessor.bytes)], into: Self.links)
    }
}

/// Visits linked chains, purchases or subscriptions, each once, up to `limit`.
struct Reached<Key: Hashable> {
    /// In the order in which they were reached.
    private(set) var all: [Key] = []
    private var known: Set<Key> = []
    private var position = 0
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    mutating func add(_ keys: some Sequence<Key>) {
        for key in keys where all.count < limit && known.insert(key).inserted { all.append(key) }
    }

    /// One that was not walked from yet.
    mutating func next() -> Key? {
        guard position < all.count else { return nil }
        defer { position += 1 }
        return all[position]
    }

    func contains(_ key: Key) -> Bool { known.contains(key) }
}
