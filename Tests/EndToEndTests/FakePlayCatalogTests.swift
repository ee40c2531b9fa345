// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

extension EndToEnd {
    /// The fake Google Play, as curl sees it: subscriptions, base plans and offers, and how rude it is.
    @Suite(.ring(.check)) struct FakePlayCatalogTests {
        private static let winback = FakeGooglePlay.ResourceName("premium", "monthly", "winback")
        private static let allOffers = "/subscriptions/-/basePlans/-/offers"
        private static let offer = "/subscriptionOffers/0"

        private let play: FakeGooglePlay
        private let client: FakeGooglePlayClient

        init() async throws {
            client = try await FakeGooglePlayClient.fresh()
            play = client.play
            let plans = [FakeGooglePlay.BasePlan("monthly", tags: ["plan"]), .init("year", .prepaid, state: "DRAFT")]
            try play.setSubscription(.init("premium", basePlans: plans))
            let phases = [FakeGooglePlay.Phase(.free, "P7D"), .init(.price, "P1M", times: 2)]
            try play.setOffer(.init("winback", of: "premium", phases: phases, closedRegions: ["FR"]))
        }

        private func reason(_ path: String) async throws -> String? {
            try await client.get(path).value("/error/errors/0/reason")
        }

        @Test func `it writes JSON as proto3 does, or also what is false and zero`() async throws {
            let members = [
                "\(Self.offer)/offerTags/0/tag": "ignore-offer", "\(Self.offer)/targeting": nil,
                "\(Self.offer)/regionalConfigs/2": #"{"regionCode":"FR"}"#,
                "\(Self.offer)/otherRegionsConfig": "{}",
                "\(Self.offer)/phases/0/regionalConfigs/0": #"{"free":{},"regionCode":"US"}"#,
                "\(Self.offer)/phases/1/regionalConfigs/0/price": #"{"currencyCode":"USD","units":"1"}"#,
                "\(Self.offer)/phases/1/recurrenceCount": "2",
            ]
            expectMembers(members, in: try await client.get(Self.allOffers))
            let plan = "/subscriptions/0/basePlans"
            let subscriptions = try await client.get("/subscriptions")
            expectMembers(
                [
                    "\(plan)/0/offerTags/0/tag": "plan", "\(plan)/1/offerTags": nil, "\(plan)/1/state": "DRAFT",
                    "\(plan)/0/autoRenewingBasePlanType/legacyCompatible": nil,
                    "\(plan)/1/prepaidBasePlanType/billingPeriodDuration": "P1M", "/subscriptions/0/archived": nil,
                ],
                in: subscriptions
            )
            try play.setHabits(.init(writesDefaults: true))
            let written = [
                "\(Self.offer)/regionalConfigs/2/newSubscriberAvailability": "false",
                "\(Self.offer)/phases/1/regionalConfigs/0/price/nanos": "0",
            ]
            expectMembers(written, in: try await client.get(Self.allOffers))
        }

        @Test func `lists come in pages, and a page token is good for its list only`() async throws {
            for index in 0..<7 { try play.setOffer(.init("offer-\(index)", of: "premium", "year")) }
            var found: [String] = []
            var page = try await client.get("\(Self.allOffers)?pageSize=3")
            let first = try #require(page.value("/nextPageToken"))
            while true {
                found += (0..<3).compactMap { page.value("/subscriptionOffers/\($0)/offerId") }
                guard let token = page.value("/nextPageToken") else { break }
                page = try await client.get("\(Self.allOffers)?pageSize=3&pageToken=\(token)")
            }
            #expect(found == ["winback"] + (0..<7).map { "offer-\($0)" })
            let other = "/subscriptions/premium/basePlans/-/offers?pageToken=\(first)"
            #expect(try await reason(other) == "invalidPageToken")
            #expect(try await reason("\(Self.allOffers)?pageToken=x") == "invalidPageToken")
            #expect(try await reason("\(Self.allOffers)?pageSize=many") == "invalid")
            #expect(try await client.get("\(Self.allOffers)?pageSize=5000").value("/nextPageToken") == nil)
            try play.setHabits(.init(largestPage: 2, reversesLists: true))
            let small = try await client.get("\(Self.allOffers)?pageSize=1000")
            expectMembers(["\(Self.offer)/offerId": "offer-6", "/subscriptionOffers/2": nil], in: small)
            #expect(small.value("/nextPageToken") != nil)
        }

        @Test func `wildcards, single resources and batches find what they name`() async throws {
            try play.setOffer(.init("intro", of: "premium", "year"))
            let year = try await client.get("/subscriptions/premium/basePlans/year/offers")
            expectMembers(["\(Self.offer)/offerId": "intro", "/subscriptionOffers/1": nil], in: year)
            #expect(
                try await client.get("/subscriptions/premium/basePlans/-/offers").value("/subscriptionOffers/1") != nil
            )
            #expect(try await reason("/subscriptions/-/basePlans/year/offers") == "invalid")
            #expect(try await reason("/subscriptions/none/basePlans/-/offers") == "notFound")
            let one = "/subscriptions/premium/basePlans/monthly/offers/winback"
            let resource = try await client.get(one)
            #expect(resource.value("/offerId") == "winback")
            #expect(try play.json(of: Self.winback) == resource.body)
            #expect(try await reason(one + "2") == "notFound")
            #expect(try await client.get("/subscriptions/premium").value("/productId") == "premium")
            #expect(try await reason("/subscriptions/none") == "notFound")
            let two = try await client.get("/subscriptions:batchGet?productIds=premium")
            #expect(two.value("/subscriptions/0/productId") == "premium")
            #expect(try await reason("/subscriptions:batchGet?productIds=premium&productIds=premium") == "invalid")
            let name = #"{"packageName":"com.example.app","productId":"premium","basePlanId":"year","offerId":"intro"}"#
            let batch = try await client.get(
                "\(Self.allOffers):batchGet",
                ["-H", "Content-Type: application/json", "-d", #"{"requests":[\#(name)]}"#]
            )
            #expect(batch.value("\(Self.offer)/offerId") == "intro")
        }

        @Test(arguments: FakeGooglePlay.Habits.EmptyLists.allCases)
        func `an empty list is written in three ways`(way: FakeGooglePlay.Habits.EmptyLists) async throws {
            try play.remove(Self.winback)
            try play.setHabits(.init(emptyLists: way))
            let answer = try await client.get(Self.allOffers)
            #expect(answer.status == (way == .noContent ? 204 : 200))
            #expect(answer.body == [.absent: "{}", .noContent: "", .empty: #"{"subscriptionOffers":[]}"#][way])
        }

        @Test func `each member can be edited, taken away, and put back`() async throws {
            try play.edit(Self.winback, "/targeting", [:])
            try play.edit(Self.winback, "/offerTags/-", ["tag": "another"])
            try play.edit(Self.winback, "/phases/1", .null)
            try play.edit(Self.winback, "/phases/0/regionalConfigs/0/free", .null)
            try play.edit(Self.winback, "/state", "INACTIVE")
            let edited = [
                "\(Self.offer)/targeting": "{}", "\(Self.offer)/offerTags/1/tag": "another",
                "\(Self.offer)/phases/1": nil,
                "\(Self.offer)/phases/0/regionalConfigs/0": #"{"regionCode":"US"}"#, "\(Self.offer)/state": "INACTIVE",
            ]
            expectMembers(edited, in: try await client.get(Self.allOffers))
            try play.edit(.init("premium", "monthly"), "/state", "INACTIVE")
            try play.edit(.init("premium"), "/archived", true)
            let subscription = try await client.get("/subscriptions/premium")
            expectMembers(["/basePlans/0/state": "INACTIVE", "/archived": "true"], in: subscription)
            try play.remove(.init("premium", "monthly"))
            #expect(try await client.get("/subscriptions/premium").value("/basePlans/0/basePlanId") == "year")
            #expect(throws: ChildProcess.Failure.self) { try play.edit(Self.winback, "/nothing", .null) }
            #expect(throws: ChildProcess.Failure.self) { try play.remove(.init("premium", "monthly")) }
        }

        @Test func `targeting says who decides`() async throws {
            let scope = #"{"scope":{"anySubscriptionInApp":{}}}"#
            let rows: [(FakeGooglePlay.Targeting, String)] = [
                (.acquisition(anyInApp: true), #"{"acquisitionRule":\#(scope)}"#),
                (.upgrade, #"{"upgradeRule":{"oncePerUser":true,"scope":{"thisSubscription":{}}}}"#),
                (.raw(["soonRule": [:]]), #"{"soonRule":{}}"#),
            ]
            for (targeting, written) in rows {
                try play.setOffer(.init("winback", of: "premium", targeting: targeting))
                #expect(try await client.get(Self.allOffers).value("\(Self.offer)/targeting") == written)
            }
        }

        @Test(arguments: PlayRudeness.rows)
        func `misbehaves as the test says, and then recovers`(row: PlayRudeness) async throws {
            try play.edit(Self.winback, "/targeting", ["upgradeRule": [:]])
            try play.misbehave(row.misbehaviour, at: .offers, times: 1)
            let answer = try await client.get(Self.allOffers)
            #expect(answer.status == row.status, "\(answer)")
            #expect(row.head.map { answer.head.contains($0) } ?? true, "\(answer)")
            expectMembers(row.members, in: answer)
            let well = try await client.get(Self.allOffers)
            #expect(well.value("\(Self.offer)/targeting") == #"{"upgradeRule":{}}"#)
        }

        @Test func `pages repeat, never end, or are empty`() async throws {
            func pages(_ count: Int) async throws -> [CurlAnswer] {
                var pages: [CurlAnswer] = []
                var query = "?pageSize=1"
                for _ in 0..<count {
                    pages.append(try await client.get(Self.allOffers + query))
                    guard let token = pages.last?.value("/nextPageToken") else { break }
                    query = "?pageSize=1&pageToken=\(token)"
                }
                return pages
            }
            try play.misbehave(.repeatedPage, at: .offers)
            let repeated = try await pages(4)
            #expect(repeated.count == 4 && Set(repeated.map(\.body)).count == 1)
            try play.behave(at: .offers)
            try play.misbehave(.endlessPages, at: .offers)
            #expect(Set(try await pages(4).compactMap { $0.value("\(Self.offer)/offerId") }).count == 4)
            try play.behave()
            try play.misbehave(.emptyPage, at: .offers)
            let last = try await pages(4)
            #expect(last.count == 2 && last[1].body == "{}")
        }

        @Test func `rudeness can be for one endpoint or one id, and counts are by endpoint`() async throws {
            try play.misbehave(.error(.backendError), at: .subscription, onlyFor: "premium")
            try play.misbehave(.oauthError("internal_failure", "Try again.", status: 500), at: .token, times: 1)
            #expect(try await client.get("/subscriptions/premium").status == 503)
            #expect(try await client.get("/subscriptions/none").status == 404)
            #expect(try await client.get("/subscriptions").status == 200)
            let token = try await client.askForToken()
            #expect(token.status == 500 && token.value("/error") == "internal_failure")
            #expect(try await client.askForToken().status == 200)
            #expect(try await client.get("/edits").status == 404)
            let counts = try play.counts()
            #expect(counts.requests(to: .subscription) == 2 && counts.requests(to: .token) == 2)
            #expect(counts.requests(to: .unknown) == 1 && counts.toAPI == 4 && counts.tokensIssued == 1)
        }

        @Test func `it shows other certificates, and closes its ports`() async throws {
            for certificate in [FakeTLSCertificate.otherAuthority, .otherAddress, .expired] {
                try play.setTLS(certificate)
                #expect(try await client.get("/subscriptions").end == .exited(60), "\(certificate)")
            }
            try play.setTLS(.good)
            try play.misbehave(.hang, at: .offers, times: 1)
            #expect(try await client.get(Self.allOffers, ["--max-time", "0.5"]).end == .exited(28))
            try play.misbehave(.close, at: .connection, times: 1)
            #expect(try await client.get("/subscriptions").end == .exited(35))
            try play.listen(false)
            #expect(try await client.get("/subscriptions").end == .exited(7))
            try play.listen(true)
            #expect(try await client.get("/subscriptions").status == 200)
            #expect(play.complaints.isEmpty, "\(play.complaints)")
        }
    }
}
