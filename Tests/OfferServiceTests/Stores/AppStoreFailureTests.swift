// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import OfferDomain
import OfferService
import ServiceRuntime
import Testing

@testable import Ledger
@testable import Stores

@Suite("App Store Server API: errors, environments, retries")
struct AppStoreFailureTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let answer: ScriptedTransport.Answer
        let label: String
        /// How often Apple is asked in all.
        let requests: Int
        var testDescription: String

        init(_ name: String, _ answer: ScriptedTransport.Answer, _ label: String, requests: Int = 1) {
            self.answer = answer
            self.label = label
            self.requests = requests
            testDescription = name
        }
    }

    static let rows = [
        Row("401", .json("", status: 401), "credentials-refused", requests: 4),
        Row("wrong bundle id", .error(400, 4_000_002), "app-unknown"),
        Row("app not found", .error(404, 4_040_003), "app-unknown"),
        Row("bad transaction id", .error(400, 4_000_006), "request-refused"),
        Row("an error code of the future", .error(400, 9_990_000), "request-refused"),
        Row("an error without a code", .json("<html>", status: 403), "request-refused"),
        Row("no such account", .error(404, 4_040_001), "not-found"),
        Row("no app transaction", .error(404, 4_040_019), "not-found"),
        Row("neither here nor there", .unknownTransaction, "not-found", requests: 2),
        Row("account, try again", .error(404, 4_040_002), "unavailable", requests: 3),
        Row("app, try again", .error(404, 4_040_004), "unavailable", requests: 3),
        Row("original transaction, try again", .error(404, 4_040_006), "unavailable", requests: 3),
        Row("server, try again", .error(500, 5_000_001), "unavailable", requests: 3),
        Row("server", .error(500, 5_000_000), "unavailable"),
        Row("500 without a code", .json("", status: 500), "unavailable"),
        Row("502", .json("", status: 502), "unavailable", requests: 3),
        Row("503", .json("", status: 503), "unavailable", requests: 3),
        Row("504", .json("", status: 504), "unavailable", requests: 3),
        Row("429", .error(429, 4_290_000), "rate-limited"),
        Row("429 without a body", .json("", status: 429), "rate-limited"),
        Row("redirect", .json("", status: 302), "bad-answer"),
        Row("a status without an answer", .json("{}", status: 202), "bad-answer"),
        Row("timeout", .failure(.timeout), "unavailable", requests: 3),
        Row("refused", .failure(.cannotConnect), "unavailable", requests: 3),
        Row("cut off", .failure(.connectionLost("")), "unavailable", requests: 3),
        Row("TLS", .failure(.tls("")), "unavailable", requests: 3),
        Row("certificate", .failure(.certificateNotTrusted("")), "unavailable"),
        Row("too large", .failure(.responseTooLarge(limitBytes: 1)), "bad-answer"),
        Row("not HTTP", .failure(.protocolViolation("")), "bad-answer"),
        Row("queue full", .failure(.tooManyWaiting(limit: 1)), "unavailable"),
        Row("stopped", .failure(.stopped), "unavailable"),
        Row("cancelled", .failure(.cancelled), "cancelled"),
    ]

    let id: TransactionID
    let asking: AppStoreAsking

    init() throws {
        id = try TransactionID("1")
        asking = try .by()
    }

    @Test(arguments: rows)
    func `reports what went wrong, and asks again only where that may help`(row: Row) async throws {
        let transport = ScriptedTransport(row.answer)
        let store = TestStore(transport)
        #expect(await failure { try await store.api.subscriptionStatuses(of: id, asking) }?.label == row.label)
        #expect(transport.requests.count == row.requests)
        // A 401 may mean that the app was never released. The service asks once more in each environment.
        let isElsewhere = ["neither here nor there", "401"].contains(row.testDescription)
        #expect(transport.requests.contains { $0.origin.host.contains("sandbox") } == isElsewhere)
        #expect(store.pausedMilliseconds.count == (isElsewhere ? 0 : row.requests - 1))
    }

    @Test
    func `asks again until there is an answer`() async throws {
        let transport = ScriptedTransport(.json("", status: 503), .failure(.timeout), .statuses())
        let store = TestStore(transport)
        #expect(try await store.api.subscriptionStatuses(of: id, asking).answer.groups.count == 2)
        #expect(transport.requests.count == 3)
        #expect(store.count("unavailable") == 2 && store.count("answered") == 1)
        #expect((0...200).contains(store.pausedMilliseconds[0]) && (0...400).contains(store.pausedMilliseconds[1]))
    }

    @Test
    func `takes no longer in all than it may, and gives each attempt what is left`() async throws {
        let clock = SettableClock()
        let transport = ScriptedTransport { request, _ in
            clock.advance(milliseconds: Int64(request.timeoutMilliseconds ?? 100_000))
            return .failure(.timeout)
        }
        let retries = RetryPolicy(attempts: 10, attemptMilliseconds: 4000, overallMilliseconds: 10_000)
        let store = TestStore(transport, retries: retries, clock: clock)
        let start = clock.now
        #expect(await failure { try await store.api.subscriptionStatuses(of: id, asking) }?.label == "unavailable")
        #expect(clock.now <= start.adding(milliseconds: 10_000))
        #expect(transport.requests.count == 3)
        #expect(transport.requests[0].timeoutMilliseconds == 4000)
        #expect((1..<2001).contains(transport.requests[2].timeoutMilliseconds ?? 0))
    }

    /// The first page takes 3.8 s, the second 5: with how many requests a question ends that may take so long in all.
    @Test(arguments: [(3800, 1), (4000, 2)] as [(Int64, Int)])
    func `begins no page when the time is over`(overall: Int64, requests: Int) async throws {
        let clock = SettableClock()
        let transport = ScriptedTransport { request, _ in
            let needed: Int64 = request.target.contains("revision") ? 5000 : 3800
            let given = Int64(request.timeoutMilliseconds ?? 0)
            clock.advance(milliseconds: min(needed, given))
            return given < needed ? .failure(.timeout) : .page("", revision: "r", hasMore: true)
        }
        let store = TestStore(transport, clock: clock)
        let asking = try AppStoreAsking.by(overall: overall)
        let start = clock.now
        #expect(await failure { try await store.api.transactionHistory(of: id, asking) }?.label == "unavailable")
        #expect(clock.now == start.adding(milliseconds: overall))
        #expect(transport.requests.count == requests)
    }

    @Test
    func `does not blame the server for having had too little time`() async throws {
        let clock = SettableClock()
        let (first, second) = (Gate(), Gate())
        let transport = ScriptedTransport { request, _ in
            let isSecond = request.target.contains("revision")
            await (isSecond ? second : first).pass()
            return isSecond ? .failure(.timeout) : .page("", revision: "r", hasMore: true)
        }
        let store = TestStore(transport, clock: clock)
        let asking = try AppStoreAsking.by(overall: 4000)
        try await withThrowingTaskGroup(of: StoreError?.self) { group in
            for number in 0..<8 {
                group.addTask {
                    await failure { try await store.api.transactionHistory(of: TransactionID("\(number + 1)"), asking) }
                }
            }
            try await #require(eventually { transport.requests.count == 8 })
            clock.advance(milliseconds: 3800)
            first.open()
            try await #require(eventually { transport.requests.count == 16 })
            second.open()
            for try await error in group { #expect(error?.label == "unavailable") }
        }
        _ = await failure { try await store.api.transactionInfo(of: id, asking) }
        #expect(transport.requests.count == 17)
    }

    @Test(arguments: [(Int64(20_000), 5), (800, 5)])
    func `blames the server however little time the whole question had`(overall: Int64, requests: Int) async throws {
        let transport = ScriptedTransport(.failure(.timeout))
        let store = TestStore(transport, retries: RetryPolicy(attempts: 1))
        let asking = try AppStoreAsking.by(overall: overall)
        for _ in 0..<10 { _ = await failure { try await store.api.subscriptionStatuses(of: id, asking) } }
        #expect(transport.requests.count == requests)
    }

    @Test
    func `goes to the sandbox for what production does not know, and remembers`() async throws {
        let transport = ScriptedTransport { request, _ in
            request.origin.host.contains("sandbox") ? .statuses(in: "Sandbox") : .unknownTransaction
        }
        let store = TestStore(transport)
        #expect(try await store.api.subscriptionStatuses(of: id, asking).environment == .sandbox)
        #expect(transport.requests.count == 2)
        #expect(try await store.api.subscriptionStatuses(of: id, asking).environment == .sandbox)
        #expect(transport.requests.count == 3)
        let other = try TransactionID("2")
        #expect(try await store.api.subscriptionStatuses(of: other, asking).environment == .sandbox)
        #expect(transport.requests.count == 5)
        #expect(store.count("not-found") == 2 && store.count("answered", in: .sandbox) == 3)
    }

    @Test
    func `tries a refused token's question once more with a new token`() async throws {
        let transport = ScriptedTransport(.json("", status: 401), .statuses())
        let store = TestStore(transport)
        #expect(try await store.api.subscriptionStatuses(of: id, asking).environment == .production)
        let tokens = transport.requests.map { request in
            request.headers.first("authorization").map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(tokens == ["Bearer token1", "Bearer token2"])
        #expect(store.log.lines.isEmpty)
    }

    @Test
    func `asks the sandbox about an app that production refuses, and spends no more tokens there`() async throws {
        let transport = ScriptedTransport { request, _ in
            request.origin.host.contains("sandbox") ? .statuses(in: "Sandbox") : .json("", status: 401)
        }
        let store = TestStore(transport)
        #expect(try await store.api.subscriptionStatuses(of: id, asking).environment == .sandbox)
        #expect(transport.requests.count == 3 && store.signer.requests.count == 2)
        #expect(store.log.lines.count == 1 && store.log.lines[0].contains("until the first release"))
        let other = try TransactionID("2")
        #expect(try await store.api.subscriptionStatuses(of: other, asking).environment == .sandbox)
        #expect(transport.requests.count == 5 && store.signer.requests.count == 2)
    }

    @Test
    func `knows no transaction of an app that production refuses, if the sandbox knows none`() async throws {
        let transport = ScriptedTransport { request, _ in
            request.origin.host.contains("sandbox") ? .unknownTransaction : .json("", status: 401)
        }
        let store = TestStore(transport)
        let error = await failure { try await store.api.subscriptionStatuses(of: id, asking) }
        #expect(error == .notFound(code: 4_040_010))
    }

    @Test
    func `does not ask the sandbox about an app that production has answered about`() async throws {
        let transport = ScriptedTransport(.statuses(), .json("", status: 401))
        let store = TestStore(transport)
        _ = try await store.api.subscriptionStatuses(of: id, asking)
        let other = try TransactionID("2")
        let error = await failure { try await store.api.subscriptionStatuses(of: other, asking) }
        #expect(error == .credentialsRefused)
        #expect(!transport.requests.contains { $0.origin.host.contains("sandbox") })
        #expect(store.log.lines.count == 1 && store.log.lines[0].contains("check --live"))
    }

    @Test
    func `leaves out an entry that cannot be read, and reports its location`() async throws {
        let transport = ScriptedTransport(
            .json(
                """
                {"environment":"Production","bundleId":"com.example.app","data":[
                  {"subscriptionGroupIdentifier":"1","lastTransactions":[
                    {"status":1,"originalTransactionId":"3749183","signedTransactionInfo":"t1","signedRenewalInfo":""},
                    {"status":"1","originalTransactionId":"3749184","signedTransactionInfo":"t2"},
                    {"status":1,"originalTransactionId":"0","signedTransactionInfo":"t3"}]},
                  {"lastTransactions":[]}]}
                """
            )
        )
        let answer = try await TestStore(transport).api.subscriptionStatuses(of: id, asking).answer
        #expect(answer.groups.map { $0.lastTransactions.map(\.originalTransactionID.text) } == [["3749183"]])
        #expect(answer.groups[0].lastTransactions[0].signedRenewalInfo == nil)
        let places = ["/data/0/lastTransactions/1/status", "/data/0/lastTransactions/2/originalTransactionId"]
        #expect(answer.unreadable == places + ["/data/1/subscriptionGroupIdentifier"])
    }

    @Test
    func `forgets an environment that was wrong`() async throws {
        let transport = ScriptedTransport(
            .statuses(),
            .unknownTransaction,
            .unknownTransaction,
            .statuses(in: "Sandbox")
        )
        let store = TestStore(transport)
        _ = try await store.api.subscriptionStatuses(of: id, asking)
        #expect(await failure { try await store.api.subscriptionStatuses(of: id, asking) }?.label == "not-found")
        #expect(try await store.api.subscriptionStatuses(of: id, asking).environment == .sandbox)
    }

    @Test(arguments: StoreEnvironment.allCases)
    func `asks nowhere else where the environment is known`(environment: StoreEnvironment) async throws {
        let transport = ScriptedTransport(.unknownTransaction)
        let store = TestStore(transport)
        let asking = try AppStoreAsking.by(in: environment)
        let error = await failure { try await store.api.transactionInfo(of: id, asking) }
        #expect(error == .notFound(code: 4_040_010))
        #expect(transport.requests.map(\.origin) == [AppStoreOrigins.apple[environment]])
    }

    struct RetryAfterRow: Sendable, CustomTestStringConvertible {
        let text: String
        /// Milliseconds from now; `nil` if it is ignored.
        let wait: Int64?
        var testDescription: String { text }
    }

    /// The clock shows 1 782 907 200 123.
    static let retryAfters = [
        RetryAfterRow(text: "1782907205123", wait: 5000),
        RetryAfterRow(text: "1782910800123", wait: 3_600_000),
        RetryAfterRow(text: "1782910800124", wait: nil),
        RetryAfterRow(text: "1782907200123", wait: nil),
        RetryAfterRow(text: "1700000000000", wait: nil),
        RetryAfterRow(text: "99999999999999999999", wait: nil),
        RetryAfterRow(text: "1782907205", wait: nil),
        RetryAfterRow(text: "120", wait: 120_000),
        RetryAfterRow(text: "0", wait: nil),
        RetryAfterRow(text: "-5", wait: nil),
        RetryAfterRow(text: "", wait: nil),
        RetryAfterRow(text: "Wed, 21 Oct 2026 07:28:00 GMT", wait: nil),
        RetryAfterRow(text: "soon", wait: nil),
    ]

    @Test(arguments: retryAfters)
    func `reads Retry-After, and leaves nonsense alone`(row: RetryAfterRow) async throws {
        let transport = ScriptedTransport(.error(429, 4_290_000, retryAfter: row.text), .statuses())
        let store = TestStore(transport)
        let error = await failure { try await store.api.subscriptionStatuses(of: id, asking) }
        let until = row.wait.map { store.clock.now.adding(milliseconds: $0) }
        #expect(error == .rateLimited(retryAfter: until))

        // The service sends nothing to this endpoint meanwhile. Other endpoints are not affected.
        let again = await failure { try await store.api.subscriptionStatuses(of: try TransactionID("2"), asking) }
        #expect(again == .rateLimited(retryAfter: store.clock.now.adding(milliseconds: row.wait ?? 1000)))
        #expect(transport.requests.count == 1 && store.count("held-back") == 1)
        #expect(await failure { try await store.api.transactionInfo(of: id, asking) }?.label == "bad-answer")
        #expect(transport.requests.count == 2)
        store.clock.advance(milliseconds: row.wait ?? 1000)
        _ = try await store.api.subscriptionStatuses(of: id, asking)
    }

    @Test
    func `does not ask a server that has failed five times in a row, until one request has tried it`() async throws {
        let isBroken = Flag(true)
        let transport = ScriptedTransport { request, _ in
            if request.origin.host.contains("sandbox") { return .statuses(in: "Sandbox") }
            return isBroken.isOn ? .failure(.timeout) : .statuses()
        }
        let store = TestStore(transport, retries: RetryPolicy(attempts: 1))
        for _ in 0..<5 { _ = await failure { try await store.api.subscriptionStatuses(of: id, asking) } }
        #expect(transport.requests.count == 5)
        let refused = await failure { try await store.api.subscriptionStatuses(of: id, asking) }
        #expect(refused == .unavailable(retryAfter: store.clock.now.adding(milliseconds: 2000)))
        #expect(transport.requests.count == 5 && store.count("not-asked") == 1)
        #expect(store.log.lines.count == 1 && store.log.lines[0].contains("api.storekit.apple.com"))

        // The other environment has a server of its own.
        _ = try await store.api.subscriptionStatuses(of: try TransactionID("9"), .by(in: .sandbox))

        store.clock.advance(milliseconds: 2000)
        _ = await failure { try await store.api.subscriptionStatuses(of: id, asking) }
        #expect(transport.requests.count == 7)
        let longer = await failure { try await store.api.subscriptionStatuses(of: try TransactionID("2"), asking) }
        #expect(longer == .unavailable(retryAfter: store.clock.now.adding(milliseconds: 4000)))

        isBroken.set(false)
        store.clock.advance(milliseconds: 4000)
        for _ in 0..<3 { _ = try await store.api.subscriptionStatuses(of: try TransactionID("3"), asking) }
        #expect(store.gateway.breakerGauge.samples.contains { $0.labels[1].1 == "closed" && $0.value == 1 })
        #expect(store.log.lines.count == 3)
    }

    @Test
    func `opens for no answer that a customer or a caller causes`() async throws {
        let transport = ScriptedTransport { _, index in
            [.unknownTransaction, .error(400, 4_000_006), .json("", status: 401), .error(429, 1)][index % 4]
        }
        let store = TestStore(transport, retries: RetryPolicy(attempts: 1))
        let asking = try AppStoreAsking.by(in: .production)
        for index in 0..<40 {
            _ = await failure { try await store.api.transactionInfo(of: try TransactionID("\(index + 1)"), asking) }
            store.clock.advance(seconds: 2)
        }
        // Each 401 is followed by another try.
        #expect(transport.requests.count == 53)
    }
}
