// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
import Storage

/// Under which account a chain of purchases appeared, and when.
package struct SubscriptionHolder: Hashable, Sendable {
    /// Where the name comes from; names of two kinds may be of one account, so only those of one kind are compared.
    package enum Kind: String, Hashable, Sendable {
        /// A trusted caller named the customer, as known or anonymous.
        case customer
        /// The purchase names the account.
        case account
    }

    package let chain: ChainKey
    package let kind: Kind
    /// The key of the customer's pseudonym, 16 bytes.
    package let subject: [UInt8]
    /// When it was bought under that name; `nil` of what a caller says, which holds from when it is said.
    package let since: Timestamp?

    package init(chain: ChainKey, kind: Kind, subject: [UInt8], since: Timestamp?) {
        self.chain = chain
        self.kind = kind
        self.subject = subject
        self.since = since
    }
}

/// Who has each chain now, one of each kind of name; used by one thread, inside an open transaction.
struct SubscriptionHolders {
    /// Who had a chain before.
    enum Earlier {
        case none, same
        /// Somebody else, who bought later than what tells of the holder.
        case later
        /// Somebody else, until now.
        case other([UInt8])
    }

    private let connection: any DatabaseConnection

    init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// Makes this the holder of its chain, unless a later purchase names another; says who was before.
    ///
    /// The order in which purchases are told of makes no difference to who it is in the end.
    func replace(with holder: SubscriptionHolder, at now: Timestamp) throws(StorageError) -> Earlier {
        let since = holder.since ?? now
        guard let current = try current(of: holder.chain, holder.kind) else {
            try set(holder, since: since)
            return .none
        }
        if current.subject == holder.subject {
            if holder.since != nil, since > current.since { try set(holder, since: since) }
            return .same
        }
        let isLater = since > current.since || since == current.since && isFirst(current.subject, holder.subject)
        guard holder.since == nil || isLater else { return .later }
        try set(holder, since: since)
        return .other(current.subject)
    }

    private func isFirst(_ one: [UInt8], _ other: [UInt8]) -> Bool { one.lexicographicallyPrecedes(other) }

    private func current(
        of chain: ChainKey,
        _ kind: SubscriptionHolder.Kind
    ) throws(StorageError) -> (subject: [UInt8], since: Timestamp)? {
        try connection.first(
            SQL(
                "SELECT subject, since FROM subscription_holders WHERE chain = ? AND kind = ?",
                .blob(chain.bytes),
                .text(kind.rawValue)
            )
        ) { (subject: $0.blob(0), since: Timestamp(milliseconds: $0.integer(1))) }
    }

    private func set(_ holder: SubscriptionHolder, since: Timestamp) throws(StorageError) {
        try connection.run(
            SQL(
                """
                INSERT INTO subscription_holders (chain, kind, subject, since) VALUES (?, ?, ?, ?)
                ON CONFLICT (chain, kind) DO UPDATE SET subject = excluded.subject, since = excluded.since
                """,
                .blob(holder.chain.bytes),
                .text(holder.kind.rawValue),
                .blob(holder.subject),
                .integer(since.milliseconds)
            )
        )
    }
}
