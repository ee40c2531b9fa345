import Foundation
import OfferDomain
import OfferService

// SPDX-License-Identifier: Apache-2.0
@testable import Stores

/// A purchase as Google Play answers it, member by member.
struct PlaySample: Sendable {
    /// What the last part of `SUBSCRIPTION_STATE_…` is.
    var state: String
    var items: [Item]
    /// Days before ``now``, a negative number for after; nil of a purchase that was never granted.
    var startedDaysAgo: Double? = 40
    var linked: String?
    var expired: String?
    var cancellation: String?
    var isTest = false
    var region: String? = "US"
    var accountID: String?
    var profileID: String?
    /// More members of the answer, as JSON without braces.
    var more = ""

    /// At 2026-07-01T12:00:00Z.
    static let now = Timestamp(milliseconds: 1_782_907_200_000)

    struct Item: Sendable {
        var product = "premium"
        var plan = "monthly"
        var offer: String?
        /// Days after ``now``, a negative number for before.
        var expiresInDays: Double? = 20
        var phase: String?
        /// Whether `autoRenewEnabled` is there; Google leaves out what is false.
        var renews = true
        var kind = "autoRenewingPlan"
        /// More members of the item, as JSON without braces.
        var more = ""

        fileprivate var json: String {
            var members = [#""productId":"\#(product)""#, #""latestSuccessfulOrderId":"GPA.3345-1111-2222-33333..1""#]
            if let expiresInDays { members.append(#""expiryTime":"\#(time(inDays: expiresInDays))""#) }
            if kind == "prepaidPlan" {
                members.append(#""prepaidPlan":{}"#)
            } else {
                let renewal = renews ? #""autoRenewEnabled":true,"# : ""
                let price = #""recurringPrice":{"currencyCode":"USD","units":"9","nanos":990000000}"#
                members.append(#""\#(kind)":{\#(renewal)\#(price)}"#)
            }
            let id = offer.map { #","offerId":"\#($0)""# } ?? ""
            let tags = #""offerTags":["one-month","ignore-offer"]"#
            members.append(#""offerDetails":{"basePlanId":"\#(plan)"\#(id),\#(tags)}"#)
            if let phase { members.append(#""offerPhase":{"\#(phase)":{}}"#) }
            if !more.isEmpty { members.append(more) }
            return "{\(members.joined(separator: ","))}"
        }
    }

    init(_ state: String, _ items: Item..., change: (inout PlaySample) -> Void = { _ in }) {
        self.state = state
        self.items = items.isEmpty ? [Item()] : items
        change(&self)
    }

    var json: [UInt8] {
        var members = [#""kind":"androidpublisher#subscriptionPurchaseV2""#]
        if let startedDaysAgo { members.append(#""startTime":"\#(time(inDays: -startedDaysAgo))""#) }
        if let region { members.append(#""regionCode":"\#(region)""#) }
        members.append(#""subscriptionState":"SUBSCRIPTION_STATE_\#(state)""#)
        if let linked { members.append(#""linkedPurchaseToken":"\#(linked)""#) }
        if let expired { members.append(#""outOfAppPurchaseContext":{"expiredPurchaseToken":"\#(expired)"}"#) }
        if let cancellation { members.append(#""canceledStateContext":{"\#(cancellation)":{}}"#) }
        if isTest { members.append(#""testPurchase":{}"#) }
        members.append(#""acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED""#)
        var accounts: [String] = []
        if let accountID { accounts.append(#""obfuscatedExternalAccountId":"\#(accountID)""#) }
        if let profileID { accounts.append(#""obfuscatedExternalProfileId":"\#(profileID)""#) }
        if !accounts.isEmpty {
            members.append(#""externalAccountIdentifiers":{\#(accounts.joined(separator: ","))}"#)
        }
        members.append(#""lineItems":[\#(items.map(\.json).joined(separator: ","))]"#)
        members.append(#""etag":"1234""#)
        if !more.isEmpty { members.append(more) }
        return Array("{\(members.joined(separator: ","))}".utf8)
    }

    func purchase() throws -> GooglePlayPurchase { try GooglePlayPurchase(json: json) }
}

/// With nine decimals, as Google may write it.
private func time(inDays days: Double) -> String {
    let instant = PlaySample.now.adding(milliseconds: Int64(days * 86_400_000))
    return instant.rfc3339.replacingOccurrences(of: "Z", with: ".000456789Z")
}

extension PlaySample.Item {
    init(_ change: (inout PlaySample.Item) -> Void) {
        self.init()
        change(&self)
    }
}
