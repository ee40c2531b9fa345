// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import HTTP
import JSON
package import OfferDomain

/// One message of Standard Webhooks 1.0.0, signed by each key of its receiver.
///
/// Source: [Standard Webhooks](https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
package struct WebhookMessage: Sendable {
    package let id: String
    package let contentType: String
    package let body: [UInt8]

    package init(id: String, contentType: String, body: [UInt8]) {
        self.id = id
        self.contentType = contentType
        self.body = body
    }

    /// The fields of one attempt; `webhook-timestamp` is that of the attempt, so an old message can't be sent again by others.
    package func headers(
        at now: Timestamp,
        secrets: [HMACKey],
        signingKeys: [Ed25519PrivateKey]
    ) throws(SigningError) -> HeaderFields {
        let seconds = String(now.seconds)
        let content = Array("\(id).\(seconds).".utf8) + body
        var signatures = secrets.map { "v1," + Self.text($0.authenticationCode(for: content)) }
        for key in signingKeys { signatures.append("v1a," + Self.text(try key.signature(of: content))) }
        var headers = HeaderFields()
        headers.append("Content-Type", contentType)
        headers.append("webhook-id", id)
        headers.append("webhook-timestamp", seconds)
        headers.append("webhook-signature", signatures.joined(separator: " "))
        return headers
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: Base64.encode(bytes), as: UTF8.self) }
}

extension WebhookMessage {
    /// The message for an event; `origin` is the log's name.
    init(_ event: ServiceEvent, as format: WebhookFormat, in catalog: Catalog, origin: String) {
        var writer = JSONWriter(reserving: 768)
        writer.beginObject()
        switch format {
        case .standard: EventBody.write(event, in: catalog, to: &writer)
        case .cloudevents: Self.writeCloudEvent(event, in: catalog, origin: origin, to: &writer)
        case .purchasely: PurchaselyBody.write(event, &writer)
        }
        writer.endObject()
        let type = format == .cloudevents ? "application/cloudevents+json" : "application/json"
        self.init(id: event.id, contentType: type, body: writer.bytes)
    }

    /// What `events test` sends: nothing has happened.
    package static func test(at now: Timestamp) -> WebhookMessage {
        var writer = JSONWriter(reserving: 96)
        writer.beginObject()
        writer.member("type", plain: "endpoint.test")
        writer.member("timestamp", rfc3339: now)
        writer.name("data")
        writer.beginObject()
        writer.endObject()
        writer.endObject()
        return WebhookMessage(
            id: "evt_test_\(now.milliseconds)",
            contentType: "application/json",
            body: writer.bytes
        )
    }

    /// Source: [CloudEvents 1.0.2](https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md).
    private static func writeCloudEvent(
        _ event: ServiceEvent,
        in catalog: Catalog,
        origin: String,
        to writer: inout JSONWriter
    ) {
        writer.member("specversion", plain: "1.0")
        writer.member("id", plain: event.id)
        writer.optional("source", "/offer-signer/\(origin)")
        writer.member("type", plain: event.type.rawValue)
        if let grant = event.details.grantID { writer.member("subject", id: grant) }
        writer.member("time", rfc3339: event.recordedAt)
        writer.member("datacontenttype", plain: "application/json")
        writer.name("data")
        writer.beginObject()
        EventBody.writeData(event, in: catalog, to: &writer)
        writer.endObject()
    }
}

/// The body of Purchasely's webhook, as far as this service knows what is in it.
///
/// Source: Purchasely, [Webhook events](https://docs.purchasely.com/docs/webhook-events). There is no `user_id`: the
/// receiver knows its customer by `grant_id`.
enum PurchaselyBody {
    static func name(of type: EventType) -> StaticString? {
        switch type {
        case .offerRedeemed: "PROMOTIONAL_OFFER_STARTED"
        case .offerConverted: "PROMOTIONAL_OFFER_CONVERTED"
        case .offerNotConverted: "PROMOTIONAL_OFFER_NOT_CONVERTED"
        default: nil
        }
    }

    static func write(_ event: ServiceEvent, _ writer: inout JSONWriter) {
        let details = event.details
        let isPlay = details.store == .googlePlay
        writer.member("api_version", integer: 3)
        writer.optional("event_name", name(of: event.type).map { "\($0)" })
        write(event.recordedAt, as: "event_created_at", milliseconds: "event_created_at_ms", to: &writer)
        writer.optional("environment", details.environment?.uppercased())
        writer.member("store", plain: isPlay ? "GOOGLE_PLAY_STORE" : "APPLE_APP_STORE")
        writer.optional("store_app_bundle_id", isPlay ? details.packageName : details.bundleID)
        writer.optional("store_product_id", details.productID)
        writer.member("offer_type", plain: "PROMOTIONAL_OFFER")
        writer.optional("offer_identifier", details.offerID)
        if let redeemedAt = details.redeemedAt {
            write(redeemedAt, as: "purchased_at", milliseconds: "purchased_at_ms", to: &writer)
        }
        writer.optional("purchasely_subscription_id", details.subscription)
        if let grant = details.grantID { writer.member("grant_id", id: grant) }
        writer.member("log_index", integer: event.position.index)
    }

    private static func write(
        _ time: Timestamp,
        as name: StaticString,
        milliseconds millisecondsName: StaticString,
        to writer: inout JSONWriter
    ) {
        writer.member(name, rfc3339: time)
        writer.member(millisecondsName, integer: time.milliseconds)
    }
}
