// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// What is asked of a reconciliation: a span of time, and how much of it.
package struct ReconciliationQuery: Hashable, Sendable {
    /// Not included in the span: ``until``.
    package let from: Timestamp
    /// The end of the span, which is not included.
    package let until: Timestamp
    /// Whose uses are looked at; what is granted is for both.
    package var environment: StoreEnvironment
    /// At most so many of each list.
    package var limit: Int
    /// Where each list goes on.
    package var position: Position

    /// How far each list was read; each has the newest first.
    package struct Position: Hashable, Sendable {
        /// Of ``ReconciliationReport/withoutRecord``.
        package var withoutRecord = Progress<Place>.start
        /// Of ``ReconciliationReport/byAnotherAccount``.
        package var byAnotherAccount = Progress<Place>.start
        /// Of ``ReconciliationReport/neverRedeemed``.
        package var neverRedeemed = Progress<UniqueID>.start

        package init() {}

        /// Whether every list was read to its end.
        package var isAtEnd: Bool {
            withoutRecord == .end && byAnotherAccount == .end && neverRedeemed == .end
        }
    }

    /// How far one list was read.
    package enum Progress<Place: Hashable & Sendable>: Hashable, Sendable {
        case start
        case after(Place)
        case end
    }

    /// The last that was listed.
    package struct Place: Hashable, Sendable {
        /// When the offer was used.
        package let redeemedAt: Timestamp
        /// The entry that records the use: it tells apart uses of the same time.
        package let entryIndex: Int64

        package init(redeemedAt: Timestamp, entryIndex: Int64) {
            self.redeemedAt = redeemedAt
            self.entryIndex = entryIndex
        }
    }

    /// How long a span is if nothing else is asked for.
    package static let usualDays = 30

    /// By default, the first page of production with at most 100 of each list.
    package init(
        from: Timestamp,
        until: Timestamp,
        environment: StoreEnvironment = .production,
        limit: Int = 100,
        position: Position = Position()
    ) {
        self.from = from
        self.until = until
        self.environment = environment
        self.limit = limit
        self.position = position
    }
}

extension ReconciliationQuery {
    /// What is asked for, as it is recorded.
    package var conditions: [AuditCondition] {
        [
            AuditCondition("from", from.rfc3339), AuditCondition("until", until.rfc3339),
            AuditCondition("environment", environment.rawValue),
        ]
    }
}

/// What the stores told, compared with what is on record.
package struct ReconciliationReport: Hashable, Sendable {
    /// A store, and an app as it calls it.
    package struct AppInStore: Hashable, Sendable {
        /// `app-store` or `google-play`.
        package let store: String
        /// The bundle ID or the package name.
        package let app: String
    }

    /// A use of an offer that a store told of.
    package struct Use: Hashable, Sendable {
        /// The store, and the app as it calls it.
        package let place: AppInStore
        /// The store's ID of the product.
        package let productID: String
        /// The base plan at Google Play; `nil` in the App Store.
        package let basePlanID: String?
        /// The store's ID of the offer.
        package let offerID: String
        /// As in the audit log.
        package let state: String
        /// When the customer used the offer, as the store says.
        package let redeemedAt: Timestamp
        /// The key of the chain, or of the purchase.
        package let subscription: [UInt8]
        /// The grant that it came from; `nil` if none fits.
        package let grantID: UniqueID?
        /// The entry that records it.
        package let entryIndex: Int64
        /// The first entry of the grant; `nil` without a grant, and for one that the ledger has lost or forgotten.
        package let grantEntryIndex: Int64?
        /// The key of the account that the grant was given to.
        package let grantedTo: [UInt8]?
    }

    /// A grant that nobody used, as far as the store tells.
    package struct Grant: Hashable, Sendable {
        /// The store, and the app as it calls it.
        package let place: AppInStore
        /// The store's ID of the product.
        package let productID: String
        /// The base plan at Google Play; `nil` in the App Store.
        package let basePlanID: String?
        /// The store's ID of the offer.
        package let offerID: String
        /// The team's own name of the offer.
        package let rule: String
        /// The ID of the grant, which is that of its request.
        package let grantID: UniqueID
        /// When it was granted.
        package let grantedAt: Timestamp
        /// The key of the account that it was given to.
        package let account: [UInt8]?
        /// The first entry of the grant.
        package let entryIndex: Int64
    }

    /// What became of the grants of one app that are old enough to have been used.
    package struct Settled: Hashable, Sendable {
        /// The store, and the app as it calls it.
        package let place: AppInStore
        /// How many were redeemed.
        package var redeemed = 0
        /// How many were not redeemed in time.
        package var neverRedeemed = 0
        /// Since these the store has told nothing about the app, so nobody knows.
        package var notTold = 0
        /// When the store last sent a notification about the app; `nil` if it never has.
        package let lastToldAt: Timestamp?
    }

    /// What subscribers did who were shown one kind of answer, or one offer, before they canceled.
    package struct Retention: Hashable, Sendable {
        /// Its name in the answer, such as `promotionalOffer`.
        package let answer: String
        /// The catalog's own ID of the offer; empty of an answer without one.
        package let offer: String
        package let shown: Int
        package let redeemed: Int
        package let kept: Int
        package let canceled: Int
    }

    /// What was asked for.
    package let query: ReconciliationQuery
    /// Grants until then have had their time.
    package let settledUntil: Timestamp
    /// How many uses there were in the span, by what they are.
    package var uses: [RedemptionMatch: Int] = [:]
    /// Redeemed, and granted by nobody.
    package var withoutRecord: [Use] = []
    /// Redeemed by another account than it was granted to.
    package var byAnotherAccount: [Use] = []
    /// Granted, and not redeemed.
    package var neverRedeemed: [Grant] = []
    /// By store and app.
    package var settled: [Settled] = []
    /// By answer and offer.
    package var retention: [Retention] = []
    /// Where the lists go on; `nil` if they are whole.
    package var next: ReconciliationQuery.Position?

    /// How many entries it lists.
    package var entries: Int { withoutRecord.count + byAnotherAccount.count + neverRedeemed.count }

    /// Whether there is a use that nobody granted, or that another account made.
    package var isAlarming: Bool { uses[.ungranted, default: 0] + uses[.otherAccount, default: 0] > 0 }

    /// How long after a grant its use should be known: 24 hours for which it is good, and 48 for a family organizer to
    /// agree, for the store to tell of it, and for its notification to come again after it was missed.
    package static let settlingHours = 72
}
