// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
import OfferDomain
import OfferService
import Testing

@testable import Ledger
@testable import Stores

@Suite("Google Play: the API")
struct GooglePlayAPITests {
    // MARK: - Purchases

    @Test
    func `asks for a purchase with its token encoded, and gives the answer on as it came`() async throws {
        let play = try TestGooglePlay { _ in .purchase }
        let lookup = try await play.lookUp("a/b?c=d%2E&~")
        let json = Array(#"{"kind":"androidpublisher#subscriptionPurchaseV2","startTime":"x"}"#.utf8)
        #expect(lookup == .found(GooglePlayAnswer(json: json, answeredAt: play.clock.now)))
        #expect(
            play.playRequests.map { "\($0.origin)\($0.target)" } == [
                "https://androidpublisher.googleapis.com/androidpublisher/v3/applications/com.example.app/purchases/"
                    + "subscriptionsv2/tokens/a%2Fb%3Fc%3Dd%252E%26~"
            ]
        )
        #expect(play.playRequests[0].maximumResponseBytes == 262_144)
        #expect(play.count("answered") == 1)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let answer: TestGooglePlay.Answer
        let outcome: Result<GooglePlayLookup, StoreError>
        let requests: Int
        let label: String

        init(
            _ name: String,
            _ answer: TestGooglePlay.Answer,
            _ outcome: Result<GooglePlayLookup, StoreError>,
            requests: Int = 1,
            _ label: String
        ) {
            testDescription = name
            self.answer = answer
            self.outcome = outcome
            self.requests = requests
            self.label = label
        }
    }

    private static let unavailable = Result<GooglePlayLookup, StoreError>.failure(.unavailable(retryAfter: nil))

    static let rows = [
        Row("a made-up token", .googleError(400, "invalid"), .success(.notFound), "not-found"),
        Row(
            "another app's token",
            .googleError(400, "purchaseTokenDoesNotMatchPackageName"),
            .success(.notFound),
            "not-found"
        ),
        Row(
            "another 400",
            .googleError(400, "badRequest"),
            .failure(.requestRefused(status: 400, code: 0)),
            "request-refused"
        ),
        Row(
            "a 400 that is not Google's",
            .json("<html>", status: 400),
            .failure(.badAnswer(reason: "status 400")),
            "bad-answer"
        ),
        Row(
            "no rights, as 401",
            .googleError(401, "permissionDenied"),
            .failure(.notPermitted(reason: "permissionDenied")),
            "not-permitted"
        ),
        Row(
            "no rights, by status",
            .googleError(401, "", "PERMISSION_DENIED"),
            .failure(.notPermitted(reason: "PERMISSION_DENIED")),
            "not-permitted"
        ),
        Row(
            "a token that is refused twice",
            .googleError(401, "authError"),
            .failure(.credentialsRefused),
            requests: 2,
            "credentials-refused"
        ),
        Row(
            "401 without a word",
            .json("", status: 401),
            .failure(.credentialsRefused),
            requests: 2,
            "credentials-refused"
        ),
        Row(
            "API not enabled",
            .googleError(403, "accessNotConfigured"),
            .failure(.notPermitted(reason: "accessNotConfigured")),
            "not-permitted"
        ),
        Row("403 of a proxy", .json("no", status: 403), .failure(.badAnswer(reason: "status 403")), "bad-answer"),
        Row(
            "rate limit as 403",
            .googleError(403, "rateLimitExceeded"),
            .failure(.rateLimited(retryAfter: nil)),
            requests: 3,
            "rate-limited"
        ),
        Row(
            "user rate limit as 403",
            .googleError(403, "userRateLimitExceeded"),
            .failure(.rateLimited(retryAfter: nil)),
            requests: 3,
            "rate-limited"
        ),
        Row(
            "429",
            .googleError(429, "rateLimitExceeded"),
            .failure(.rateLimited(retryAfter: nil)),
            requests: 3,
            "rate-limited"
        ),
        Row("not found", .googleError(404, "purchaseTokenNotFound"), .success(.notFound), "not-found"),
        Row("no such app", .googleError(404, "applicationNotFound"), .failure(.appUnknown(code: 404)), "app-unknown"),
        Row("404 of another kind", .googleError(404, "somethingNew"), .failure(.notFound(code: 404)), "not-found"),
        Row("404 of a proxy", .json("", status: 404), .failure(.badAnswer(reason: "status 404")), "bad-answer"),
        Row("408", .json("", status: 408), unavailable, requests: 3, "unavailable"),
        Row("409", .googleError(409, "concurrentUpdate"), unavailable, requests: 3, "unavailable"),
        Row(
            "gone for long",
            .googleError(410, "subscriptionPurchaseNoLongerAvailable"),
            .success(.gone(.endedLongAgo)),
            "gone"
        ),
        Row("superseded", .googleError(410, "purchaseTokenNoLongerValid"), .success(.gone(.superseded)), "gone"),
        Row("gone otherwise", .googleError(410, "somethingNew"), .success(.gone(.other)), "gone"),
        Row("410 of a proxy", .json("", status: 410), .failure(.badAnswer(reason: "status 410")), "bad-answer"),
        Row("500", .googleError(500, "backendError"), unavailable, requests: 3, "unavailable"),
        Row("502 of a proxy", .json("<html>", status: 502), unavailable, requests: 3, "unavailable"),
        Row("503", .googleError(503, "backendError", "UNAVAILABLE"), unavailable, requests: 3, "unavailable"),
        Row("204", .json("", status: 204), .failure(.badAnswer(reason: "status 204")), "bad-answer"),
        Row("a redirect", .json("", status: 302), .failure(.badAnswer(reason: "status 302")), "bad-answer"),
        Row(
            "an empty object",
            .json("{}"),
            .failure(.badAnswer(reason: "the purchase is not an object, or an empty one")),
            "bad-answer"
        ),
        Row(
            "a list",
            .json("[1]"),
            .failure(.badAnswer(reason: "the purchase is not an object, or an empty one")),
            "bad-answer"
        ),
        Row(
            "cut off",
            .json("{\"a\":"),
            .failure(.badAnswer(reason: "The text ends in the middle of a value")),
            "bad-answer"
        ),
        Row("no answer", .failure(.timeout), unavailable, requests: 3, "unavailable"),
        Row(
            "too large",
            .failure(.responseTooLarge(limitBytes: 1)),
            .failure(.badAnswer(reason: "response-too-large")),
            "bad-answer"
        ),
    ]

    @Test(arguments: rows)
    func `decides by status and reason`(row: Row) async throws {
        let play = try TestGooglePlay { _ in row.answer }
        do {
            let lookup = try await play.lookUp()
            #expect(try lookup == row.outcome.get())
        } catch let error as StoreError {
            #expect(row.outcome == .failure(error))
        }
        #expect(play.playRequests.count == row.requests)
        #expect(play.count(row.label) == row.requests)
    }

    @Test
    func `a token that has ended is renewed once, and the question asked again`() async throws {
        let play = try TestGooglePlay { $0 == 0 ? .googleError(401, "authError", "UNAUTHENTICATED") : .purchase }
        _ = try await play.lookUp()
        #expect(play.authorizations == ["Bearer token1", "Bearer token2"])
        _ = try await play.lookUp()
        #expect(play.authorizations.last == "Bearer token2")
        #expect(play.log.lines.isEmpty)
    }

    @Test
    func `keeps the token of an account without rights, and logs the missing rights`() async throws {
        let play = try TestGooglePlay { _ in .googleError(401, "permissionDenied") }
        for _ in 0..<3 {
            #expect(await failure { try await play.lookUp() } == .notPermitted(reason: "permissionDenied"))
        }
        #expect(play.tokenRequests.count == 1)
        let said = play.log.lines.first { $0.contains("does not let our service account ask") }
        #expect(said?.contains("permissionDenied") == true && said?.contains("com.example.app") == true)
    }

    @Test(arguments: ["7", "Sat, 21 Nov 2026 15:00:07 GMT"])
    func `keeps away from a bucket for as long as Google says, and from no other`(retryAfter: String) async throws {
        let start = try #require(Timestamp(rfc3339: "2026-11-21T15:00:00Z"))
        let play = try TestGooglePlay(clock: SettableClock(milliseconds: start.milliseconds)) { index in
            index == 0 ? .googleError(429, "rateLimitExceeded", retryAfter: retryAfter) : .json("{}")
        }
        let until = play.clock.now.adding(seconds: 7)
        #expect(await failure { try await play.lookUp() } == .rateLimited(retryAfter: until))
        #expect(await failure { try await play.lookUp("another") } == .rateLimited(retryAfter: until))
        #expect(play.playRequests.count == 1)
        _ = try await play.api.offerPages(play.asking)
        #expect(play.playRequests.count == 2)
        play.clock.advance(milliseconds: 7000)
        _ = await failure { try await play.lookUp() }
        #expect(play.playRequests.count == 3)
    }

    @Test(arguments: ["0", "3601", "-1", "soon", "", "99999999999999999999"])
    func `passes over a time that makes no sense`(retryAfter: String) async throws {
        let play = try TestGooglePlay { _ in .googleError(429, "rateLimitExceeded", retryAfter: retryAfter) }
        #expect(await failure { try await play.lookUp() } == .rateLimited(retryAfter: nil))
    }

    @Test
    func `spends no more than its part of a minute's quota, over all apps of an account`() async throws {
        let play = try TestGooglePlay { _ in .purchase }
        var granted = 0
        for index in 0..<400 {
            let asking = GooglePlayAsking(
                packageName: try PackageName("com.example.a\(index % 3)"),
                party: play.asking.party
            )
            let error = await failure {
                try await play.api.subscriptionPurchase(try PurchaseToken("t\(index)"), asking)
            }
            if error == nil { granted += 1 }
            if let error { #expect(error.label == "budget-spent") }
        }
        #expect(granted == 270)
        #expect(play.count("budget-spent") == 130)
        play.clock.advance(milliseconds: 60_000)
        _ = try await play.lookUp()
    }

    // MARK: - Lists

    private static let page = #"{"subscriptionOffers":[{"offerId":"a"}]}"#

    @Test
    func `reads all pages of a list, with wildcards in the path and tokens encoded`() async throws {
        let play = try TestGooglePlay { index in
            .json(index < 2 ? #"{"subscriptionOffers":[{}],"nextPageToken":"p/\#(index)"}"# : Self.page)
        }
        let pages = try await play.api.offerPages(play.asking)
        #expect(pages.map { $0.root.object?["subscriptionOffers"]?.array?.count } == [1, 1, 1])
        let path = "/androidpublisher/v3/applications/com.example.app/subscriptions/-/basePlans/-/offers"
        #expect(
            play.playRequests.map(\.target) == [
                "\(path)?pageSize=100&prettyPrint=false", "\(path)?pageSize=100&pageToken=p%2F0&prettyPrint=false",
                "\(path)?pageSize=100&pageToken=p%2F1&prettyPrint=false",
            ]
        )
        #expect(play.playRequests.allSatisfy { $0.maximumResponseBytes == 8_388_608 })
        _ = try await play.api.subscriptionPages(play.asking)
        #expect(
            play.playRequests.last?.target
                == "/androidpublisher/v3/applications/com.example.app/subscriptions?pageSize=25&prettyPrint=false"
        )
    }

    @Test(arguments: [.json("{}"), .json("", status: 204), .json(" { } ")] as [TestGooglePlay.Answer])
    func `takes an empty answer for an empty list`(answer: TestGooglePlay.Answer) async throws {
        let play = try TestGooglePlay { _ in answer }
        #expect(try await play.api.offerPages(play.asking).isEmpty)
        #expect(try await play.api.subscriptionPages(play.asking).isEmpty)
    }

    @Test
    func `ends at a page without a next one, an empty token included`() async throws {
        let play = try TestGooglePlay { _ in .json(#"{"subscriptions":[],"nextPageToken":""}"#) }
        #expect(try await play.api.subscriptionPages(play.asking).count == 1)
    }

    static let brokenLists: [(String, @Sendable (Int) -> TestGooglePlay.Answer, StoreError)] = [
        ("no object", { _ in .json("[]") }, .badAnswer(reason: "the page is not an object")),
        ("an empty body", { _ in .json("") }, .badAnswer(reason: "There is no JSON value")),
        (
            "a token that is a number", { _ in .json(#"{"nextPageToken":1}"#) },
            .badAnswer(reason: "nextPageToken is not a text of at most 4096 bytes")
        ),
        (
            "a page that leads to itself", { _ in .json(#"{"nextPageToken":"a"}"#) },
            .badAnswer(reason: "a page leads to one before it")
        ),
        (
            "pages in a ring", { .json(#"{"nextPageToken":"\#($0 % 3)"}"#) },
            .badAnswer(reason: "a page leads to one before it")
        ),
        (
            "pages without end", { .json(#"{"nextPageToken":"\#($0)"}"#) },
            .badAnswer(reason: "there are more than 5 pages")
        ),
        (
            "a second page that fails",
            { $0 == 0 ? .json(#"{"nextPageToken":"1"}"#) : .googleError(400, "invalidPageToken") },
            .requestRefused(status: 400, code: 0)
        ),
        ("not found", { _ in .googleError(404, "notFound") }, .notFound(code: 404)),
        ("no such app", { _ in .googleError(404, "applicationNotFound") }, .appUnknown(code: 404)),
        ("no rights", { _ in .googleError(403, "forbidden") }, .notPermitted(reason: "forbidden")),
    ]

    @Test(arguments: brokenLists.indices)
    func `gives a list whole or not at all`(index: Int) async throws {
        let (name, answer, error) = Self.brokenLists[index]
        let play = try TestGooglePlay(maximumPages: 5, play: answer)
        #expect(await failure { try await play.api.offerPages(play.asking) } == error, "\(name)")
    }

    @Test
    func `a page of a hundred offers in all regions can be read`() async throws {
        let regions = (0..<175).map { "\(UnicodeScalar(UInt8(65 + $0 / 26)))\(UnicodeScalar(UInt8(65 + $0 % 26)))" }
        let prices = regions.map {
            #"{"regionCode":"\#($0)","price":{"currencyCode":"USD","units":"4","nanos":990000000}}"#
        }.joined(separator: ",")
        let configs = regions.map { #"{"regionCode":"\#($0)","newSubscriberAvailability":true}"# }.joined(
            separator: ","
        )
        let phase = #"{"recurrenceCount":1,"duration":"P1M","regionalConfigs":[\#(prices)]}"#
        let offer = #"{"offerId":"a","phases":[\#(phase),\#(phase)],"regionalConfigs":[\#(configs)]}"#
        let text = #"{"subscriptionOffers":[\#(Array(repeating: offer, count: 100).joined(separator: ","))]}"#
        #expect(text.utf8.count < 8_388_608 / 2 + 100_000)
        let play = try TestGooglePlay { _ in .json(text) }
        #expect(try await play.api.offerPages(play.asking)[0].root.object?["subscriptionOffers"]?.array?.count == 100)
    }
}
