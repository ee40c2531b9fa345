// SPDX-License-Identifier: Apache-2.0
import Configuration
import JSON
import OfferDomain
import ServiceRuntime

/// Writes events as the API has them.
///
/// Source: Standard Webhooks 1.0.0: `type`, `timestamp` of the event, `data`.
enum EventBody {
    /// Adds `type`, `timestamp` and `data` to the object that was begun.
    static func write(_ event: ServiceEvent, in catalog: Catalog, to writer: inout JSONWriter) {
        writer.member("type", plain: event.type.rawValue)
        writer.member("timestamp", rfc3339: event.recordedAt)
        writer.name("data")
        writer.beginObject()
        writeData(event, in: catalog, to: &writer)
        writer.endObject()
    }

    /// The members of `data`; what an event does not have is left out.
    static func writeData(_ event: ServiceEvent, in catalog: Catalog, to writer: inout JSONWriter) {
        let details = event.details
        writer.member("index", integer: event.position.index)
        if let id = details.grantID { writer.member("grantId", id: id) }
        details.writeOffer(in: catalog, to: &writer)
        writer.optional("environment", details.environment)
        writer.optional("state", details.state)
        writer.optional("match", details.match)
        writer.optional("subscription", details.subscription)
        writer.optional("grantedAt", details.grantedAt)
        writer.optional(event.type == .offerPending ? "pendingSince" : "redeemedAt", details.redeemedAt)
        writer.optional("settledAt", details.settledAt)
        writer.refund(details.refundedAt, millipercent: details.refundedMillipercent)
        if !details.customers.isEmpty {
            writer.name("customers")
            writer.beginArray()
            for customer in details.customers { writer.string(customer) }
            writer.endArray()
        }
        writer.optional("keyId", details.keyID)
        writer.optional("cause", details.cause)
    }
}

extension EventDetails {
    /// Writes the offer and the app that it is about.
    func writeOffer(in catalog: Catalog, to writer: inout JSONWriter) {
        writer.optional("offerType", offerType)
        writer.optional("store", store?.recordName)
        writer.optional("app", appName(in: catalog)?.text)
        writer.optional("bundleId", store == .googlePlay ? nil : bundleID)
        writer.optional("packageName", packageName)
        writer.optional("productId", productID)
        writer.optional("basePlanId", basePlanID)
        writer.optional("offerId", offerID)
        writer.optional("rule", rule)
    }
}

extension JSONWriter {
    /// Adds a member, unless there is no value.
    mutating func optional(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        self.name(name)
        string(text)
    }

    /// Adds when money was paid back, and how much of the price in percent, as far as that is known.
    mutating func refund(_ instant: Timestamp?, millipercent: Int64?) {
        optional("refundedAt", instant)
        guard let millipercent else { return }
        name("refundedPercentage")
        number(Double(millipercent) / 1000)
    }

    /// Adds a time, unless there is none.
    mutating func optional(_ name: StaticString, _ time: Timestamp?) {
        if let time { member(name, rfc3339: time) }
    }
}
