// SPDX-License-Identifier: Apache-2.0
package import OfferDomain
import Storage

/// The account under which a subscription appeared, and when.
package struct SubscriptionHolder: Hashable, Sendable {
    /// Where the name comes from; only names of one kind are compared, because two kinds may name the same account.
    package enum Kind: String, Hashable, Sendable {
        /// A trusted caller named the customer, as known or anonymous.
        case customer
        /// The purchase names the account.
        case account
    }

    /// The key of a chain of the App Store, or of a purchase at Google Play.
    package let subscription: [UInt8]
    /// The purchases that this one replaced, where a subscription has several.
    package let predecessors: [[UInt8]]
    /// Where the name comes from.
    package let kind: Kind
    /// The key of the customer's pseudonym.
    package let subject: [UInt8]
    /// When it was bought under that name; `nil` for a caller's statement, which holds from the time of the statement.
    package let since: Timestamp?

    package init(
        subscription: [UInt8],
        predecessors: [[UInt8]] = [],
        kind: Kind,
        subject: [UInt8],
        since: Timestamp?
    ) {
        self.subscription = subscription
        self.predecessors = predecessors
        self.kind = kind
        self.subject = subject
        self.since = since
    }
}

extension SubscriptionHolder {
    /// The same under another key.
    func named(_ subject: [UInt8]) -> SubscriptionHolder {
        SubscriptionHolder(
            subscription: subscription,
            predecessors: predecessors,
            kind: kind,
            subject: subject,
            since: since
        )
    }
}

/// The present holders of each subscription, one for each kind of name; used by one thread in an open transaction.
struct SubscriptionHolders {
    /// The earlier holder of a subscription.
    enum Earlier {
        case none, same
        /// Another holder, who bought later than the holder that is to be set.
        case later
        /// Another holder, until now; that one bought the subscription itself, or the subscription that it replaced.
        case other([UInt8], of: [UInt8])
    }

    private let connection: any DatabaseConnection

    init(connection: any DatabaseConnection) {
        self.connection = connection
    }

    /// Makes this the holder of its subscription, unless a later purchase names another; returns the earlier holder.
    ///
    /// The final holder does not depend on the order in which purchases are reported.
    func replace(with holder: SubscriptionHolder, at now: Timestamp) throws(StorageError) -> Earlier {
        let since = holder.since ?? now
        guard let current = try current(of: holder.subscription, holder.kind) else {
            try set(holder, since: since)
            return try holderOfPredecessor(of: holder)
        }
        if current.subject == holder.subject {
            if holder.since != nil, since > current.since { try set(holder, since: since) }
            return .same
        }
        let isLater = since > current.since || since == current.since && isFirst(current.subject, holder.subject)
        guard holder.since == nil || isLater else { return .later }
        try set(holder, since: since)
        return .other(current.subject, of: holder.subscription)
    }

    /// The account that a purchase names; `nil` if it names none.
    func account(of subscription: [UInt8]) throws(StorageError) -> [UInt8]? {
        try current(of: subscription, .account)?.subject
    }

    /// The customer that a caller names as its buyer; `nil` if none was named.
    func customer(of subscription: [UInt8]) throws(StorageError) -> [UInt8]? {
        try current(of: subscription, .customer)?.subject
    }

    private func holderOfPredecessor(of holder: SubscriptionHolder) throws(StorageError) -> Earlier {
        for predecessor in holder.predecessors {
            guard let earlier = try current(of: predecessor, holder.kind) else { continue }
            return earlier.subject == holder.subject ? .same : .other(earlier.subject, of: predecessor)
        }
        return .none
    }

    private func isFirst(_ one: [UInt8], _ other: [UInt8]) -> Bool { one.lexicographicallyPrecedes(other) }

    private func current(
        of subscription: [UInt8],
        _ kind: SubscriptionHolder.Kind
    ) throws(StorageError) -> (subject: [UInt8], since: Timestamp)? {
        try connection.first(
            SQL(
                "SELECT subject, since FROM subscription_holders WHERE subscription = ? AND kind = ?",
                .blob(subscription),
                .text(kind.rawValue)
            )
        ) { (subject: $0.blob(0), since: Timestamp(milliseconds: $0.integer(1))) }
    }

    private func set(_ holder: SubscriptionHolder, since: Timestamp) throws(StorageError) {
        let row: [SQLValue] = [
            .blob(holder.subscription), .text(holder.kind.rawValue), .blob(holder.subject),
            .integer(since.milliseconds),
        ]
        try connection.insert(row, into: Self.insertion)
    }

    private static let insertion = Insertion(
        into: "subscription_holders",
        columns: "subscription, kind, subject, since",
        onConflict: .replaces(keyColumns: 2)
    )
}
