// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Cryptography
package import HTTP
import JSON
package import OfferDomain
import ServiceRuntime

/// One message of Standard Webhooks 1.0.0, signed by each key of its receiver.
///
/// Source: [Standard Webhooks](https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
package struct WebhookMessage: Sendable {
    /// `webhook-id`: the same in each attempt, so the receiver recognizes a repetition.
    package let id: String
    /// `Content-Type` of the body.
    package let contentType: String
    /// The bytes that are signed and sent.
    package let body: [UInt8]

    package init(id: String, contentType: String, body: [UInt8]) {
        self.id = id
        self.contentType = contentType
        self.body = body
    }

    /// The headers of one attempt; `webhook-timestamp` is its own time, so that others can't replay an old message.
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
    package init(_ event: ServiceEvent, as format: WebhookFormat, in catalog: Catalog, origin: String) {
        var writer = JSONWriter(reserving: 768)
        writer.beginObject()
        switch format {
        case .standard: EventBody.write(event, in: catalog, to: &writer)
        case .cloudevents: Self.writeCloudEvent(event, in: catalog, origin: origin, to: &writer)
        case .purchasely: PurchaselyBody.write(event, &writer)
        }
        writer.endObject()
        self.init(id: event.id, contentType: format.contentType, body: writer.bytes)
    }

    /// What `events test` sends, in the form of the endpoint's events: nothing has happened.
    package static func test(at now: Timestamp, as format: WebhookFormat) -> WebhookMessage {
        let id = "evt_test_\(now.milliseconds)"
        var writer = JSONWriter(reserving: 256)
        writer.beginObject()
        switch format {
        case .standard:
            writer.member("type", plain: testType)
            writer.member("timestamp", rfc3339: now)
        case .cloudevents: writeHead(id: id, type: testType, at: now, from: "/offer-signer", to: &writer)
        case .purchasely: PurchaselyBody.writeHead(id: id, name: "ENDPOINT_TEST", at: now, to: &writer)
        }
        if format != .purchasely {
            writer.name("data")
            writer.beginObject()
            writer.endObject()
        }
        writer.endObject()
        return WebhookMessage(id: id, contentType: format.contentType, body: writer.bytes)
    }

    private static let testType = "endpoint.test"

    /// Source: [CloudEvents 1.0.2](https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md).
    private static func writeCloudEvent(
        _ event: ServiceEvent,
        in catalog: Catalog,
        origin: String,
        to writer: inout JSONWriter
    ) {
        let (type, source) = (event.type.rawValue, "/offer-signer/\(origin)")
        writeHead(id: event.id, type: type, at: event.recordedAt, from: source, to: &writer)
        if let grant = event.details.grantID { writer.member("subject", id: grant) }
        writer.name("data")
        writer.beginObject()
        EventBody.writeData(event, in: catalog, to: &writer)
        writer.endObject()
    }

    private static func writeHead(
        id: String,
        type: String,
        at time: Timestamp,
        from source: String,
        to writer: inout JSONWriter
    ) {
        writer.member("specversion", plain: "1.0")
        writer.member("id", plain: id)
        writer.optional("source", source)
        writer.member("type", plain: type)
        writer.member("time", rfc3339: time)
        writer.member("datacontenttype", plain: "application/json")
    }
}

extension WebhookFormat {
    /// Whether it has a name for such events.
    func has(_ type: EventType) -> Bool { self != .purchasely || PurchaselyBody.name(of: type) != nil }
}

/// The body of Purchasely's webhook, as far as this service knows what is in it.
///
/// It omits `user_id`, because the receiver knows its customer by `grant_id`, and Purchasely's own names of product and
/// subscription. Source: Purchasely, [Server events](https://docs.purchasely.com/docs/server-events-attributes).
enum PurchaselyBody {
    static func name(of type: EventType) -> String? {
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
        writeHead(id: event.id, name: name(of: event.type), at: event.recordedAt, to: &writer)
        writer.optional("environment", details.environment?.uppercased())
        writer.member("store", plain: isPlay ? "GOOGLE_PLAY_STORE" : "APPLE_APP_STORE")
        writer.member("purchase_type", plain: "RENEWING_SUBSCRIPTION")
        writer.optional("store_app_bundle_id", isPlay ? details.packageName : details.bundleID)
        writer.optional("store_product_id", details.productID)
        writeOfferTypes(after: event.type, to: &writer)
        writer.optional("offer_identifier", details.offerID)
        if let redeemedAt = details.redeemedAt {
            write(redeemedAt, as: "purchased_at", milliseconds: "purchased_at_ms", to: &writer)
        }
        writer.optional("subscription", details.subscription)
        if let grant = details.grantID { writer.member("grant_id", id: grant) }
        writer.member("log_index", integer: event.position.index)
    }

    static func writeHead(id: String, name: String?, at time: Timestamp, to writer: inout JSONWriter) {
        writer.member("api_version", integer: 3)
        writer.optional("event_name", name)
        writer.member("event_id", plain: id)
        write(time, as: "event_created_at", milliseconds: "event_created_at_ms", to: &writer)
    }

    /// Writes the current and the previous offer type; the current one is unknown after an offer that did not convert.
    private static func writeOfferTypes(after type: EventType, to writer: inout JSONWriter) {
        switch type {
        case .offerConverted: writer.member("offer_type", plain: "NONE")
        case .offerNotConverted: break
        default: return writer.member("offer_type", plain: "PROMOTIONAL_OFFER")
        }
        writer.member("previous_offer_type", plain: "PROMOTIONAL_OFFER")
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
