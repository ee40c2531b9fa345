// SPDX-License-Identifier: Apache-2.0
package import JSON
package import OfferDomain

/// Reads the `facts` member: what a `backend` caller states of the customer's subscription.
package struct CustomerFactsReader {
    private let mismatches: Mismatches
    private let observedAt: Timestamp

    /// The facts count as observed at `now`, when they were stated.
    package static func read(
        _ value: JSONValue,
        observedAt now: Timestamp,
        into mismatches: Mismatches
    ) -> CustomerFacts {
        CustomerFactsReader(mismatches: mismatches, observedAt: now).read(value)
    }

    private func read(_ value: JSONValue) -> CustomerFacts {
        var reader = ObjectReader(value, into: mismatches)
        defer { reader.finish() }
        var stated = StatedFacts()
        stated.status = choice(&reader, "status")
        stated.isActive = reader.optional("isActive", "true or false", as: \.bool)
        if let status = stated.status, let isActive = stated.isActive,
            status.isActive.map({ $0 != isActive }) ?? false
        {
            reader.note("isActive", "contradicts the status \(status.rawValue); leave one of them out")
        }
        stated.subscribedBefore = reader.optional("subscribedBefore", "true or false", as: \.bool)
        stated.expiresAt = reader.optional("expiresAt", Self.instant, as: Self.timestamp)
        stated.autoRenews = reader.optional("autoRenew", "“on” or “off”") {
            ["on": true, "off": false][$0.string ?? ""]
        }
        stated.ownership = choice(&reader, "ownership")
        stated.environment = choice(&reader, "environment")
        stated.storefront = reader.optional("storefront", text: Storefront.init)
        stated.region = reader.optional("region", text: Region.init)
        stated.originalTransactionID = reader.optional("originalTransactionId", text: TransactionID.init)
        stated.subscriptionGroup = reader.optional("subscriptionGroupId", text: SubscriptionGroupID.init)
        stated.refundedAt = reader.member("refundedAt") == nil ? nil : refunds(&reader)
        stated.offersUsed = reader.member("offersUsed") == nil ? nil : uses(&reader)
        stated.cancelledAt = reader.optional("cancelledAt", Self.instant, as: Self.timestamp)
        stated.renewsTo = reader.optional("renewsTo", text: ProductID.init)
        stated.billingPlan = choice(&reader, "billingPlan")
        stated.commitmentEndsAt = reader.optional("commitmentEndsAt", Self.instant, as: Self.timestamp)
        stated.commitmentPeriod = reader.optional("commitmentPeriod", "a whole number from 1", as: period)
        stated.appleWinBackEligible = reader.optional("appleWinBackEligible", "true or false", as: \.bool)
        let app = readApp(&reader)
        stated.priceStepUpConsent = choice(&reader, "priceStepUpConsent")
        var facts = CustomerFacts(stated, at: observedAt)
        facts.app = app
        return facts
    }

    private func readApp(_ reader: inout ObjectReader) -> AppFacts {
        AppFacts(
            origin: choice(&reader, "appOrigin"),
            device: choice(&reader, "deviceIntegrity"),
            isLicensed: reader.optional("appLicensed", "true or false", as: \.bool)
        )
    }

    /// A number that a commitment can have.
    private func period(_ value: JSONValue) -> Int? {
        value.integer.flatMap { Int(exactly: $0) }.flatMap { (1...1_000).contains($0) ? $0 : nil }
    }

    package static let instant =
        "a time as RFC 3339 writes it, like 2026-11-21T08:00:00Z, or milliseconds since 1970 as an integer"

    /// Milliseconds as Apple and SDKs write them; a number that could only be seconds is refused and not misread.
    package static func timestamp(_ value: JSONValue) -> Timestamp? {
        if let milliseconds = value.integer {
            return milliseconds.magnitude < leastMilliseconds ? nil : Timestamp(exactlyMilliseconds: milliseconds)
        }
        return value.stringSlice.flatMap(Timestamp.init(rfc3339:))
    }

    /// In March 1973; as seconds, the year 5138.
    private static let leastMilliseconds: UInt64 = 100_000_000_000

    private func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ reader: inout ObjectReader,
        _ name: StaticString
    ) -> Choice? {
        reader.optional(name, "one of " + Choice.allCases.map(\.rawValue).joined(separator: ", ")) { $0.choice() }
    }

    private func refunds(_ reader: inout ObjectReader) -> [Timestamp] {
        reader.elements("refundedAt", atMost: 100) { value in
            Self.timestamp(value) ?? mismatches.none(value, "expected \(Self.instant), found \(value.summary)")
        }
    }

    private func uses(_ reader: inout ObjectReader) -> [OfferUse] {
        reader.elements("offersUsed", atMost: 100) { value in
            var use = ObjectReader(value, into: mismatches)
            let type: OfferType? = use.required(
                "type",
                "one of " + OfferType.allCases.map(\.rawValue).joined(separator: ", ")
            ) { $0.choice() }
            let offerID = use.optional("offerId", text: OfferID.init)
            let usedAt = use.optional("usedAt", Self.instant, as: Self.timestamp)
            let group = use.optional("subscriptionGroupId", text: SubscriptionGroupID.init)
            use.finish()
            return type.map { OfferUse(type: $0, offerID: offerID, usedAt: usedAt, subscriptionGroup: group) }
        }
    }
}

extension SubscriptionStatus {
    /// Whether the customer has access; nil where that depends on the app.
    fileprivate var isActive: Bool? {
        switch self {
        case .active, .inGracePeriod: true
        case .expired, .revoked, .paused: false
        case .inBillingRetry: nil
        }
    }
}
