// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// What is asked of a reconciliation: a span of time, and how much of it.
package struct ReconciliationQuery: Hashable, Sendable {
    /// Not included in the span: ``until``.
    package let from: Timestamp
    /// The end of the span, which is not included.
    package let until: Timestamp
    /// The environment of the uses that are read; grants are for both environments.
    package var environment: StoreEnvironment
    /// The most items of each list.
    package var limit: Int
    /// Where each list continues.
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

/// What the stores reported, compared with what is on record.
package struct ReconciliationReport: Hashable, Sendable {
    /// A store, and an app as it calls it.
    package struct AppInStore: Hashable, Sendable {
        /// `app-store` or `google-play`.
        package let store: String
        /// The bundle ID or the package name.
        package let app: String
    }

    /// A use of an offer that a store reported.
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
        /// The first entry of the grant; `nil` without a grant, and if the ledger has lost or forgotten the grant.
        package let grantEntryIndex: Int64?
        /// The key of the account that the grant was given to.
        package let grantedTo: [UInt8]?
    }

    /// A grant without a use, as far as the store has reported.
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
        /// The ID of the grant, which is the ID of its request.
        package let grantID: UniqueID
        /// When it was granted.
        package let grantedAt: Timestamp
        /// The key of the account that it was given to.
        package let account: [UInt8]?
        /// The first entry of the grant.
        package let entryIndex: Int64
    }

    /// The result of those grants of one app that are old enough to have been used.
    package struct Settled: Hashable, Sendable {
        /// The store, and the app as it calls it.
        package let place: AppInStore
        /// How many were redeemed.
        package var redeemed = 0
        /// How many were not redeemed in time.
        package var neverRedeemed = 0
        /// How many have an unknown result: the store has sent nothing about the app since the grant.
        package var notReported = 0
        /// When the store last sent a notification about the app; `nil` if it never has.
        package let lastReportAt: Timestamp?
    }

    /// What subscribers did after they saw one kind of answer, or one offer, before they canceled.
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
    /// Grants up to this time are old enough to have been used.
    package let settledUntil: Timestamp
    /// How many uses the span has, by kind of match.
    package var uses: [RedemptionMatch: Int] = [:]
    /// Redeemed, without a grant.
    package var withoutRecord: [Use] = []
    /// Redeemed by another account than the one that got the grant.
    package var byAnotherAccount: [Use] = []
    /// Granted, and not redeemed.
    package var neverRedeemed: [Grant] = []
    /// By store and app.
    package var settled: [Settled] = []
    /// By answer and offer.
    package var retention: [Retention] = []
    /// Where the lists continue; `nil` if they are complete.
    package var next: ReconciliationQuery.Position?

    /// How many entries it lists.
    package var entries: Int { withoutRecord.count + byAnotherAccount.count + neverRedeemed.count }

    /// Whether there is a use without a grant, or by another account.
    package var isAlarming: Bool { uses[.ungranted, default: 0] + uses[.otherAccount, default: 0] > 0 }

    /// How long after a grant its use should be known: the grant is valid for 24 hours, and 48 are for a family
    /// organizer to agree, for the store to report the use, and for the store to repeat a missed notification.
    package static let settlingHours = 72
}
