// SPDX-License-Identifier: Apache-2.0
import Configuration
package import OfferDomain
package import Storage

/// What the ledger keeps of the App Store's evidence: chains of purchases, and which customer has which.
///
/// Each report is merged into the stored data part by part, so order and duplicates do not matter. Used by one thread,
/// inside an open transaction.
package struct SubscriptionTables {
    let connection: any DatabaseConnection

    var customers: SubscriptionCustomers { SubscriptionCustomers(store: .appStore, connection: connection) }

    /// How many chains are ever looked at together: more than any customer has, and few enough for one transaction.
    package static let mostChains = 256

    package init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    // MARK: - Reading

    /// The history of the customers with these names, of the given chains, and of the store accounts that have them.
    ///
    /// `subjects` are pseudonym keys of customers, and of any transaction of theirs. If there are more than
    /// ``mostChains``, for example under a name that an app gives to all users, only the given chains are returned.
    package func history(
        of subjects: [[UInt8]],
        chains: some Sequence<ChainKey>
    ) throws(StorageError) -> SubscriptionHistory {
        let named = Set(chains)
        var history = SubscriptionHistory()
        let keys = try reached(from: named, subjects, &history)
        history.isCutShort = keys.count > Self.mostChains
        for key in history.isCutShort ? named : keys { try add(key, to: &history) }
        return history
    }

    /// Some of the chains, and more than ``mostChains``, if there are that many; adds the links between them.
    private func reached(
        from named: Set<ChainKey>,
        _ subjects: [[UInt8]],
        _ history: inout SubscriptionHistory
    ) throws(StorageError) -> Set<ChainKey> {
        var keys = named
        for subject in subjects {
            keys.formUnion(try chains(of: subject) + chains(ofTransaction: subject))
        }
        // Links are followed to their end; a customer leads to chains, and no chain from there to other customers.
        var (waiting, asked) = (Array(keys), keys)
        while let chain = waiting.popLast(), keys.count <= Self.mostChains {
            // Each may be there twice.
            for (key, isLinked) in try customers.siblings(of: chain.bytes, limit: 2 * (Self.mostChains + 1)) {
                let sibling = ChainKey(key)
                keys.insert(sibling)
                guard isLinked else { continue }
                history.link(chain, sibling)
                if asked.insert(sibling).inserted { waiting.append(sibling) }
            }
        }
        return keys
    }

    /// Whether one of the chains has one of these names, or a transaction of that name.
    package func hasChain(
        of subjects: [[UInt8]],
        among history: SubscriptionHistory
    ) throws(StorageError) -> Bool {
        for subject in subjects {
            let keys = try chains(of: subject) + chains(ofTransaction: subject)
            if keys.contains(where: { history.chains[$0] != nil }) { return true }
        }
        return false
    }

    /// At most one more than ``mostChains``.
    func chains(of subject: [UInt8]) throws(StorageError) -> [ChainKey] {
        try customers.subscriptions(of: subject, limit: Self.mostChains + 1).map(ChainKey.init)
    }

    /// Every chain with a stored purchase.
    func chainsWithPurchases() throws(StorageError) -> [ChainKey] {
        try connection.all(SQL("SELECT DISTINCT chain FROM app_store_transactions ORDER BY chain")) {
            ChainKey($0.blob(0))
        }
    }

    private func chains(ofTransaction key: [UInt8]) throws(StorageError) -> [ChainKey] {
        try connection.all(SQL("SELECT chain FROM app_store_transactions WHERE transaction_key = ?", .blob(key))) {
            ChainKey($0.blob(0))
        }
    }

    private func add(_ key: ChainKey, to history: inout SubscriptionHistory) throws(StorageError) {
        guard let row = try chain(key) else { return }
        history.chains[key] = row.chain
        history.statusesReadAt = [history.statusesReadAt, row.statusesReadAt].compactMap(\.self).max()
        history.historyReadAt = [history.historyReadAt, row.chain.historyCompleteAt].compactMap(\.self).max()
    }

    /// One chain as it is kept; `nil` if nothing is.
    func chain(_ key: ChainKey) throws(StorageError) -> (chain: SubscriptionChain, statusesReadAt: Timestamp?)? {
        var found: (chain: SubscriptionChain, statusesReadAt: Timestamp?)?
        // Unreadable data must not count as missing data.
        var isDamaged = false
        try connection.rows(
            SQL(
                """
                SELECT renewal, status, statuses_read_at, history_complete_at
                FROM app_store_chains WHERE chain = ?
                """,
                .blob(key.bytes)
            )
        ) { row in
            var chain = SubscriptionChain()
            chain.renewal = row.optionalText(0).flatMap(RenewalRecord.init(json:))
            chain.status = row.optionalText(1).flatMap(StatusRecord.init(json:))
            isDamaged =
                (chain.renewal == nil && row.optionalText(0) != nil)
                || (chain.status == nil && row.optionalText(1) != nil)
            chain.historyCompleteAt = row.optionalInteger(3).map(Timestamp.init(milliseconds:))
            found = (chain, row.optionalInteger(2).map(Timestamp.init(milliseconds:)))
        }
        guard found != nil else { return nil }
        try connection.rows(
            SQL("SELECT transaction_key, record FROM app_store_transactions WHERE chain = ?", .blob(key.bytes))
        ) { row in
            let record = TransactionRecord(json: row.text(1))
            isDamaged = isDamaged || record == nil
            found?.chain.transactions[TransactionKey(row.blob(0))] = record
        }
        guard !isDamaged else { throw .unexpectedValue(column: 0) }
        return found
    }

    // MARK: - Merging

    /// Adds what is new; returns the present state of chains that changed or have a new customer.
    package func merge(
        _ news: SubscriptionHistory,
        _ links: Set<SubscriptionLink>
    ) throws(StorageError) -> [ChainKey: SubscriptionChain] {
        var changed: [ChainKey: SubscriptionChain] = [:]
        for (key, chain) in news.chains {
            if let merged = try merge(chain, into: key, statusesReadAt: news.statusesReadAt) { changed[key] = merged }
        }
        for link in links where try customers.add(link) {
            let key = ChainKey(link.subscription)
            if changed[key] == nil { changed[key] = try chain(key)?.chain }
        }
        return changed
    }

    private func merge(
        _ news: SubscriptionChain,
        into key: ChainKey,
        statusesReadAt: Timestamp?
    ) throws(StorageError) -> SubscriptionChain? {
        let known = try chain(key)
        var merged = known?.chain ?? SubscriptionChain()
        merged.merge(news)
        let readAt = [known?.statusesReadAt, statusesReadAt].compactMap(\.self).max()
        guard known == nil || merged != known?.chain || readAt != known?.statusesReadAt else { return nil }
        try write(merged, key, statusesReadAt: readAt)
        for (transaction, record) in merged.transactions where known?.chain.transactions[transaction] != record {
            try write(record, transaction, of: key)
        }
        return merged
    }

    private func write(
        _ chain: SubscriptionChain,
        _ key: ChainKey,
        statusesReadAt: Timestamp?
    ) throws(StorageError) {
        let row: [SQLValue] = [
            .blob(key.bytes), SQLValue(chain.renewal?.json), SQLValue(chain.status?.json), SQLValue(statusesReadAt),
            SQLValue(chain.historyCompleteAt),
        ]
        try connection.insert(row, into: Self.chains)
    }

    private static let chains = Insertion(
        into: "app_store_chains",
        columns: "chain, renewal, status, statuses_read_at, history_complete_at",
        onConflict: .replaces(keyColumns: 1)
    )
    private static let transactions = Insertion(
        into: "app_store_transactions",
        columns: "chain, transaction_key, record",
        onConflict: .replaces(keyColumns: 2)
    )

    /// Puts this in the place of what is kept of a transaction.
    func write(
        _ record: TransactionRecord,
        _ transaction: TransactionKey,
        of chain: ChainKey
    ) throws(StorageError) {
        let row: [SQLValue] = [.blob(chain.bytes), .blob(transaction.bytes), .text(record.json)]
        try connection.insert(row, into: Self.transactions)
    }
}

extension SQLValue {
    package init(_ text: String?) { self = text.map(SQLValue.text) ?? .null }

    init(_ instant: Timestamp?) { self = instant.map { .integer($0.milliseconds) } ?? .null }
}
