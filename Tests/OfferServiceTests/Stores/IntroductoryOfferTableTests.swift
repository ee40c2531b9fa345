// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// How the service gets evidence about a customer's introductory offers.
private enum Source: String, CaseIterable, Sendable {
    /// An app sends its latest transaction, and the store is not asked.
    case signedData
    /// The same, and the store may be asked.
    case signedDataAndAPI
    /// A backend names a transaction, and the store may be asked.
    case api
    /// A backend names a transaction that the store has reported before.
    case notifications

    var asksStore: Bool { self == .api || self == .signedDataAndAPI }
}

/// A customer, and what is signed of their introductory offer by each way: true or false; nil is nothing.
private struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let subscription: FakeAppStore.Subscription
    let allows: [Source: Bool]

    init(
        _ description: String,
        _ subscription: FakeAppStore.Subscription,
        _ signedData: Bool?,
        _ signedDataAndAPI: Bool?,
        _ api: Bool?,
        _ notifications: Bool?
    ) {
        testDescription = description
        self.subscription = subscription
        var allows: [Source: Bool] = [:]
        allows[.signedData] = signedData
        allows[.signedDataAndAPI] = signedDataAndAPI
        allows[.api] = api
        allows[.notifications] = notifications
        self.allows = allows
    }
}

private let trial = FakeAppStore.Offer(1)

/// What was seen is enough for a no; a yes takes the whole history, and so the API.
private let rows = [
    Row("who never had a trial", .init(.active), nil, true, true, nil),
    Row("whose trial runs", .init(.active, periods: 1, offers: [trial]), false, false, false, false),
    Row("whose trial is long ago", .init(.active, periods: 3, offers: [trial]), nil, false, false, nil),
    Row("who left after a trial", .init(.expired, periods: 1, offers: [trial]), false, false, false, false),
    Row(
        "with a discount as one goes",
        .init(.active, offers: [.init(1, discountType: "PAY_AS_YOU_GO"), .init(1, discountType: "PAY_AS_YOU_GO")]),
        false,
        false,
        false,
        false
    ),
    Row(
        "with a trial of another product in the group",
        .init(.active, productID: "com.example.weekly", periods: 1, offers: [trial]),
        false,
        false,
        false,
        false
    ),
    Row(
        "with a trial in another group",
        .init(.active, productID: "com.example.other", group: "20000002", periods: 1, offers: [trial]),
        nil,
        true,
        true,
        nil
    ),
    Row("whose trial was refunded", .init(.refunded, periods: 1, offers: [trial]), false, false, false, false),
    Row("with a promotional offer", .init(.active, periods: 1, offers: [.init(2, "x")]), nil, true, true, nil),
    Row("whose family had a trial", .init(.familyShared, periods: 1, offers: [trial]), nil, true, true, nil),
    Row("with an offer of an unknown kind", .init(.active, periods: 1, offers: [.init(9)]), nil, true, true, nil),
]

@Suite(.overBothEngines) struct IntroductoryOfferTableTests {
    @Test(arguments: rows)
    fileprivate func `allows and denies by the customer's own history in the group, and by the whole of it`(
        row: Row
    ) async throws {
        for source in Source.allCases {
            try await withStoreService(asksStore: source.asksStore) { world in
                let ids = try world.customer([row.subscription]).subscriptions[0]
                let reply = try await ask(world, source, ids)
                if let allows = row.allows[source] {
                    #expect(reply.status == 200, "\(source): \(reply)")
                    #expect(reply.json["allowIntroductoryOffer"] == .boolean(allows), "\(source): \(reply)")
                    let claims = SignedAnswer(reply).jwsClaims
                    #expect(claims["allowIntroductoryOffer"] == .boolean(allows))
                    #expect(claims["transactionId"].text == ids.transactionIDs.last)
                } else {
                    #expect(reply.problem == "eligibility-undecided", "\(source): \(reply)")
                    #expect(try world.service.entries("sign.intent").isEmpty)
                }
            }
        }
    }

    private func ask(
        _ world: StoreService,
        _ source: Source,
        _ ids: FakeAppStore.SubscriptionIDs
    ) async throws -> Reply {
        let latest = try #require(ids.transactionIDs.last)
        switch source {
        case .signedData, .signedDataAndAPI:
            let jws = try world.store.signTransaction(latest)
            let call = world.introductoryCall(as: "app", #""signedTransactions": ["\#(jws)"]"#)
            return try await world.service.send(call)
        case .notifications:
            try await world.deliver(FakeAppStore.Notification("DID_CHANGE_RENEWAL_STATUS", transactionID: latest))
            fallthrough
        case .api:
            return try await world.service.send(
                world.introductoryCall(as: "backend", #""transactionId": "\#(latest)""#)
            )
        }
    }
}
