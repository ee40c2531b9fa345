// SPDX-License-Identifier: Apache-2.0
package import JSON
package import OfferDomain

/// Facts that a backend stored of a customer: members of `facts` as requests have them.
package struct StoredFacts: Hashable, Sendable {
    /// A JSON object, its members in the order of their names.
    package let json: [UInt8]
    /// The names of its members.
    package let names: [String]

    /// Takes an object that ``CustomerFactsReader`` has read without a mismatch; `null` states nothing.
    package init(_ object: JSONObject) {
        let stated = object.filter { !$0.value.isNull }.sorted { $0.name < $1.name }
        names = stated.map(\.name)
        var writer = JSONWriter(reserving: 64 * stated.count + 2)
        writer.beginObject()
        for member in stated {
            writer.name(text: member.name)
            writer.value(member.value)
        }
        writer.endObject()
        json = writer.bytes
    }

    /// Reads what ``json`` writes; `nil` for what is no object.
    init?(json: [UInt8]) {
        guard let object = (try? JSONDocument(json, limits: Self.limits))?.root.object else { return nil }
        self.init(object)
    }

    /// What they say, as observed when they were stored.
    func facts(storedAt: Timestamp) -> CustomerFacts {
        guard let document = try? JSONDocument(json, limits: Self.limits) else { return CustomerFacts() }
        return CustomerFactsReader.read(document.root, observedAt: storedAt, into: Mismatches())
    }

    /// The limit of a request's body, with room for escaped characters.
    private static let limits = JSONLimits(maximumBytes: 6 * 65_536)
}

extension StoredFacts {
    /// The needs of rules that each fact meets; facts that belong to a single request are left out.
    private static let needs: [String: FactNeeds] = [
        "subscribedBefore": .subscribedBefore,
        "status": [.status, .subscribedBefore],
        "isActive": [.status],
        "expiresAt": [.expiry, .status, .subscribedBefore],
        "autoRenew": [.autoRenew],
        "cancelledAt": [.cancellation, .autoRenew],
        "renewsTo": [.renewalProduct],
        "billingPlan": [.billingPlan],
        "commitmentEndsAt": [.commitmentEnd],
        "commitmentPeriod": [.commitmentPeriod],
        "appleWinBackEligible": [.appleWinBack],
        "priceStepUpConsent": [.priceStepUpConsent],
        "ownership": [.ownership, .subscribedBefore],
        "environment": [.environment],
        "storefront": [.storefront],
        "region": [.region],
        "refundedAt": [.refunds],
        "offersUsed": [.offersUsed],
    ]

    /// The names of facts that rules with these needs read, in the order of their bytes.
    package static func names(for wanted: FactNeeds) -> [String] {
        needs.filter { !$0.value.isDisjoint(with: wanted) }.keys.sorted()
    }

    /// Whether a fact says which subscription the others are about, and has no use alone.
    package static func qualifies(_ name: String) -> Bool { name == "subscriptionGroupId" }

    /// Whether a fact belongs to one request, and so cannot be stored for others.
    package static func isOfOneRequest(_ name: String) -> Bool {
        ["originalTransactionId", "appOrigin", "deviceIntegrity", "appLicensed"].contains(name)
    }
}
