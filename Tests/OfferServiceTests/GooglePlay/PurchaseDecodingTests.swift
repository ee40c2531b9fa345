// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import Testing

@testable import Stores

/// What is read of an answer about a purchase, and what is refused.
struct PurchaseDecodingTests {
    @Test func `reads every item, and everything that facts need`() throws {
        let purchase = try PlaySample(
            "ACTIVE",
            .init {
                $0.offer = "trial-7d"; $0.phase = "freeTrial"; $0.expiresInDays = 3
                $0.more = #""deferredItemReplacement":{"productId":"extra"}"#
            },
            .init {
                $0.product = "extra"; $0.plan = "yearly"; $0.renews = false; $0.phase = "basePrice"
                $0.more = #""itemReplacement":{"productId":"old","basePlanId":"monthly","offerId":"gone"}"#
            },
            .init {
                $0.product = "pass"; $0.kind = "prepaidPlan"; $0.more = #""deferredItemRemoval":{}"#
            }
        ) {
            $0.linked = "24lowercase.AO-J1Oabc"
            $0.expired = "older.AO-J1Oxyz"
            $0.accountID = String(repeating: "a", count: 64)
            $0.profileID = "profile"
        }.purchase()
        #expect(purchase.state == .known(.active))
        #expect(purchase.startedAt == PlaySample.now.adding(days: -40))
        #expect(purchase.region?.text == "US")
        #expect(purchase.linkedToken?.text == "24lowercase.AO-J1Oabc")
        #expect(purchase.expiredToken?.text == "older.AO-J1Oxyz")
        #expect(purchase.accountID == String(repeating: "a", count: 64) && purchase.profileID == "profile")
        #expect(purchase.lineItems.map(\.productID) == ["premium", "extra", "pass"])
        #expect(purchase.lineItems[0].expiresAt == PlaySample.now.adding(days: 3))
        #expect(purchase.lineItems.map(\.offerID) == ["trial-7d", nil, nil])
        #expect(purchase.lineItems.map(\.basePlanID) == ["monthly", "yearly", "monthly"])
        #expect(purchase.lineItems.map(\.phase) == [.known(.freeTrial), .known(.basePrice), nil])
        #expect(
            purchase.lineItems.map(\.plan) == [
                .autoRenewing(isEnabled: true, isCancellationPending: false),
                .autoRenewing(isEnabled: false, isCancellationPending: false), .prepaid,
            ]
        )
        #expect(purchase.lineItems[1].replaced?.offerID == "gone")
        #expect(purchase.lineItems.map(\.isRemovedLater) == [false, false, true])
        #expect(purchase.lineItems.map(\.isReplacedLater) == [true, false, false])
    }

    @Test func `takes an empty object for a yes, and null for nothing`() throws {
        let yes = try PlaySample("ACTIVE") { $0.isTest = true }.purchase()
        #expect(yes.isTest)
        let no = try PlaySample("ACTIVE") { $0.more = #""testPurchase":null,"linkedPurchaseToken":null"# }.purchase()
        #expect(!no.isTest && no.linkedToken == nil)
        let ending = #""autoRenewingPlan":{"autoRenewEnabled":true,"installmentDetails":{"pendingCancellation":{}}}"#
        let item = PlaySample.Item {
            $0.kind = "unknownPlan"; $0.more = ending
        }
        #expect(
            try PlaySample("ACTIVE", item).purchase().lineItems[0].plan
                == .autoRenewing(isEnabled: true, isCancellationPending: true)
        )
    }

    @Test func `reads whether the customer agrees to a higher price`() throws {
        func read(_ details: String) throws -> GooglePlayPurchase.PriceStepUp? {
            let item = PlaySample.Item {
                $0.kind = "unknownPlan"
                $0.more = #""autoRenewingPlan":{"autoRenewEnabled":true\#(details)}"#
            }
            return try PlaySample("ACTIVE", item).purchase().lineItems[0].priceStepUp
        }
        let deadline = try #require(Timestamp(rfc3339: "2026-07-08T12:00:00Z"))
        for consent in [PriceStepUpConsent.pending, .confirmed, .completed] {
            let details = #""state":"\#(consent.storeText)","consentDeadlineTime":"2026-07-08T12:00:00Z""#
            let read = try read(#","priceStepUpConsentDetails":{\#(details)}"#)
            #expect(read == .init(consent: .known(consent), deadline: deadline))
        }
        let unknown = GooglePlayPurchase.PriceStepUp(consent: .unknown("CONSENT_STATE_UNSPECIFIED"), deadline: nil)
        #expect(try read(#","priceStepUpConsentDetails":{}"#) == unknown)
        #expect(try read("") == nil)
        #expect(throws: GooglePlayPurchaseFault.self) { try read(#","priceStepUpConsentDetails":{"state":7}"#) }
    }

    @Test func `accepts unknown members and values`() throws {
        let purchase = try PlaySample(
            "HIBERNATING",
            .init {
                $0.kind = "barterPlan"; $0.phase = "moonPhase"; $0.more = #""novelty":[{"a":1}]"#
            }
        ) {
            $0.cancellation = "planetaryCancellation"
            $0.region = "Atlantis"
            $0.more = #""wonders":{"of":["the","world"]}"#
        }.purchase()
        #expect(purchase.state == .unknown("SUBSCRIPTION_STATE_HIBERNATING"))
        #expect(purchase.cancellation == .unknown("planetaryCancellation"))
        #expect(purchase.region == nil)
        #expect(purchase.lineItems[0].plan == nil)
        #expect(purchase.lineItems[0].phase == .unknown("moonPhase"))
    }

    @Test func `keeps nothing that names a person`() throws {
        let sample = PlaySample("CANCELED") {
            $0.profileID = "anna's profile"
            $0.accountID = "anna@example.com"
            $0.more = #"""
                "subscribeWithGoogleInfo":{"profileId":"1","profileName":"Anna Blume","emailAddress":"anna@example.com",
                "givenName":"Anna","familyName":"Blume"},
                "canceledStateContext":{"userInitiatedCancellation":{"cancelTime":"2026-06-30T10:00:00Z",
                "cancelSurveyResult":{"reason":"CANCEL_SURVEY_REASON_OTHERS","reasonUserInput":"Anna says no"}}}
                """#
        }
        let purchase = try sample.purchase()
        #expect(purchase.cancellation == .known(.byCustomer))
        #expect(purchase.cancelledAt == Timestamp(rfc3339: "2026-06-30T10:00:00Z"))
        var shown = ""
        dump(GooglePlayPurchaseRecord(purchase, observedAt: PlaySample.now, mark: nil, keys: PlainKeys()), to: &shown)
        #expect(!shown.lowercased().contains("anna"), "\(shown)")
    }

    /// A JSON text and the location of its fault.
    struct Fault: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let json: String
        let place: String

        init(_ name: String, _ place: String, _ json: String) {
            testDescription = name
            self.json = json
            self.place = place
        }
    }

    private static let good = String(decoding: PlaySample("ACTIVE").json, as: UTF8.self)

    static let faults = [
        Fault("an array", "the answer", "[]"),
        Fault("another kind", "/kind", good.replacing("subscriptionPurchaseV2", with: "productPurchaseV2")),
        Fault("no items", "/lineItems", #"{"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE"}"#),
        Fault("an item without a product", "/lineItems/0/productId", good.replacing("productId", with: "productKey")),
        Fault(
            "a state that is a number",
            "/subscriptionState",
            good.replacing(#""SUBSCRIPTION_STATE_ACTIVE""#, with: "1")
        ),
        Fault(
            "an end that is no time",
            "/lineItems/0/expiryTime",
            good.replacing("expiryTime\":\"2026", with: "expiryTime\":\"26")
        ),
        Fault(
            "a flag that is a text",
            "/lineItems/0/autoRenewingPlan/autoRenewEnabled",
            good.replacing(":true", with: #":"true""#)
        ),
        Fault(
            "two plans",
            "/lineItems/0/prepaidPlan",
            good.replacing(#""autoRenewingPlan""#, with: #""prepaidPlan":{},"autoRenewingPlan""#)
        ),
        Fault(
            "a token with a space",
            "/linkedPurchaseToken",
            good.replacing("{\"kind", with: "{\"linkedPurchaseToken\":\"a b\",\"kind")
        ),
    ]

    @Test(arguments: faults)
    func `refuses what is not as it must be, and tells where but not what`(fault: Fault) {
        let error = #expect(throws: GooglePlayPurchaseFault.self) {
            try GooglePlayPurchase(json: Array(fault.json.utf8))
        }
        #expect(error?.description.hasPrefix("\(fault.place) is") == true, "\(error?.description ?? "")")
    }

    @Test func `refuses what is no JSON, has a name twice, or is too long`() {
        for json in [
            "", "{", Self.good + "x", #"{"kind":"a","kind":"b"}"#, Self.good + String(repeating: " ", count: 262_144),
        ] {
            #expect(throws: GooglePlayPurchaseFault.self) { try GooglePlayPurchase(json: Array(json.utf8)) }
        }
    }

    @Test(arguments: ["PENDING", "PENDING_PURCHASE_CANCELED"])
    func `needs no items of a purchase that was never granted`(state: String) throws {
        let json = #"{"subscriptionState":"SUBSCRIPTION_STATE_\#(state)"}"#
        #expect(try GooglePlayPurchase(json: Array(json.utf8)).lineItems.isEmpty)
    }
}

/// Keys that are the tokens themselves.
struct PlainKeys: GooglePlayKeys {
    func purchaseKey(of token: PurchaseToken) -> PurchaseKey { PurchaseKey(Array(token.text.utf8)) }
}
