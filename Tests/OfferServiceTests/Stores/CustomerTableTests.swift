// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// A customer, and what each offer comes to in each of the ways by which the service may know of them.
private struct CustomerRow: Sendable, CustomTestStringConvertible {
    let name: String
    let subscriptions: [FakeAppStore.Subscription]
    var purchases: [FakeAppStore.Members] = []
    /// What Apple sends of such a customer.
    let notification: (type: String, subtype: String?)
    /// By offer: the answer when only signed data, only the API, or only notifications describe the customer.
    let outcomes: [(offer: String, signedData: String, api: String, notifications: String)]

    var testDescription: String { name }
}

private let granted = "granted"
private let refused = "not-eligible"
private let undecided = "eligibility-undecided"

private let rows = [
    CustomerRow(
        name: "lapsed 40 days ago",
        subscriptions: [.init(.expired, endsInDays: -40)],
        notification: ("EXPIRED", "VOLUNTARY"),
        outcomes: [
            ("open", granted, granted, granted),
            ("lapsed", granted, granted, granted),
            ("running", refused, refused, refused),
            ("own", granted, granted, granted),
            // What is left out can't be seen, so only the whole history shows that there was no offer and no refund.
            ("unused", undecided, granted, undecided),
            ("unrefunded", undecided, granted, undecided),
        ]
    ),
    CustomerRow(
        name: "lapsed 40 days ago after a promotional offer",
        subscriptions: [.init(.expired, endsInDays: -40, offers: [.init(2, "store_open", period: -1)])],
        notification: ("EXPIRED", "VOLUNTARY"),
        outcomes: [("unused", refused, refused, refused), ("lapsed", granted, granted, granted)]
    ),
    CustomerRow(
        name: "lapsed yesterday",
        subscriptions: [.init(.expired, endsInDays: -1)],
        notification: ("EXPIRED", "BILLING_RETRY"),
        outcomes: [("lapsed", refused, refused, refused), ("open", granted, granted, granted)]
    ),
    CustomerRow(
        name: "active",
        subscriptions: [.init(.active)],
        notification: ("SUBSCRIBED", "INITIAL_BUY"),
        outcomes: [
            ("open", granted, granted, granted),
            ("lapsed", refused, refused, refused),
            ("running", granted, granted, granted),
            ("american", granted, granted, granted),
        ]
    ),
    CustomerRow(
        name: "renewed by a charge before the period begins",
        subscriptions: [.init(.notRenewing, endsInDays: 30.5)],
        notification: ("DID_RENEW", nil),
        outcomes: [("stay", granted, granted, granted), ("running", granted, granted, granted)]
    ),
    CustomerRow(
        name: "never subscribed",
        subscriptions: [],
        purchases: [["type": "Consumable"]],
        notification: ("ONE_TIME_CHARGE", nil),
        outcomes: [("open", undecided, refused, undecided), ("lapsed", undecided, refused, undecided)]
    ),
    CustomerRow(
        name: "refunded",
        subscriptions: [.init(.refunded)],
        notification: ("REFUND", nil),
        outcomes: [
            ("unrefunded", refused, refused, refused), ("lapsed", refused, refused, refused),
            ("running", refused, refused, refused),
        ]
    ),
    CustomerRow(
        name: "member of a family that shares",
        subscriptions: [.init(.familyShared)],
        notification: ("SUBSCRIBED", "INITIAL_BUY"),
        outcomes: [("open", undecided, undecided, undecided), ("own", refused, refused, refused)]
    ),
    CustomerRow(
        name: "in the grace period",
        subscriptions: [.init(.gracePeriod)],
        notification: ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"),
        outcomes: [
            ("grace", granted, granted, granted), ("running", refused, refused, refused),
            ("lapsed", refused, refused, refused),
        ]
    ),
    CustomerRow(
        name: "in billing retry",
        subscriptions: [.init(.billingRetry)],
        notification: ("DID_FAIL_TO_RENEW", nil),
        outcomes: [("running", refused, refused, refused), ("lapsed", refused, refused, refused)]
    ),
]

/// The same customer gets the same decision from every source of evidence.
@Suite(.overBothEngines) struct CustomerTableTests {
    @Test(.overSQLite, arguments: rows)
    fileprivate func `decides alike on signed data, on the store's answers and on notifications`(
        row: CustomerRow
    ) async throws {
        for way in Way.allCases {
            try await withStoreService(.loopback, asksStore: way == .api) { world in
                let ids = try world.customer(row.subscriptions, purchases: row.purchases)
                let id = try #require(ids.subscriptions.first?.transactionIDs.last ?? ids.purchaseIDs.first)
                if way == .notifications {
                    let (type, subtype) = row.notification
                    try await world.deliver(FakeAppStore.Notification(type, subtype, transactionID: id))
                    #expect(try world.service.entries("store.notification").map(\.["type"]) == [.text(type)])
                }
                for outcome in row.outcomes {
                    let expected =
                        switch way {
                        case .signedData: outcome.signedData
                        case .api: outcome.api
                        case .notifications: outcome.notifications
                        }
                    let reply = try await world.ask(
                        outcome.offer,
                        by: way,
                        id,
                        isSubscription: !row.subscriptions.isEmpty
                    )
                    #expect(
                        (reply.status == 200 ? granted : reply.problem) == expected,
                        "\(outcome.offer) by \(way.rawValue): \(reply)"
                    )
                    if expected != granted {
                        #expect(!reply.json["decision"]["findings"].elements.isEmpty, "\(reply)")
                        #expect(reply.json["signature"] == .null)
                    }
                }
                let asked = try world.store.counts().toAPI
                #expect((asked > 0) == (way == .api), "the store is asked only where it is the only source")
            }
        }
    }
}
