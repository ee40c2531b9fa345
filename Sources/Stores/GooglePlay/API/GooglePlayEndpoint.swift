// SPDX-License-Identifier: Apache-2.0

/// What the Google Play Developer API is asked.
///
/// Source: Google, [Google Play Developer API](https://developers.google.com/android-publisher/api-ref/rest/v3).
package enum GooglePlayEndpoint: String, CaseIterable, Hashable, Sendable {
    case subscriptions = "subscriptions"
    case offers = "offers"
    case subscriptionPurchase = "subscription-purchase"

    /// What Google counts together, by its own names.
    ///
    /// Each bucket of a project has 3000 queries a minute, and publishing tools spend of the same.
    /// Source: Google, [Quotas](https://developers.google.com/android-publisher/quotas).
    var bucket: String {
        switch self {
        case .subscriptions, .offers: "Publishing, Monetization and Reply to Reviews"
        case .subscriptionPurchase: "Subscriptions"
        }
    }

    static let quota = StoreQuota.perMinute(3000)

    /// The most bytes of an answer, unpacked.
    ///
    /// An offer with two phases in all 175 regions makes some 40 KiB, a base plan some 25 KiB: room for twice what a page
    /// of ``pageSize`` such entries has.
    var maximumBytes: Int {
        switch self {
        case .subscriptions, .offers: 8 * 1024 * 1024
        case .subscriptionPurchase: 256 * 1024
        }
    }

    /// How many entries of a list one request asks for.
    var pageSize: Int {
        switch self {
        case .subscriptions: 25
        case .offers: 100
        case .subscriptionPurchase: 1
        }
    }

    /// For one request; a page of a large catalog takes its time.
    var attemptMilliseconds: Int64? {
        self == .subscriptionPurchase ? nil : 15_000
    }
}
