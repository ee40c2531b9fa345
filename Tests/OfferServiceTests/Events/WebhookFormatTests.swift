// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain
import OfferService
import Testing

/// The bodies of events in each format, to the byte.
struct WebhookFormatTests {
    private static let grant = "0193a1b2-0000-7000-8000-000000000001"
    private static let redeemed =
        #""store":"app-store","bundle":"com.example.app","product":"pro","offer":"back","env":"sandbox","#
        + #""grant":"\#(grant)","match":"grant","chain":"c:1","ts":1782900000000,"#
    private static let settled = redeemed + #""settled":1782907000000,"was":"redeemed","#

    /// The ID of the last event that an entry makes, and its body.
    private func message(_ entry: String, as format: WebhookFormat) throws -> WebhookMessage {
        var derivation = EventDerivation()
        let bytes = Array(#"{"t":1782907200123,"v":1,"ev":"offer.redemption",\#(entry)}"#.utf8)
        let event = try #require(try derivation.events(of: bytes, at: 7).last)
        let catalog = Catalog(apps: [], googlePlayApps: [], offers: [], digest: SHA256.digest(of: []))
        return WebhookMessage(event, as: format, in: catalog, origin: "example.com/log")
    }

    private static let purchasely = [
        (redeemed + #""state":"redeemed""#, "STARTED", #""offer_type":"PROMOTIONAL_OFFER""#),
        (
            settled + #""state":"converted""#, "CONVERTED",
            #""offer_type":"NONE","previous_offer_type":"PROMOTIONAL_OFFER""#
        ),
        (settled + #""state":"notConverted""#, "NOT_CONVERTED", #""previous_offer_type":"PROMOTIONAL_OFFER""#),
    ]

    @Test(arguments: purchasely)
    func `tells Purchasely's receivers the offer of the current period, and of the one before`(
        entry: String,
        name: String,
        offerTypes: String
    ) throws {
        let message = try message(entry, as: .purchasely)
        #expect(message.contentType == "application/json")
        #expect(
            String(decoding: message.body, as: UTF8.self)
                == #"{"api_version":3,"event_name":"PROMOTIONAL_OFFER_\#(name)","event_id":"\#(message.id)","#
                + #""event_created_at":"2026-07-01T12:00:00.123Z","event_created_at_ms":1782907200123,"#
                + #""environment":"SANDBOX","store":"APPLE_APP_STORE","purchase_type":"RENEWING_SUBSCRIPTION","#
                + #""store_app_bundle_id":"com.example.app","store_product_id":"pro",\#(offerTypes),"#
                + #""offer_identifier":"back","purchased_at":"2026-07-01T10:00:00Z","#
                + #""purchased_at_ms":1782900000000,"subscription":"c:1","grant_id":"\#(Self.grant)","log_index":7}"#
        )
    }

    @Test func `is a whole CloudEvent`() throws {
        let message = try message(Self.redeemed + #""state":"redeemed""#, as: .cloudevents)
        #expect(message.contentType == "application/cloudevents+json")
        #expect(
            String(decoding: message.body, as: UTF8.self)
                == #"{"specversion":"1.0","id":"\#(message.id)","source":"/offer-signer/example.com/log","#
                + #""type":"offer.redeemed","time":"2026-07-01T12:00:00.123Z","datacontenttype":"application/json","#
                + #""subject":"\#(Self.grant)","data":{"index":7,"grantId":"\#(Self.grant)","#
                + #""offerType":"promotional","store":"app-store","app":"com.example.app","#
                + #""bundleId":"com.example.app","productId":"pro","offerId":"back","environment":"sandbox","#
                + #""state":"redeemed","match":"grant","subscription":"c:1","#
                + #""redeemedAt":"2026-07-01T10:00:00Z"}}"#
        )
    }

    private static let tests: [(WebhookFormat, String, String)] = [
        (.standard, "application/json", #"{"type":"endpoint.test","timestamp":"2026-07-01T12:00:00.123Z","data":{}}"#),
        (
            .cloudevents, "application/cloudevents+json",
            #"{"specversion":"1.0","id":"evt_test_1782907200123","source":"/offer-signer","type":"endpoint.test","#
                + #""time":"2026-07-01T12:00:00.123Z","datacontenttype":"application/json","data":{}}"#
        ),
        (
            .purchasely, "application/json",
            #"{"api_version":3,"event_name":"ENDPOINT_TEST","event_id":"evt_test_1782907200123","#
                + #""event_created_at":"2026-07-01T12:00:00.123Z","event_created_at_ms":1782907200123}"#
        ),
    ]

    @Test(arguments: tests)
    func `tests an endpoint in its own format`(format: WebhookFormat, contentType: String, body: String) {
        let message = WebhookMessage.test(at: Timestamp(milliseconds: 1_782_907_200_123), as: format)
        #expect(message.id == "evt_test_1782907200123")
        #expect(message.contentType == contentType)
        #expect(String(decoding: message.body, as: UTF8.self) == body)
    }
}
