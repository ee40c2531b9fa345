// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import OfferDomain
import OfferService
import Storage
import TestSupport
import Testing

@testable import Ledger

extension FakePlayWorld {
    /// One entry in both stores.
    static func catalog(_ eligibility: String, product: String = "premium") -> String {
        """
        {
          apps: [{
            bundleId: "com.example.app", packageName: "\(FakeGooglePlay.firstApp)",
            plans: [{
              appStore: {productId: "pro.monthly", subscriptionGroupId: "1"},
              googlePlay: {productId: "\(product)", basePlanId: "monthly"},
              offers: [{id: "back", appStore: {offerId: "store_back"}, googlePlay: {offerId: "winback-50"},
                eligibility: \(eligibility)}],
            }],
          }],
        }
        """
    }

    /// Names the app in both stores.
    static let app = #""bundleId": "com.example.app", "packageName": "\#(FakeGooglePlay.firstApp)""#

    func appStoreCall(_ members: String) -> Call {
        service.call(
            as: "backend",
            #"{"bundleId": "com.example.app", "productId": "pro.monthly", "offerId": "back", \#(members)}"#
        )
    }

    /// Has the App Store report that the customer's subscription ended `days` days ago: in a notification or,
    /// if `isRead`, in a full read of the history.
    func lapseInAppStore(
        _ customer: String,
        daysAgo days: Int,
        environment: StoreEnvironment = .production,
        isRead: Bool = false
    ) async throws {
        let now = service.clock.now
        var transaction = AppStoreTransaction(
            transactionID: try TransactionID("71"),
            originalTransactionID: try TransactionID("71"),
            productID: "pro.monthly",
            claims: SignedDataClaims(
                bundleID: try BundleID("com.example.app"),
                environment: environment,
                signedAt: now
            ),
            purchasedAt: now.adding(days: -days - 30)
        )
        transaction.productType = .known(.autoRenewableSubscription)
        transaction.subscriptionGroup = try SubscriptionGroupID("1")
        transaction.expiresAt = now.adding(days: -days)
        transaction.ownership = .known(.purchased)
        let status = SubscriptionEvidence.Status(
            originalTransactionID: transaction.originalTransactionID,
            status: .known(.expired),
            observedAt: now
        )
        let snapshot = service.current.value
        let report = SubscriptionReport(
            SubscriptionEvidence(
                source: isRead ? .storeAPI : .notification,
                transactions: [transaction],
                statuses: [status],
                historyReadAt: isRead ? now : nil
            ),
            keys: AppPseudonyms(snapshot.pseudonyms, in: AppName(transaction.bundleID)),
            bundleID: transaction.bundleID,
            catalog: snapshot.catalog,
            customers: [.customer(try CustomerID(customer))]
        )
        _ = try await service.committer.absorb(report)
    }
}

/// Decisions on facts from both stores.
@Suite(.overBothEngines) struct JoinedDecisionTests {
    private static let lapsed = "{lapsed: {atLeastDays: 30}}"
    private static let anna = #""customerId": "anna""#

    /// Buys as a Google Play customer with an account ID, and delivers the store's message about the purchase.
    private func buyAndTell(_ world: FakePlayWorld, isTest: Bool = false) async throws -> String {
        let grant = try await world.service.send(
            world.authorizationCall(
                #"\#(Self.anna), "facts": {"subscribedBefore": true, "status": "expired", "expiresAt": "2020-01-01T00:00:00Z"}"#
            )
        )
        let account = try #require(grant.json["obfuscatedAccountId"].text, "\(grant)")
        let bought = try world.play.buy(.init("premium", obfuscatedAccountID: account, isTest: isTest))
        world.tick()
        try await world.deliver(bought)
        return bought.token
    }

    @Test func `a paying Google Play customer has not lapsed in the App Store, however old the message`() async throws {
        try await withFakePlay(.inProcess, offers: FakePlayWorld.catalog(Self.lapsed), appStoreKey: true) { world in
            _ = try await buyAndTell(world)
            try await world.lapseInAppStore("anna", daysAgo: 60)
            try await world.lapseInAppStore("bert", daysAgo: 60)
            world.tick(seconds: 3 * 86_400)
            let paying = try await world.service.send(world.appStoreCall(Self.anna))
            #expect(paying.problem == "not-eligible", "\(paying)")
            let lapsed = try await world.service.send(world.appStoreCall(#""customerId": "bert""#))
            #expect(lapsed.status == 200, "\(lapsed)")
        }
    }

    @Test func `a status that is too old at Google Play decides nothing in the App Store`() async throws {
        try await withFakePlay(.inProcess, offers: FakePlayWorld.catalog(Self.lapsed), appStoreKey: true) { world in
            let bought = try world.play.buy(.init("premium"))
            let asked = try await world.service.send(
                world.authorizationCall(#"\#(Self.anna), "purchaseTokens": ["\#(bought.token)"]"#)
            )
            #expect(asked.problem == "not-eligible", "\(asked)")
            try await world.lapseInAppStore("anna", daysAgo: 60)
            let paying = try await world.service.send(world.appStoreCall(Self.anna))
            #expect(paying.problem == "not-eligible", "\(paying)")
            world.tick(seconds: 3 * 86_400)
            let open = try await world.service.send(world.appStoreCall(Self.anna))
            #expect(open.problem == "eligibility-undecided", "\(open)")
        }
    }

    @Test func `reads a new purchase token, even if the customer is eligible without it`() async throws {
        try await withFakePlay(.inProcess, offers: FakePlayWorld.catalog(Self.lapsed), appStoreKey: true) { world in
            try await world.lapseInAppStore("anna", daysAgo: 60)
            let without = try await world.service.send(world.authorizationCall(Self.anna))
            #expect(without.status == 200, "\(without)")
            let bought = try world.play.buy(.init("premium"))
            let reply = try await world.service.send(
                world.authorizationCall(#"\#(Self.anna), "purchaseTokens": ["\#(bought.token)"]"#)
            )
            #expect(reply.problem == "not-eligible", "\(reply)")
            #expect(try world.play.counts().requests(to: .purchase) == 1)
            try world.play.listen(false)
            let other = try world.play.buy(.init("premium")).token
            try await world.lapseInAppStore("bert", daysAgo: 60)
            let silent = try await world.service.send(
                world.authorizationCall(#""customerId": "bert", "purchaseTokens": ["\#(other)"]"#)
            )
            #expect(silent.problem == "store-unavailable", "\(silent)")
        }
    }

    @Test func `a purchase that a request names counts, under whichever name and whatever is stated`() async throws {
        let rule = "{grants: {atMost: 1}}"
        try await withFakePlay(.inProcess, offers: FakePlayWorld.catalog(rule), appStoreKey: true) { world in
            func ask(_ customer: String, _ token: String) async throws -> Reply {
                try await world.service.send(
                    world.authorizationCall(
                        #""customerId": "\#(customer)", "purchaseTokens": ["\#(token)"], "facts": {"subscribedBefore": true}"#
                    )
                )
            }
            #expect(try await ask("anna", "token-1").status == 200)
            let renamed = try await ask("bert", "token-1")
            #expect(renamed.problem == "not-eligible", "\(renamed)")
            #expect(try await ask("bert", "token-2").status == 200, "another subscription, another customer")
        }
    }

    @Test func `a test purchase in one store is never counted with real ones in the other`() async throws {
        let rule = #"{all: [{environment: "production"}, \#(Self.lapsed)]}"#
        try await withFakePlay(.inProcess, offers: FakePlayWorld.catalog(rule), appStoreKey: true) { world in
            let bought = try world.play.buy(.init("premium"))
            let asked = try await world.service.send(
                world.authorizationCall(#"\#(Self.anna), "purchaseTokens": ["\#(bought.token)"]"#)
            )
            #expect(asked.problem == "not-eligible", "\(asked)")
            try await world.lapseInAppStore("anna", daysAgo: 60, environment: .sandbox)
            world.tick(seconds: 3 * 86_400)
            let mixed = try await world.service.send(world.appStoreCall(Self.anna))
            #expect(mixed.status == 403, "\(mixed)")
        }
    }

    @Test func `one store's list does not decide for both while the other store may have more`() async throws {
        let refunds = "{not: {refunded: {withinDays: 90}}}"
        try await withFakePlay(.inProcess, offers: FakePlayWorld.catalog(refunds), appStoreKey: true) { world in
            let token = try world.play.buy(.init("premium")).token
            // Taken back without a message to the service.
            _ = try world.play.happen(.revoke, to: token)
            let google = try await world.service.send(
                world.authorizationCall(#"\#(Self.anna), "purchaseTokens": ["\#(token)"]"#)
            )
            #expect(google.problem == "eligibility-undecided", "\(google)")
            for customer in ["anna", "bert"] { try await world.lapseInAppStore(customer, daysAgo: 60, isRead: true) }
            let apple = try await world.service.send(world.appStoreCall(Self.anna))
            #expect(apple.problem == "eligibility-undecided", "\(apple)")
            let other = try await world.service.send(world.appStoreCall(#""customerId": "bert""#))
            #expect(other.status == 200, "a store without a subscription takes nothing away: \(other)")
        }
        let uses = #"{usedOffers: {type: "promotional", atMost: 0}}"#
        try await withFakePlay(.inProcess, offers: FakePlayWorld.catalog(uses), appStoreKey: true) { world in
            let token = try world.play.buy(.init("premium")).token
            let call = world.authorizationCall(#"\#(Self.anna), "purchaseTokens": ["\#(token)"]"#)
            try await world.lapseInAppStore("anna", daysAgo: 60)
            let unread = try await world.service.send(call)
            #expect(unread.problem == "eligibility-undecided", "\(unread)")
            try await world.lapseInAppStore("anna", daysAgo: 60, isRead: true)
            let read = try await world.service.send(call)
            #expect(read.status == 200, "\(read)")
        }
    }

    @Test func `a retry for an offer that is no longer usable is refused, and records no authorization`() async throws {
        try await withFakePlay { world in
            let call = world.authorizationCall(#"\#(Self.anna), "facts": {"subscribedBefore": true}"#)
                .with("Idempotency-Key", "k")
            #expect(try await world.service.send(call).status == 200)
            try world.play.setOffer(.init("winback-50", of: "premium", state: "INACTIVE"))
            world.tick(seconds: 600)
            try world.play.advance(seconds: 600)
            // The service uses its copy until it reads the offer again.
            var others = 0
            while try await world.service.send(
                world.authorizationCall(#""customerId": "c\#(others)", "facts": {"subscribedBefore": true}"#)
            ).status == 200 { others += 1 }
            let again = try await world.service.send(call)
            #expect(again.status == 409 && again.problem == "offer-not-usable", "\(again)")
            #expect(try world.service.entries("authorize.intent").count == 1 + others)
        }
    }

    @Test func `an unreadable record of one customer does not affect other customers' requests`() async throws {
        try await withFakePlay(.inProcess, offers: FakePlayWorld.catalog(Self.lapsed), appStoreKey: true) { world in
            let token = try await buyAndTell(world)
            let connection = try world.service.ledger.openPatiently()
            try connection.run(SQL("UPDATE subscription_records SET record = 'x' WHERE store = 'google-play'"))
            let bodies = (0..<40).map { index in
                index % 8 == 0
                    ? #"\#(Self.anna), "purchaseTokens": ["\#(token)"]"#
                    : #""customerId": "c\#(index)", "facts": {"subscribedBefore": true, "status": "expired", "expiresAt": "2020-01-01T00:00:00Z"}"#
            }
            let statuses = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
                for (index, body) in bodies.enumerated() {
                    group.addTask {
                        let status = try await world.service.send(world.authorizationCall(body)).status
                        return (index, status)
                    }
                }
                return try await group.reduce(into: [Int: Int]()) { $0[$1.0] = $1.1 }
            }
            for (index, status) in statuses {
                #expect(status == (index % 8 == 0 ? 503 : 200), "request \(index)")
            }
        }
    }
}

extension JoinedDecisionTests {
    @Test func `a sealed service signs no question to Google either, and asks again once it may`() async throws {
        try await withFakePlay(.inProcess) { world in
            try await world.service.seal.seal(.administrator, detail: "a drill", by: .service)
            let bought = try world.play.buy(.init("premium"))
            let message = try #require(bought.messageIDs.first)
            let silent = try await world.push(message)
            #expect(silent.status == 503, "\(silent)")
            #expect(try world.service.entries("store.token").isEmpty)
            #expect(try world.play.counts().requests(to: .token) == 0)
            let reason = try SealReason(Array("over".utf8))
            try await world.service.seal.unseal(reason, by: .service)
            // The breaker and the pause after a failure.
            world.tick(seconds: 120)
            try world.play.advance(seconds: 120)
            let reply = try await world.push(message)
            #expect(reply.status == 204, "\(reply)")
            #expect(try world.service.entries("store.token").count == 1)
        }
    }
}

/// `POST /v1/eligibility`, where an answer could mislead.
@Suite(.overBothEngines) struct EligibilityPreviewTests {
    private static let anna = #""customerId": "anna", "facts": {"subscribedBefore": true}"#

    private func maximumAge(_ reply: Reply) -> Int? {
        reply.headers["cache-control"]?.split(separator: "=").last.flatMap { Int($0) }
    }

    @Test func `while a store is down, its offer is undecided and the answer is not cached`() async throws {
        let rule = #"{status: {in: ["expired"]}}"#
        try await withFakePlay(offers: FakePlayWorld.catalog(rule), appStoreKey: true) { world in
            let bought = try world.play.buy(.init("premium"))
            try world.play.listen(false)
            let call = world.eligibilityCall(
                #"\#(FakePlayWorld.app), "customerId": "anna", "purchaseTokens": ["\#(bought.token)"]"#
            )
            let silent = try await world.service.send(call)
            let offer = silent.json["offers"].elements.first { $0["store"].text == "googlePlay" }
            #expect(offer?["outcome"].text == "undecided", "\(silent)")
            #expect(offer?["obstacle"].text == "store-unavailable", "\(silent)")
            let product = silent.json["products"].elements.first { $0["store"].text == "googlePlay" }
            #expect(product?["promotionalOfferEligibility"] == .null, "\(silent)")
            #expect(maximumAge(silent) == 0)
            try world.play.listen(true)
            world.tick(seconds: 120)
            try world.play.advance(seconds: 120)
            let reply = try await world.service.send(call)
            let google = reply.json["offers"].elements.first { $0["store"].text == "googlePlay" }
            #expect(google?["outcome"].text == "notEligible" && google?["obstacle"].text == nil, "\(reply)")
            #expect((1...300).contains(maximumAge(reply) ?? 0))
        }
    }

    @Test func `an answer is cached only until a window rule starts or ends`() async throws {
        let start = Date().addingTimeInterval(90)
        let text = ISO8601DateFormatter().string(from: start)
        for window in ["until", "from"] {
            let rule = "{any: [{window: {\(window): \"\(text)\"}}, {grants: {atMost: 1}}]}"
            try await withFakePlay(offers: FakePlayWorld.catalog(rule), appStoreKey: true) { world in
                let reply = try await world.service.send(
                    world.eligibilityCall("\(FakePlayWorld.app), \(Self.anna)")
                )
                #expect((1...90).contains(maximumAge(reply) ?? 0), "\(window): \(reply.headers)")
            }
        }
    }

    @Test func `reports the obstacle of an offer that no key can sign`() async throws {
        try await withFakePlay(offers: FakePlayWorld.catalog("{grants: {atMost: 1}}")) { world in
            let reply = try await world.service.send(world.eligibilityCall("\(FakePlayWorld.app), \(Self.anna)"))
            let apple = reply.json["offers"].elements.first { $0["store"].text == "appStore" }
            #expect(apple?["outcome"].text == "eligible" && apple?["obstacle"].text == "key-unavailable", "\(reply)")
            let product = reply.json["products"].elements.first { $0["store"].text == "appStore" }
            #expect(product?["promotionalOfferEligibility"] == .boolean(false), "\(reply)")
        }
    }

    @Test func `another's purchase is left out of account, and a name that the team gave itself is none`() async throws
    {
        let rule = #"{status: {in: ["active"]}}"#
        try await withFakePlay(offers: FakePlayWorld.catalog(rule), appStoreKey: true) { world in
            let account = try await world.service.send(
                world.authorizationCall(
                    #""customerId": "bob", "facts": {"subscribedBefore": true, "status": "active", "expiresAt": "2099-01-01T00:00:00Z"}"#
                )
            ).json["obfuscatedAccountId"].text
            func offerPreview(_ account: String?) async throws -> String? {
                let token = try world.play.buy(.init("premium", obfuscatedAccountID: account)).token
                let reply = try await world.service.send(
                    world.eligibilityCall(
                        as: "app",
                        #"\#(FakePlayWorld.app), "anonymousId": "mallory", "purchaseTokens": ["\#(token)"]"#
                    )
                )
                #expect(reply.status == 200, "\(reply)")
                return reply.json["offers"].elements.first { $0["store"].text == "googlePlay" }?["outcome"].text
            }
            #expect(try await offerPreview(account) == "undecided")
            #expect(try await offerPreview("own-name-of-somebody") == "eligible")
            #expect(try await offerPreview(nil) == "eligible")
        }
    }

    @Test func `a caller with limited apps gets the same answer for other apps and unknown apps`() async throws {
        let catalog = FakePlayWorld.catalog("{grants: {atMost: 1}}")
            .replacing(#"bundleId: "com.example.app""#, with: #"bundleId: "com.example.other""#)
        try await withFakePlay(offers: catalog) { world in
            var details: Set<String> = []
            for package in [FakeGooglePlay.firstApp, "com.example.none"] {
                let members = #""packageName": "\#(package)", "anonymousId": "device-1""#
                let call = world.authorizationCall(as: "scoped", #""anonymousId": "device-1""#)
                var authorization = call
                authorization.body = Array(
                    String(decoding: call.body, as: UTF8.self).replacing(FakeGooglePlay.firstApp, with: package).utf8
                )
                for reply in [
                    try await world.service.send(authorization),
                    try await world.service.send(world.eligibilityCall(as: "scoped", members)),
                ] {
                    #expect(reply.problem == "bundle-not-allowed" && reply.pointers == ["/packageName"], "\(reply)")
                    #expect(!reply.body.contains("com.example.other"), "\(reply)")
                    details.insert(reply.json["detail"].text?.replacing(package, with: "X") ?? "")
                }
            }
            #expect(details.count == 1)
        }
    }
}
