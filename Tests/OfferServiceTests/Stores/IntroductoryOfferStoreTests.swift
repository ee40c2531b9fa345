// SPDX-License-Identifier: Apache-2.0
import Cryptography
import TestSupport
import Testing

/// What the store has to do with introductory offers, and what an app can't make of it.
struct IntroductoryOfferStoreTests {
    /// Introductory offers are for customers who have bought nothing yet.
    @Test(arguments: Wire.ofRun)
    func `allows a customer who has bought nothing, by their app transaction`(wire: Wire) async throws {
        try await withStoreService(wire) { world in
            let ids = try world.customer([])
            let jws = try world.store.signAppTransaction(customer: ids.name)
            let calls = [
                world.introductoryCall(as: "app", #""signedAppTransaction": "\#(jws)""#),
                world.introductoryCall(as: "backend", #""transactionId": "\#(ids.appTransactionID)""#),
            ]
            let key = try #require(world.service.publicKeys["active.p8"])
            for call in calls {
                let reply = try await world.service.send(call)
                #expect(reply.json["allowIntroductoryOffer"] == .boolean(true), "\(reply)")
                #expect(SignedAnswer(reply).isJWSSigned(by: key))
                #expect(SignedAnswer(reply).jwsClaims["transactionId"].text == ids.appTransactionID)
            }
            #expect(try world.store.counts().requests(to: .statuses) == 0, "only the history is asked for")
        }
    }

    @Test func `denies a customer who had a trial, by their app transaction`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.expired, periods: 1, offers: [.init(1)])])
            let jws = try world.store.signAppTransaction(customer: ids.name)
            let call = world.introductoryCall(as: "app", #""signedAppTransaction": "\#(jws)""#)
            #expect(try await world.service.send(call).json["allowIntroductoryOffer"] == .boolean(false))
            // Now the ledger knows, and the store need not be asked again.
            let asked = try world.store.counts().requests(to: .history)
            #expect(try await world.service.send(call).json["allowIntroductoryOffer"] == .boolean(false))
            #expect(try world.store.counts().requests(to: .history) == asked)
        }
    }

    /// What a request names the account by.
    enum AccountName: CaseIterable {
        case signedAppTransaction, appTransactionID, originalTransactionID
    }

    @Test(arguments: AccountName.allCases)
    func `denies by what the store reported on the account under an earlier secret`(name: AccountName) async throws {
        try await withStoreService(asksStore: false) { world in
            let ids = try world.customer([.init(.expired, periods: 1, offers: [.init(1)])])
            let original = ids.subscriptions[0].originalTransactionID
            try await world.deliver(.init("EXPIRED", transactionID: original))
            try world.service.beginSecretVersion("2")
            let call =
                switch name {
                case .signedAppTransaction:
                    world.introductoryCall(
                        as: "app",
                        #""signedAppTransaction": "\#(try world.store.signAppTransaction(customer: ids.name))""#
                    )
                case .appTransactionID:
                    world.introductoryCall(as: "backend", #""transactionId": "\#(ids.appTransactionID)""#)
                case .originalTransactionID:
                    world.introductoryCall(as: "backend", #""transactionId": "\#(original)""#)
                }
            let reply = try await world.service.send(call)
            #expect(reply.json["allowIntroductoryOffer"] == .boolean(false), "\(reply)")
        }
    }

    @Test(arguments: Wire.ofRun)
    func `says nothing while the store is down, and an answer of the store's ends that`(wire: Wire) async throws {
        try await withStoreService(wire) { world in
            let ids = try world.customer([.init(.active, periods: 3, offers: [.init(1)])]).subscriptions[0]
            let latest = try #require(ids.transactionIDs.last)
            let jws = try world.store.signTransaction(latest)
            for misbehaviour in [FakeAppStore.Misbehaviour.status(500), .rateLimit, .wrongJSON, .repeatedPage] {
                try world.store.misbehave(misbehaviour, at: .history)
                for call in [
                    world.introductoryCall(as: "app", #""signedTransactions": ["\#(jws)"]"#),
                    world.introductoryCall(as: "backend", #""transactionId": "\#(latest)""#),
                ] {
                    let reply = try await world.service.send(call)
                    #expect(reply.status == 503 && reply.problem == "store-unavailable", "\(reply)")
                    #expect(reply.headers["retry-after"] != nil)
                }
                try world.store.behave(at: .history)
            }
            #expect(try world.service.entries("sign.intent").isEmpty)
            // What was seen is enough for a no, whether or not the store answers.
            try world.store.misbehave(.status(500), at: .history)
            let first = try world.store.signTransaction(ids.transactionIDs[0], latest: false)
            let reply = try await world.service.send(
                world.introductoryCall(as: "app", #""signedTransactions": ["\#(first)"]"#)
            )
            #expect(reply.json["allowIntroductoryOffer"] == .boolean(false), "\(reply)")
        }
    }

    @Test func `lets what a backend states decide without the store`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([.init(.active, periods: 1, offers: [.init(1)])]).subscriptions[0]
            let members = #""transactionId": "\#(ids.originalTransactionID)", "facts": {"offersUsed": []}"#
            let reply = try await world.service.send(world.introductoryCall(as: "backend", members))
            #expect(reply.json["allowIntroductoryOffer"] == .boolean(true), "\(reply)")
            #expect(try world.store.counts().requests(to: .history) == 0)
        }
    }

    // MARK: - Whose history it is

    /// The JWS is good for one account, so that account's history has to be known.
    @Test func `signs for an account only by that account's own history`() async throws {
        try await withStoreService { world in
            let clean = try world.customer([.init(.active)]).subscriptions[0]
            let used = try world.store.setCustomer(
                FakeAppStore.Customer("ben", subscriptions: [.init(.active, periods: 3, offers: [.init(1)])])
            )
            let names = #""appAccountToken": "\#(world.token)", "customerId": "ada""#
            let known = try await world.service.send(
                world.introductoryCall(as: "backend", #"\#(names), "transactionId": "\#(clean.originalTransactionID)""#)
            )
            #expect(known.json["allowIntroductoryOffer"] == .boolean(true), "\(known)")
            try world.store.misbehave(.status(500), at: .history)
            let usedID = try #require(used.subscriptions[0].transactionIDs.last)
            let transaction = try world.store.signTransaction(usedID)
            let appTransaction = try world.store.signAppTransaction(customer: "ben")
            let token = #""appAccountToken": "\#(world.token)""#
            for call in [
                world.introductoryCall(as: "backend", #"\#(names), "transactionId": "\#(usedID)""#),
                world.introductoryCall(as: "backend", #"\#(names), "transactionId": "\#(used.appTransactionID)""#),
                world.introductoryCall(as: "app", #"\#(token), "signedAppTransaction": "\#(appTransaction)""#),
                world.introductoryCall(
                    as: "app",
                    #"\#(token), "signedTransactions": ["\#(transaction)"], "transactionId": "\#(usedID)""#
                ),
            ] {
                let reply = try await world.service.send(call)
                #expect(reply.status != 200, "\(reply)")
            }
        }
    }

    @Test func `asks about the account that it signs for, whatever else is sent along`() async throws {
        try await withStoreService { world in
            let clean = try world.customer([.init(.active)]).subscriptions[0]
            let used = try world.store.addSubscription(.init(.active, periods: 3, offers: [.init(1)]))
            let jws = try world.store.signTransaction(clean.originalTransactionID)
            let members = #""signedTransactions": ["\#(jws)"], "transactionId": "\#(used.originalTransactionID)""#
            let reply = try await world.service.send(world.introductoryCall(as: "backend", members))
            #expect(reply.json["allowIntroductoryOffer"] == .boolean(false), "\(reply)")
        }
    }

    /// The token that an app names is nothing that it has shown.
    @Test func `decides nothing by purchases under a token that an app only names`() async throws {
        try await withStoreService(asksStore: false) { world in
            let active = try world.customer([.init(.active)]).subscriptions[0]
            let notification = FakeAppStore.Notification(
                "DID_CHANGE_RENEWAL_STATUS",
                transactionID: active.originalTransactionID
            )
            try await world.deliver(notification)
            let other = try world.store.setCustomer(FakeAppStore.Customer("ben"))
            let appTransaction = try world.store.signAppTransaction(customer: other.name)
            let members = #""appAccountToken": "\#(world.token)", "signedAppTransaction": "\#(appTransaction)""#
            let call = world.introductoryCall(as: "app", product: "com.example.yearly", members)
            #expect(try await world.service.send(call).problem == "eligibility-undecided")
            // The service decides for the account that the store reported on.
            let own = try world.store.signAppTransaction(customer: "anna")
            let reply = try await world.service.send(
                world.introductoryCall(as: "app", product: "com.example.yearly", #""signedAppTransaction": "\#(own)""#)
            )
            #expect(reply.json["allowIntroductoryOffer"] == .boolean(true), "\(reply)")
        }
    }

    @Test func `signs for no account that an app has not shown`() async throws {
        try await withStoreService { world in
            let mine = try world.customer([.init(.active)])
            let other = try world.store.setCustomer(FakeAppStore.Customer("ben", subscriptions: [.init(.active)]))
            let jws = try world.store.signTransaction(mine.subscriptions[0].originalTransactionID)
            let signed = #""signedTransactions": ["\#(jws)"]"#
            let foreign = try await world.service.send(
                world.introductoryCall(as: "app", #"\#(signed), "transactionId": "\#(other.appTransactionID)""#)
            )
            #expect(foreign.problem == "transaction-not-shown" && foreign.pointers == ["/transactionId"], "\(foreign)")
            let appTransaction = try world.store.signAppTransaction(customer: "ben")
            let mixed = try await world.service.send(
                world.introductoryCall(as: "app", #"\#(signed), "signedAppTransaction": "\#(appTransaction)""#)
            )
            #expect(mixed.problem == "signed-data-of-other-account", "\(mixed)")
            #expect(mixed.pointers == ["/signedTransactions/0"])
            for id in [mine.appTransactionID, mine.subscriptions[0].originalTransactionID] {
                let reply = try await world.service.send(
                    world.introductoryCall(as: "app", #"\#(signed), "transactionId": "\#(id)""#)
                )
                #expect(SignedAnswer(reply).jwsClaims["transactionId"].text == id, "\(reply)")
            }
            #expect(try world.service.entries("sign.intent").count == 2)
        }
    }

    @Test func `refuses an app transaction that names no account, or that Apple did not sign`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([])
            let nameless = try world.store.signAppTransaction(
                customer: ids.name,
                changing: ["appTransactionId": .null]
            )
            let forged = try world.store.signAppTransaction(customer: ids.name, fault: .otherRoot)
            for (jws, problem) in [(nameless, "invalid-request"), (forged, "invalid-signed-data")] {
                let reply = try await world.service.send(
                    world.introductoryCall(as: "app", #""signedAppTransaction": "\#(jws)""#)
                )
                #expect(reply.status == 400 && reply.problem == problem, "\(reply)")
                #expect(reply.pointers == ["/signedAppTransaction"])
            }
            #expect(try world.store.counts().requests(to: .history) == 0)
            #expect(try world.service.entries().isEmpty)
        }
    }

    @Test func `counts an allowance under the account, so a rule can cap it`() async throws {
        try await withStoreService { world in
            let ids = try world.customer([])
            let jws = try world.store.signAppTransaction(customer: ids.name)
            let reply = try await world.service.send(
                world.introductoryCall(as: "app", #""signedAppTransaction": "\#(jws)""#)
            )
            #expect(reply.status == 200, "\(reply)")
            #expect(try world.service.entries("sign.intent").map { $0["users"].elements.count } == [1])
        }
    }
}
