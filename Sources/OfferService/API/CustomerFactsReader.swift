// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

/// Reads the `facts` member: what a `backend` caller states of the customer's subscription.
struct CustomerFactsReader {
    private let mismatches: Mismatches
    private let observedAt: Timestamp

    /// The facts count as observed at `now`, when they were stated.
    static func read(
        _ value: JSONValue,
        observedAt now: Timestamp,
        into mismatches: Mismatches
    ) -> CustomerFacts {
        CustomerFactsReader(mismatches: mismatches, observedAt: now).read(value)
    }

    private func read(_ value: JSONValue) -> CustomerFacts {
        var reader = ObjectReader(value, into: mismatches)
        var facts = CustomerFacts()
        facts.subscribedBefore = stated(reader.optional("subscribedBefore", "true or false", \.bool))
        facts.status = stated(choice(&reader, "status"))
        facts.expiresAt = stated(reader.optional("expiresAt", Self.instant, timestamp))
        facts.autoRenews = stated(
            reader.optional("autoRenew", "“on” or “off”") { ["on": true, "off": false][$0.string ?? ""] }
        )
        facts.ownership = stated(choice(&reader, "ownership"))
        facts.environment = stated(choice(&reader, "environment"))
        facts.storefront = stated(reader.optional("storefront", text: Storefront.init))
        facts.region = stated(reader.optional("region", text: Region.init))
        facts.originalTransactionID = stated(reader.optional("originalTransactionId", text: TransactionID.init))
        facts.subscriptionGroup = stated(reader.optional("subscriptionGroupId", text: SubscriptionGroupID.init))
        if reader.member("refundedAt") != nil { facts.refundedAt = stated(refunds(&reader)) }
        if reader.member("offersUsed") != nil { facts.offersUsed = stated(uses(&reader)) }
        reader.finish()
        facts.addInferences()
        return facts
    }

    private static let instant = "a time as RFC 3339 writes it, like 2026-11-21T08:00:00Z"

    private func stated<Value>(_ value: Value?) -> Fact<Value>? {
        value.map { Fact($0, source: .statedByCaller, observedAt: observedAt) }
    }

    private func timestamp(_ value: JSONValue) -> Timestamp? {
        value.stringSlice.flatMap(Timestamp.init(rfc3339:))
    }

    private func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ reader: inout ObjectReader,
        _ name: StaticString
    ) -> Choice? {
        reader.optional(name, "one of " + Choice.allCases.map(\.rawValue).joined(separator: ", ")) { value in
            value.string.flatMap(Choice.init(rawValue:))
        }
    }

    private func refunds(_ reader: inout ObjectReader) -> [Timestamp] {
        reader.elements("refundedAt", atMost: 100) { value in
            timestamp(value) ?? mismatches.none(value, "expected \(Self.instant), found \(value.summary)")
        }
    }

    private func uses(_ reader: inout ObjectReader) -> [OfferUse] {
        reader.elements("offersUsed", atMost: 100) { value in
            var use = ObjectReader(value, into: mismatches)
            let type: OfferType? = use.required(
                "type",
                "one of " + OfferType.allCases.map(\.rawValue).joined(separator: ", ")
            ) { $0.string.flatMap(OfferType.init) }
            let offerID = use.optional("offerId", text: OfferID.init)
            let usedAt = use.optional("usedAt", Self.instant, timestamp)
            let group = use.optional("subscriptionGroupId", text: SubscriptionGroupID.init)
            use.finish()
            return type.map { OfferUse(type: $0, offerID: offerID, usedAt: usedAt, subscriptionGroup: group) }
        }
    }
}
