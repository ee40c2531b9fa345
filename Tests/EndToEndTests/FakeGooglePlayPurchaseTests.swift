// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

extension EndToEnd {
    /// The fake Google Play, as curl sees it: purchases and their lives.
    @Suite(.ring(.check)) struct FakeGooglePlayPurchaseTests {
        private let play: FakeGooglePlay
        private let client: FakeGooglePlayClient

        init() async throws {
            client = try await FakeGooglePlayClient.fresh()
            play = client.play
            try play.setSubscription(.init("premium", basePlans: [.init("monthly", tags: ["plan"]), .init("year")]))
            let phases = [FakeGooglePlay.Phase(.free, "P7D"), .init(.relativeDiscount, "P1M", times: 2)]
            try play.setOffer(.init("winback", of: "premium", phases: phases))
        }

        /// The number of a notification, and the purchase it is about.
        private func notification(_ messageID: String) throws -> (type: String?, token: String?) {
            let content = client.content(of: try play.push(messageID))
            return (
                jsonValue("/subscriptionNotification/notificationType", in: content),
                jsonValue("/subscriptionNotification/purchaseToken", in: content)
            )
        }

        @Test func `a purchase says who bought what, and until when`() async throws {
            var purchase = FakeGooglePlay.Purchase("premium", offer: "winback", at: 1_782_907_200_120, isTest: true)
            (purchase.obfuscatedAccountID, purchase.obfuscatedProfileID) = ("abc", "def")
            let token = try play.buy(purchase).token
            let answer = try await client.purchase(token)
            expectMembers(
                [
                    "/kind": "androidpublisher#subscriptionPurchaseV2", "/regionCode": "US", "/testPurchase": "{}",
                    "/subscriptionState": "SUBSCRIPTION_STATE_ACTIVE", "/startTime": "2026-07-01T12:00:00.120Z",
                    "/lineItems/0/expiryTime": "2026-07-08T12:00:00.120Z", "/lineItems/0/productId": "premium",
                    "/lineItems/0/offerDetails":
                        #"{"basePlanId":"monthly","offerId":"winback","offerTags":["ignore-offer","plan"]}"#,
                    "/lineItems/0/offerPhase": #"{"freeTrial":{}}"#, "/linkedPurchaseToken": nil,
                    "/externalAccountIdentifiers":
                        #"{"obfuscatedExternalAccountId":"abc","obfuscatedExternalProfileId":"def"}"#,
                    "/acknowledgementState": "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
                    "/lineItems/0/autoRenewingPlan/recurringPrice/units": "9",
                ],
                in: answer
            )
            #expect(answer.value("/latestOrderId") == answer.value("/lineItems/0/latestSuccessfulOrderId"))
            #expect(try play.json(ofPurchase: token) == answer.body)
            try play.setHabits(.init(fractionDigits: 9, writesLegacyMembers: false))
            try play.edit(.init("premium", "monthly", "winback"), "/offerTags", .null)
            expectMembers(
                [
                    "/startTime": "2026-07-01T12:00:00.120417905Z", "/latestOrderId": nil,
                    "/lineItems/0/offerDetails/offerTags": #"["plan"]"#,
                ],
                in: try await client.purchase(token)
            )
        }

        @Test(arguments: LifeRow.rows)
        func `what happens to a purchase shows in its state and is notified`(row: LifeRow) async throws {
            let token = try play.buy(.init("premium", offer: "winback")).token
            let outcomes = try row.events.map { try play.happen($0, to: token) }
            let sent = try outcomes.last?.messageIDs.first.map(notification)
            #expect(sent?.type == row.type.map(String.init))
            #expect(sent == nil || sent?.token == token)
            let answer = try await client.purchase(token)
            #expect(answer.value("/subscriptionState") == "SUBSCRIPTION_STATE_\(row.state)")
            expectMembers(row.members, in: answer)
        }

        @Test func `a purchase begins with a notification, a pending one when it is paid`() async throws {
            let bought = try play.buy(.init("premium", daysAgo: 3))
            #expect(try bought.messageIDs.map { try notification($0).type } == ["4"])
            for (event, type, state) in [
                (FakeGooglePlay.Event.completePending, "4", "ACTIVE"),
                (.cancelPending, "20", "PENDING_PURCHASE_CANCELED"),
            ] {
                let pending = try play.buy(.init("premium", pending: true))
                #expect(pending.messageIDs.isEmpty)
                let before = try await client.purchase(pending.token)
                expectMembers(["/startTime": nil, "/subscriptionState": "SUBSCRIPTION_STATE_PENDING"], in: before)
                let outcome = try play.happen(event, to: pending.token)
                #expect(try outcome.messageIDs.map { try notification($0).type } == [type])
                let after = try await client.purchase(pending.token)
                #expect(after.value("/subscriptionState") == "SUBSCRIPTION_STATE_\(state)")
                #expect((after.value("/startTime") != nil) == (state == "ACTIVE"))
            }
        }

        @Test func `a money-back says so twice`() async throws {
            let bought = try play.buy(.init("premium"))
            let outcome = try play.happen(.revoke, to: bought.token)
            #expect(outcome.messageIDs.count == 2)
            let content = client.content(of: try play.pushes(of: outcome)[1])
            #expect(jsonValue("/voidedPurchaseNotification/purchaseToken", in: content) == bought.token)
            #expect(jsonValue("/voidedPurchaseNotification/productType", in: content) == "1")
        }

        @Test func `a change of plan links the new purchase to the one that it ends`() async throws {
            let old = try play.buy(.init("premium", daysAgo: 3)).token
            let change = try play.buy(.init("premium", "year", replaces: old))
            #expect(try change.messageIDs.map { try notification($0).type } == ["4", "13"])
            #expect(try change.messageIDs.map { try notification($0).token } == [change.token, old])
            let ended = [
                "/subscriptionState": "SUBSCRIPTION_STATE_EXPIRED",
                "/canceledStateContext": #"{"replacementCancellation":{}}"#,
            ]
            expectMembers(ended, in: try await client.purchase(old))
            let begun = [
                "/linkedPurchaseToken": old, "/lineItems/0/itemReplacement/basePlanId": "monthly",
                "/subscriptionState": "SUBSCRIPTION_STATE_ACTIVE",
            ]
            expectMembers(begun, in: try await client.purchase(change.token))
        }

        @Test func `who subscribes again in the Play Store is tied to the purchase before until acknowledged`()
            async throws
        {
            let old = try play.buy(.init("premium", obfuscatedAccountID: "abc", daysAgo: 40)).token
            try play.happen(.expire, to: old, daysAgo: 10)
            let new = try play.buy(.init("premium", resubscribes: old)).token
            let context = "/outOfAppPurchaseContext"
            expectMembers(
                [
                    "\(context)/expiredPurchaseToken": old, "/externalAccountIdentifiers": nil,
                    "\(context)/expiredExternalAccountIdentifiers/obfuscatedExternalAccountId": "abc",
                    "/acknowledgementState": "ACKNOWLEDGEMENT_STATE_PENDING", "/linkedPurchaseToken": nil,
                ],
                in: try await client.purchase(new)
            )
            try play.happen(.acknowledge, to: new)
            #expect(try await client.purchase(new).value(context) == nil)
        }

        @Test func `a cancelled purchase expires by itself, and is gone after sixty days`() async throws {
            let token = try play.buy(.init("premium", daysAgo: 29)).token
            try play.happen(.cancel, to: token)
            #expect(try await client.purchase(token).value("/subscriptionState") == "SUBSCRIPTION_STATE_CANCELED")
            let ended = try play.buy(.init("premium", daysAgo: 89.9)).token
            try play.happen(.cancel, to: ended, daysAgo: 80)
            #expect(try await client.purchase(ended).value("/subscriptionState") == "SUBSCRIPTION_STATE_EXPIRED")
            let gone = try play.buy(.init("premium", daysAgo: 90.1)).token
            try play.happen(.cancel, to: gone, daysAgo: 80)
            let answer = try await client.purchase(gone)
            #expect(answer.status == 410)
            #expect(answer.value("/error/errors/0/reason") == "subscriptionPurchaseNoLongerAvailable")
            try play.happen(.delete, to: token)
            let deleted = try await client.purchase(token)
            #expect(deleted.status == 410 && deleted.value("/error/errors/0/reason") == "purchaseTokenNoLongerValid")
        }

        @Test func `tokens of other apps, unknown tokens and nonsense get different errors`() async throws {
            try play.setApp("com.example.other")
            let other = try play.buy(.init("premium", in: "com.example.other")).token
            let rows = [(other, 400, "purchaseTokenDoesNotMatchPackageName"), ("x", 400, "invalid")]
            for (token, status, reason) in rows + [(String(repeating: "a", count: 140), 404, "purchaseTokenNotFound")] {
                let answer = try await client.purchase(token)
                #expect(answer.status == status && answer.value("/error/errors/0/reason") == reason)
            }
            let own = try play.buy(.init("premium", token: "a/b%41+c ~token-of-mine")).token
            #expect(own == "a/b%41+c ~token-of-mine")
            #expect(try await client.purchase("a%2Fb%2541%2Bc%20~token-of-mine").status == 200)
            #expect(throws: ChildProcess.Failure.self) { try play.buy(.init("premium", token: own)) }
        }

        @Test func `installments, prepaid plans and several lines have their own members`() async throws {
            let plans = [FakeGooglePlay.BasePlan("rate", .installments), .init("prepaid", .prepaid)]
            try play.setSubscription(.init("more", basePlans: plans))
            let rate = try play.buy(.init("more", "rate")).token
            let outcome = try play.happen(.scheduleCancellation, to: rate)
            #expect(try notification(outcome.messageIDs[0]).type == "18")
            let details = "/lineItems/0/autoRenewingPlan/installmentDetails"
            expectMembers(
                ["\(details)/pendingCancellation": "{}", "\(details)/remainingCommittedPaymentsCount": "11"],
                in: try await client.purchase(rate)
            )
            let prepaid = try await client.purchase(try play.buy(.init("more", "prepaid")).token)
            #expect(prepaid.value("/lineItems/0/prepaidPlan/allowExtendAfterTime") != nil)
            #expect(prepaid.value("/lineItems/0/autoRenewingPlan") == nil)
        }

        @Test func `any member of an answer can be edited, and an answer can be about another purchase`() async throws {
            let token = try play.buy(.init("premium")).token
            try play.editPurchase(token, "/lineItems/0/offerPhase", .null)
            try play.editPurchase(token, "/subscriptionState", "SUBSCRIPTION_STATE_UNHEARD_OF")
            let edited = ["/lineItems/0/offerPhase": nil, "/subscriptionState": "SUBSCRIPTION_STATE_UNHEARD_OF"]
            expectMembers(edited, in: try await client.purchase(token))
            #expect(throws: ChildProcess.Failure.self) { try play.editPurchase(token, "/lineItems/4/productId", "x") }
            let other = try play.buy(.init("other")).token
            try play.misbehave(.otherPurchase(other), at: .purchase, times: 1, onlyFor: token)
            #expect(try await client.purchase(token).value("/lineItems/0/productId") == "other")
            try play.misbehave(.unknownMembers, at: .purchase, times: 1)
            #expect(try await client.purchase(other).value("/lineItems/0/offerDetails/unheardOfFlag") == "true")
            #expect(throws: ChildProcess.Failure.self) { try play.happen(.init("explode"), to: token) }
            #expect(throws: ChildProcess.Failure.self) { try play.happen(.renew, to: "nobody's") }
        }
    }
}
