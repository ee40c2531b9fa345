// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import Storage
import TestSupport
import Testing

@testable import Stores

extension StoreService {
    /// A request for an offer on the monthly product; `members` are all that it says of the customer.
    func call(as caller: String, _ offer: String, _ members: String) -> Call {
        service.call(
            as: caller,
            """
            {"bundleId": "com.example.app", "productId": "com.example.monthly", "offerId": "\(offer)", \(members)}
            """
        )
    }

    func sign(as caller: String = "backend", _ offer: String, _ members: String) async throws -> Reply {
        try await service.send(call(as: caller, offer, members))
    }

    /// Has a backend say that the subscription is of that customer.
    func vouch(_ ids: FakeAppStore.SubscriptionIDs, _ members: String) async throws {
        let reply = try await service.send(transactionsCall(as: "backend", tokenless(ids), members))
        #expect(reply.status == 200, "\(reply)")
    }

    /// Gives every recorded subscription, and that many others, the same account token.
    func shareToken(with others: Int) throws {
        let connection = try service.ledger.openPatiently()
        let token = SQLValue.blob([UInt8](repeating: 0xAA, count: 18))
        try connection.run(
            SQL("INSERT INTO subscription_customers SELECT ?, store, subscription FROM subscription_records", token)
        )
        for number in 0..<others {
            let chain = SQLValue.blob(UniqueID.version4(1, UInt64(number)).bytes)
            try connection.run(
                SQL(
                    "INSERT INTO subscription_records (subscription, store, record) VALUES (?, 'app-store', '{}')",
                    chain
                )
            )
            try connection.run(SQL("INSERT INTO subscription_customers VALUES (?, 'app-store', ?)", token, chain))
        }
    }

    /// The transactions of a subscription, none of them with a token.
    func tokenless(_ ids: FakeAppStore.SubscriptionIDs) throws -> [String] {
        try ids.transactionIDs.map {
            try store.signTransaction($0, latest: false, changing: ["appAccountToken": .null])
        }
    }
}

/// The service finds purchases one link away; a name alone does not give access to a customer's history.
@Suite(.overBothEngines) struct LinkedPurchaseTests {
    private static let device = #""anonymousId": "device-1""#
    private static let ada = #""customerId": "ada""#

    @Test(arguments: Wire.ofRun)
    func `what was bought before login is the customer's, and what was bought after it the device's`(
        wire: Wire
    ) async throws {
        try await withStoreService(wire, asksStore: false) { world in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            try await world.vouch(ids, Self.device)
            #expect(try await world.sign("running", Self.device).status == 200)
            #expect(try await world.sign("running", Self.ada).problem == "eligibility-undecided")
            try await world.service.transfer(from: "DEVICE-1", to: "ada")
            #expect(try await world.sign("running", Self.ada).status == 200)
            try await world.service.transfer(from: "device-2", to: "ada")
            #expect(try await world.sign("running", #""anonymousId": "device-2""#).problem == "eligibility-undecided")
            try await world.vouch(ids, "\(Self.ada), \(Self.device)")
            #expect(try await world.sign("running", #""anonymousId": "device-2""#).status == 200)
        }
    }

    @Test func `what one customer bought is not another's who uses the same device`() async throws {
        try await withStoreService(asksStore: false) { world in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            for customer in ["ada", "grace"] { try await world.service.transfer(from: "device-1", to: customer) }
            try await world.vouch(ids, "\(Self.ada), \(Self.device)")
            for members in [#""customerId": "grace""#, #""customerId": "grace", \#(Self.device)"#] {
                let reply = try await world.sign("running", members)
                #expect(reply.problem == "eligibility-undecided", "\(reply)")
            }
            #expect(try await world.sign("running", Self.ada).status == 200)
        }
    }

    @Test(arguments: Wire.ofRun)
    func `an anonymous id alone gives an app no history, neither direct nor linked`(wire: Wire) async throws {
        try await withStoreService(wire, asksStore: false) { world in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            let token = "00000000-0000-4000-8000-000000000001"
            try await world.vouch(ids, Self.device)
            try await world.service.transfer(from: "device-1", to: token)
            for members in [Self.device, #""appAccountToken": "\#(token)""#, #""applicationUsername": "\#(token)""#] {
                let asApp = try await world.sign(as: "app", "running", members)
                #expect(asApp.problem == "eligibility-undecided", "\(members): \(asApp)")
                let asBackend = try await world.sign("running", members)
                #expect(asBackend.status == 200, "\(members): \(asBackend)")
            }
        }
    }

    @Test(arguments: Wire.ofRun)
    func `an app files nothing under an anonymous id`(wire: Wire) async throws {
        try await withStoreService(wire, asksStore: false) { world in
            let ids = try world.customer([.init(.active)]).subscriptions[0]
            let call = try world.transactionsCall(as: "app", world.tokenless(ids), Self.device)
            let reply = try await world.service.send(call)
            #expect(reply.status == 200, "\(reply)")
            #expect(try await world.sign("running", Self.device).problem == "eligibility-undecided")
            try await world.vouch(ids, Self.device)
            #expect(try await world.sign("running", Self.device).status == 200)
        }
    }

    @Test(arguments: Wire.ofRun)
    func `an anonymous id that an app claims beside evidence counts once a backend has linked it, and so do its links`(
        wire: Wire
    ) async throws {
        try await withStoreService(wire, asksStore: false) { world in
            let customers = try ["ada", "eve", "zoe"].map { name in
                try world.store.setCustomer(.init(name, subscriptions: [.init(.active)])).subscriptions[0]
            }
            func ask(_ customer: Int, _ device: String) async throws -> Int {
                let signed = try world.tokenless(customers[customer]).map { #""\#($0)""# }.joined(separator: ", ")
                let members = #""anonymousId": "\#(device)", "signedTransactions": [\#(signed)]"#
                return try await world.sign(as: "app", "once_a_customer", members).status
            }
            #expect(try await ask(0, "device-1") == 200)
            #expect(try await ask(0, "device-2") == 403)
            #expect(try await ask(1, "DEVICE-1") == 200, "a claimed name uses up nothing of the customer it belongs to")
            try await world.service.transfer(from: "device-1", to: "ada")
            try await world.service.transfer(from: "device-4", to: "ada")
            #expect(try await ask(2, "DEVICE-1") == 403)
            #expect(try await ask(2, "Device-4") == 200, "one link leads to ada, and no further")
        }
    }

    @Test func `an introductory offer counts under the anonymous id too`() async throws {
        try await withService(.inProcess, .introductory) { service in
            func ask(_ transaction: String, _ members: String) async throws -> Reply {
                try await service.send(
                    service.introductoryCall(
                        product: "pro.weekly",
                        """
                        "transactionId": "\(transaction)", \(members),
                        "facts": {"status": "expired", "expiresAt": "2024-01-01T00:00:00Z"}
                        """
                    )
                )
            }
            #expect(try await ask("1", Self.device).json["allowIntroductoryOffer"] == .boolean(true))
            try await service.transfer(from: "device-1", to: "ada")
            #expect(try await ask("2", Self.ada).json["allowIntroductoryOffer"] == .boolean(false))
            #expect(try await ask("3", Self.device).json["allowIntroductoryOffer"] == .boolean(false))
        }
    }

    @Test(arguments: [0, 300])
    func `a redemption of the customer is matched to the grant of the device, however many share a name`(
        others: Int
    ) async throws {
        try await withStoreService(asksStore: false) { world in
            let granted = try await world.sign("open", #"\#(Self.device), "facts": {"subscribedBefore": true}"#)
            #expect(granted.status == 200, "\(granted)")
            let offer = FakeAppStore.Offer(2, "store_open", period: 1)
            let ids = try world.customer([.init(.active, startedDaysAgo: 30, offers: [offer])]).subscriptions[0]
            try await world.vouch(ids, Self.ada)
            #expect(try world.service.redemptions() == ["store_open redeemed without grant"])
            try world.shareToken(with: others)
            try await world.service.transfer(from: "device-1", to: "ada")
            #expect(try world.service.redemptions() == ["store_open redeemed granted"])
            #expect(try world.service.entries("offer.redemption").last?["grant"] == granted.json["grantId"])
        }
    }
}
