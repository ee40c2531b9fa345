// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// Who asks Google Play, and about which app.
package struct GooglePlayAsking: Hashable, Sendable {
    /// The app that is asked about, for which the service account is chosen.
    package let packageName: PackageName
    /// Whose share of the budget is used.
    package let party: Party
    /// For the whole question, pages and retries included; `nil` takes the policy's.
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
    /// It was a purchase once, and is no longer told of.
    case gone(Departure)
    /// It is no purchase of this app's.
    case notFound

    /// Why a purchase is no longer told of.
    package enum Departure: Hashable, Sendable {
        /// It ended more than 60 days ago.
        case endedLongAgo
        /// Another token has taken its place, or the account is gone.
        case superseded
        case other
    }
}
