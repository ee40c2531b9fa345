// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// The party and the app of a question to Google Play.
package struct GooglePlayAsking: Hashable, Sendable {
    /// The app that the question is about; it determines the service account.
    package let packageName: PackageName
    /// The party that the budget is charged to.
    package let party: Party
    /// The time limit of the whole question with pages and retries; `nil` takes the policy's.
    package let overallMilliseconds: Int64?

    package init(packageName: PackageName, party: Party, overallMilliseconds: Int64? = nil) {
        self.packageName = packageName
        self.party = party
        self.overallMilliseconds = overallMilliseconds
    }
}

/// What Google Play answered with, as it came.
package struct GooglePlayAnswer: Hashable, Sendable {
    /// A JSON object, strict, of at most 256 KiB.
    package let json: [UInt8]
    /// When the answer came, by this machine's clock.
    package let answeredAt: Timestamp

    package init(json: [UInt8], answeredAt: Timestamp) {
        self.json = json
        self.answeredAt = answeredAt
    }
}

/// What Google Play knows of a purchase token.
package enum GooglePlayLookup: Hashable, Sendable {
    case found(GooglePlayAnswer)
    /// It was a purchase, but Google no longer reports it.
    case gone(Departure)
    /// It is no purchase of this app's.
    case notFound

    /// Why Google no longer reports a purchase.
    package enum Departure: Hashable, Sendable {
        /// It ended more than 60 days ago.
        case endedLongAgo
        /// Another token has taken its place, or the account is gone.
        case superseded
        case other
    }
}
