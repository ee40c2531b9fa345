// SPDX-License-Identifier: Apache-2.0
import HTTP
import OfferDomain
import OfferService
import Testing

@testable import Ledger
@testable import Stores

@Suite("App Store Server API: questions and answers")
struct AppStoreAnswerTests {
    let id: TransactionID
    let asking: AppStoreAsking

    init() throws {
        id = try TransactionID("1000000012345678")
        asking = try .by()
    }

    @Test
    func `reads all subscription statuses, and lets what it does not know be`() async throws {
        let transport = ScriptedTransport(.statuses())
        let store = TestStore(transport)
        let answered = try await store.api.subscriptionStatuses(of: id, asking)
        #expect(answered.environment == .production)
        #expect(answered.answeredAt == store.clock.now)
        let statuses = answered.answer
        #expect(statuses.appAppleID == 1234)
        #expect(statuses.groups.map(\.id.text) == ["sub_group_one", "2"])
        let items = statuses.groups[0].lastTransactions
        #expect(items.map(\.status) == [1, 77])
        #expect(items.map(\.originalTransactionID.text) == ["3749183", "5314314"])
        #expect(items.map(\.signedTransaction) == ["t1", "t2"].map { UnverifiedJWS(Array($0.utf8)) })
        #expect(items.map(\.signedRenewalInfo) == [UnverifiedJWS(Array("r1".utf8)), nil])
        #expect(transport.targets == ["api.storekit.apple.com/inApps/v1/subscriptions/1000000012345678"])
        #expect(transport.requests[0].origin.scheme == .https)
        #expect(transport.requests[0].headers.first("authorization") == Array("Bearer token1".utf8))
        #expect(store.count("answered") == 1)
    }

    @Test
    func `reads a history to its last page, with the same filter on each`() async throws {
        let transport = ScriptedTransport(
            .page(#""a","b""#, revision: "r 1/", hasMore: true),
            .page(#""c""#, revision: "r2", hasMore: true),
            .page("", revision: "r3", hasMore: false)
        )
        let store = TestStore(transport)
        var filter = TransactionHistoryFilter.subscriptions
        filter.productIDs = [try ProductID("pro.monthly"), try ProductID("pro yearly")]
        filter.isRevoked = false
        filter.startsAt = Timestamp(milliseconds: 1_700_000_000_000)
        let history = try await store.api.transactionHistory(of: id, asking, filter).answer
        #expect(history.signedTransactions.map { String(decoding: $0.bytes, as: UTF8.self) } == ["a", "b", "c"])
        #expect(history.isComplete && history.revision == "r3")
        let first =
            "api.storekit.apple.com/inApps/v2/history/1000000012345678?startDate=1700000000000"
            + "&productId=pro.monthly&productId=pro%20yearly&productType=AUTO_RENEWABLE&revoked=false"
        #expect(transport.targets == [first, first + "&revision=r%201%2F", first + "&revision=r2"])
    }

    @Test
    func `ends a history that is too long, and says so`() async throws {
        let transport = ScriptedTransport { _, index in
            .page(#""\#(index)""#, revision: "r\(index)", hasMore: true)
        }
        let history = try await TestStore(transport, maximumPages: 3).api.transactionHistory(of: id, asking).answer
        #expect(!history.isComplete && history.signedTransactions.count == 3 && history.revision == "r2")
        #expect(transport.requests.count == 3)
    }

    @Test
    func `refuses pages that lead nowhere`() async throws {
        for page in [
            #"{"hasMore":true,"signedTransactions":[]}"#, #"{"hasMore":true,"revision":"r","signedTransactions":[]}"#,
        ] {
            let store = TestStore(ScriptedTransport(.json(page)))
            let error = await failure { try await store.api.transactionHistory(of: id, asking, since: "r") }
            #expect(error?.label == "bad-answer")
        }
    }

    @Test
    func `reads single transactions`() async throws {
        let transport = ScriptedTransport(
            .json(#"{"signedTransactionInfo":"t"}"#),
            .json(#"{"signedAppTransactionInfo":"a"}"#)
        )
        let store = TestStore(transport)
        #expect(try await store.api.transactionInfo(of: id, asking).answer == UnverifiedJWS(Array("t".utf8)))
        #expect(try await store.api.appTransactionInfo(of: id, asking).answer == UnverifiedJWS(Array("a".utf8)))
        let path = "api.storekit.apple.com/inApps/v1/transactions/"
        #expect(transport.targets == [path + id.text, path + "appTransactions/" + id.text])
    }

    @Test
    func `reads notifications page by page`() async throws {
        let item = #"{"signedPayload":"p","sendAttempts":[{"attemptDate":1700000000000,"sendAttemptResult":"NEW"}]}"#
        let transport = ScriptedTransport(
            .json(#"{"paginationToken":"t+1","hasMore":true,"notificationHistory":[\#(item),{"signedPayload":"q"}]}"#),
            .json(#"{"hasMore":false,"notificationHistory":[]}"#)
        )
        let store = TestStore(transport)
        var query = NotificationHistoryQuery(
            from: Timestamp(milliseconds: 1),
            to: Timestamp(milliseconds: 2),
            onlyFailures: true
        )
        query.notificationType = "REFUND"
        let history = try await store.api.notificationHistory(query, in: .sandbox, asking)
        #expect(history.isComplete)
        #expect(history.items.map(\.signedPayload) == ["p", "q"].map { UnverifiedJWS(Array($0.utf8)) })
        let attempt = DeliveryAttempt(attemptedAt: Timestamp(milliseconds: 1_700_000_000_000), result: "NEW")
        #expect(history.items.map(\.attempts) == [[attempt], []])
        let path = "api.storekit-sandbox.apple.com/inApps/v1/notifications/history"
        #expect(transport.targets == [path, path + "?paginationToken=t%2B1"])
        let body = #"{"startDate":1,"endDate":2,"notificationType":"REFUND","onlyFailures":true}"#
        #expect(transport.requests.allSatisfy { $0.method == .post && $0.body == Array(body.utf8) })
        #expect(transport.requests[0].headers.first("content-type") == Array("application/json".utf8))
    }

    @Test
    func `asks for a test notification, and whether it came`() async throws {
        let transport = ScriptedTransport(
            .json(#"{"testNotificationToken":"ce3af791-365e-4c60-841b-1674b43c1609_1608134400000"}"#),
            .json(#"{"signedPayload":"p","firstSendAttemptResult":"SUCCESS","sendAttempts":[]}"#)
        )
        let store = TestStore(transport)
        let token = try await store.api.requestTestNotification(in: .production, asking)
        let status = try await store.api.testNotificationStatus(of: token, in: .production, asking)
        #expect(status.signedPayload == UnverifiedJWS(Array("p".utf8)))
        #expect(transport.requests.map(\.method) == [.post, .get])
        #expect(transport.targets[1].hasSuffix("/inApps/v1/notifications/test/\(token)"))
        #expect(TestNotificationToken("../x") == nil && TestNotificationToken("") == nil)
    }

    /// Answers with status 200 that say nothing we may build on; above all, none of them is “no subscriptions”.
    static let badAnswers = [
        "", "null", "[]", "{}", "<html></html>", #"{"data":null}"#, #"{"data":{}}"#,
        #"{"data":[],"bundleId":"com.example.other"}"#, #"{"data":[],"environment":"Sandbox"}"#,
        #"{"data":[],"environment":"Xcode"}"#, #"{"data":[],"data":[]}"#, #"{"data":[]} x"#,
    ]

    /// Answers with one entry that can't be read: the service leaves it out, and reports it.
    static let badEntries = [
        #"{"data":[1]}"#, #"{"data":[{"subscriptionGroupIdentifier":"1"}]}"#, #"{"data":[{"lastTransactions":[]}]}"#,
        #"{"data":[{"subscriptionGroupIdentifier":"a b","lastTransactions":[]}]}"#,
        #"{"data":[{"subscriptionGroupIdentifier":"1","lastTransactions":[{"status":1,"originalTransactionId":"1"}]}]}"#,
        #"{"data":[{"subscriptionGroupIdentifier":"1","lastTransactions":[{"status":"1","originalTransactionId":"1","signedTransactionInfo":"t"}]}]}"#,
        #"{"data":[{"subscriptionGroupIdentifier":"1","lastTransactions":[{"status":1,"originalTransactionId":"x","signedTransactionInfo":"t"}]}]}"#,
        #"{"data":[{"subscriptionGroupIdentifier":"1","lastTransactions":[{"status":1,"originalTransactionId":"1","signedTransactionInfo":""}]}]}"#,
    ]

    @Test(arguments: badEntries)
    func `leaves out an entry that is none, and says so`(body: String) async throws {
        let answer = try await TestStore(ScriptedTransport(.json(body))).api.subscriptionStatuses(of: id, asking).answer
        #expect(answer.groups.flatMap(\.lastTransactions).isEmpty)
        #expect(answer.unreadable.count == 1)
    }

    @Test(arguments: badAnswers)
    func `refuses an answer that is none`(body: String) async throws {
        let transport = ScriptedTransport(.json(body))
        let store = TestStore(transport)
        let error = await failure { try await store.api.subscriptionStatuses(of: id, asking) }
        #expect(error?.label == "bad-answer")
        #expect(transport.requests.count == 1)
        #expect(store.count("bad-answer") == 1)
    }
}
