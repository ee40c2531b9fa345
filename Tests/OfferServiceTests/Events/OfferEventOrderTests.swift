// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import Configuration
@testable import OfferService

/// Which events receivers get for each grant, in any order of both stores' notifications.
@Suite(.overBothEngines) struct OfferEventOrderTests {
    private static let outcomes = [
        "anna": ["STARTED", "CONVERTED"], "emil": ["STARTED", "CONVERTED"], "bert": ["STARTED", "NOT_CONVERTED"],
        "carl": ["STARTED", "CONVERTED"], "dora": ["STARTED", "NOT_CONVERTED"],
    ]
    private static let types = [
        "STARTED": "offer.redeemed", "CONVERTED": "offer.converted", "NOT_CONVERTED": "offer.not_converted",
    ]

    /// One of the notifications of a customer, from 0.
    private struct Step {
        let customer: String
        let number: Int
    }

    private struct Order {
        let name: String
        let steps: [Step]
    }

    private static let steps = outcomes.keys.sorted().flatMap { name in
        (0..<3).map { Step(customer: name, number: $0) }
    }

    /// All orders of three notifications, each for all customers at once; then all notifications in any order, each one to
    /// three times.
    private static func orders() -> [Order] {
        let permutations = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].map { order in
            Order(name: "\(order)", steps: order.flatMap { number in steps.filter { $0.number == number } })
        }
        let shuffled = (0..<TestRing.rounds(1, nightly: 24)).map { _ in
            let seed = UInt64.random(in: .min ... .max)
            var random = SplitMix(seed: seed)
            let repeated = steps.flatMap { Array(repeating: $0, count: Int.random(in: 1...3, using: &random)) }
            return Order(name: "seed \(seed)", steps: repeated.shuffled(using: &random))
        }
        return permutations + shuffled
    }

    @Test func `each grant's start and result come once, in this order, whatever the order of notifications`()
        async throws
    {
        let stores = try Stores()
        defer { stores.stop() }
        for order in Self.orders() {
            let receiver = EventReceiver()
            try await withEventReceiver(receiver, events: Self.endpoints) { path in
                try await withService(.inProcess, stores.files(path), clock: Stores.clock()) { service in
                    var world = try await GrantedWorld(service: service, stores: stores)
                    for step in order.steps { try await world.deliver(step.number, of: step.customer) }
                    for id in ["purchasely", "standard"] { #expect(try await service.hasDelivered(to: id)) }
                    let purchasely = receiver.taken(at: "/purchasely").map(\.json)
                    #expect(
                        world.byCustomer(purchasely, grant: "grant_id", "event_name") == Self.outcomes,
                        "\(order.name)"
                    )
                    let standard = receiver.taken(at: "/standard").map(\.json)
                    let types = Self.outcomes.mapValues { $0.compactMap { Self.types[$0] } }
                    let data = standard.map { Tree.object(["type": $0["type"], "grant": $0["data"]["grantId"]]) }
                    #expect(world.byCustomer(data, grant: "grant", "type") == types, "\(order.name)")
                    let kinds = Set(purchasely.compactMap { $0["store"].text })
                    #expect(kinds == ["APPLE_APP_STORE", "GOOGLE_PLAY_STORE"])
                }
            }
        }
    }

    private static func endpoints(_ origin: String) -> String {
        """
        endpoints: [
          {id: "purchasely", url: "\(origin)/purchasely", secrets: ["events.secret"], format: "purchasely"},
          {id: "standard", url: "\(origin)/standard", secrets: ["events.secret"],
           types: ["offer.redeemed", "offer.converted", "offer.not_converted"]},
        ]
        """
    }
}

/// A fake of each store, with what the App Store has signed.
private struct Stores {
    let play: FakeGooglePlay
    private let appStore: FakeAppStore
    private let accountPath: String
    /// The notifications about each customer of the App Store, in their order.
    let notifications: [String: [String]]

    static let tokens = [
        "anna": "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60", "bert": "11111111-2222-4333-8444-555555555555",
        "emil": "22222222-3333-4444-8555-666666666666",
    ]

    init() throws {
        (appStore, play) = (try FakeAppStore(), try FakeGooglePlay())
        try play.setSubscription(.init("premium", basePlans: [.init("monthly")]))
        try play.setOffer(.init("winback-50", of: "premium"))
        accountPath = try play.addServiceAccount().path
        var notifications: [String: [String]] = [:]
        for (customer, states) in Self.lives {
            var bodies: [String] = []
            for state in states {
                let ids = try appStore.setCustomer(
                    FakeAppStore.Customer(customer, subscriptions: [state.subscription])
                )
                let id = ids.subscriptions[0].originalTransactionID
                bodies.append(try appStore.signNotification(.init(state.type, state.subtype, transactionID: id)).body)
            }
            notifications[customer] = bodies
        }
        self.notifications = notifications
    }

    func stop() {
        appStore.stop()
        play.stop()
    }

    static func clock() -> SettableClock { SettableClock(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }

    private struct State {
        let type: String
        var subtype: String?
        let subscription: FakeAppStore.Subscription
    }

    /// Two discounted periods and the full price; one and two at the full price; and a customer who leaves after one.
    private static let lives: [String: [State]] = [
        "anna": renewals("anna", discounted: 2),
        "emil": renewals("emil", discounted: 1),
        "bert": [
            State(type: "SUBSCRIBED", subtype: "INITIAL_BUY", subscription: bought("bert")),
            State(
                type: "DID_CHANGE_RENEWAL_STATUS",
                subtype: "AUTO_RENEW_DISABLED",
                subscription: bought("bert", .notRenewing)
            ),
            State(type: "EXPIRED", subtype: "VOLUNTARY", subscription: bought("bert", .expired)),
        ],
    ]

    private static func renewals(_ customer: String, discounted: Int) -> [State] {
        (1...3).map { periods in
            State(
                type: periods == 1 ? "SUBSCRIBED" : "DID_RENEW",
                subscription: bought(customer, periods: periods, discounted: discounted)
            )
        }
    }

    private static func bought(
        _ customer: String,
        _ state: FakeAppStore.Subscription.State = .active,
        periods: Int = 1,
        discounted: Int = 1
    ) -> FakeAppStore.Subscription {
        let chains = ["anna": "2000000000000071", "bert": "2000000000000072", "emil": "2000000000000073"]
        return FakeAppStore.Subscription(
            state,
            originalTransactionID: chains[customer],
            periods: periods,
            periodDays: 0.4,
            startedDaysAgo: 1,
            offers: (0..<min(periods, discounted)).map {
                .init(2, "store_back", discountType: "PAY_AS_YOU_GO", period: $0)
            },
            allTransactions: ["appAccountToken": .text(tokens[customer] ?? "")]
        )
    }

    func files(_ eventsPath: String) -> TestFiles {
        var files = TestFiles()
        files.keys = """
            {\(FakePlayWorld.appStoreKeys)
              googleServiceAccounts: [{packageNames: ["\(FakeGooglePlay.firstApp)"], file: "\(accountPath)"}],
              customerIds: {epoch: "1", file: "customer-ids.key"},
              auditLog: {origin: "example.com/log", file: "audit-log.key"},
            }
            """
        files.offers = """
            {
              apps: [{
                bundleId: "com.example.app", appAppleId: 1234567890, packageName: "\(FakeGooglePlay.firstApp)",
                plans: [{
                  appStore: {productId: "com.example.monthly", subscriptionGroupId: "20000001"},
                  googlePlay: {productId: "premium", basePlanId: "monthly"},
                  offers: [{id: "back", appStore: {offerId: "store_back"}, googlePlay: {offerId: "winback-50"}}],
                }],
              }],
            }
            """
        files.privateKeys = ["active.p8"]
        files.settings = [
            .appStoreRoots: appStore.rootPEMPath, .revocationCheck: "off", .events: eventsPath,
            .googlePlayURL: play.origin(), .googleOAuthURL: play.origin(), .googleCertsURL: play.origin(),
            .trustedCertificates: play.tlsCAPath, .googlePushAudience: FakeGooglePlay.pushIdentity.audience,
            .googlePushEmail: FakeGooglePlay.pushIdentity.email,
        ]
        return files
    }
}

/// A service that has granted the offer to customers in each store.
private struct GrantedWorld {
    private let play: FakePlayWorld
    private let stores: Stores
    /// The customers by their grants.
    private var customers: [String: String] = [:]
    /// What was given to the customers at Google Play, and the purchases that they made by now.
    private var authorizations: [String: Tree] = [:]
    private var purchases: [String: (token: String, messageIDs: [String])] = [:]

    init(service: TestService, stores: Stores) async throws {
        (play, self.stores) = (FakePlayWorld(service: service, play: stores.play), stores)
        service.clock.advance(hours: -25)
        for (customer, token) in Stores.tokens {
            let body = """
                {"bundleId": "com.example.app", "productId": "com.example.monthly", "offerId": "back",
                 "appAccountToken": "\(token)", "facts": {"subscribedBefore": true}}
                """
            let reply = try await service.send(service.call(body))
            customers[try #require(reply.json["grantId"].text, "\(reply)")] = customer
        }
        service.clock.advance(hours: 25)
        for customer in ["carl", "dora"] {
            let authorization = try await play.authorize(customer)
            authorizations[customer] = authorization
            customers[try #require(authorization["grantId"].text)] = customer
        }
    }

    /// Has a store send a notification; one of Google Play, once what it is about has happened.
    mutating func deliver(_ number: Int, of customer: String) async throws {
        if let body = stores.notifications[customer]?[number] {
            #expect(try await play.service.send(.notification(body)).status == 200)
        } else {
            while purchases[customer]?.messageIDs.count ?? 0 <= number { try proceed(customer) }
            play.tick()
            let id = try #require(purchases[customer]?.messageIDs[number])
            #expect(try await play.push(id).status == 204)
        }
    }

    /// The discount is over for one, and the other leaves.
    private static let lives: [String: [FakeGooglePlay.Event]] = [
        "carl": [.renew, .renew], "dora": [.cancel, .expire],
    ]

    private mutating func proceed(_ customer: String) throws {
        let outcome: FakeGooglePlay.Outcome
        if let purchase = purchases[customer] {
            let event = try #require(Self.lives[customer])[purchase.messageIDs.count - 1]
            outcome = try stores.play.happen(event, to: purchase.token)
        } else {
            let authorization = try #require(authorizations[customer])
            outcome = try play.buy(
                account: authorization["obfuscatedAccountId"].text,
                profile: authorization["obfuscatedProfileId"].text
            )
        }
        #expect(outcome.messageIDs.count == 1)
        purchases[customer, default: (outcome.token, [])].messageIDs += outcome.messageIDs
    }

    /// What the messages say of each customer's grant, in their order.
    func byCustomer(_ messages: [Tree], grant: String, _ member: String) -> [String: [String]] {
        var names: [String: [String]] = [:]
        for message in messages {
            let customer = message[grant].text.flatMap { customers[$0] } ?? "unknown grant"
            let name = message[member].text ?? "none"
            names[customer, default: []].append(name.replacing("PROMOTIONAL_OFFER_", with: ""))
        }
        return names
    }
}
