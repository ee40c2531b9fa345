// SPDX-License-Identifier: Apache-2.0

extension FakeGooglePlay {
    /// A subscription and its base plans.
    package struct Subscription: Encodable, Sendable {
        package var productID: String
        package var packageName: String
        package var basePlans: [BasePlan]
        /// What differs.
        package var members: FakeMembers

        package init(
            _ productID: String,
            of packageName: String = firstApp,
            basePlans: [BasePlan] = [BasePlan("monthly")],
            members: FakeMembers = [:]
        ) {
            self.productID = productID
            self.packageName = packageName
            self.basePlans = basePlans
            self.members = members
        }

        enum CodingKeys: String, CodingKey {
            case productID = "productId"
            case packageName, basePlans, members
        }
    }

    package struct BasePlan: Encodable, Sendable {
        package enum Kind: String, Encodable, CaseIterable, Sendable {
            case autoRenewing, prepaid, installments
        }

        package var basePlanID: String
        package var kind: Kind
        /// "ACTIVE", "INACTIVE", "DRAFT", or an unknown value.
        package var state: String
        package var billingPeriod: String
        package var tags: [String]
        /// Regions that are open to new subscribers, and regions that are not.
        package var regions, closedRegions: [String]
        /// Whether regions that Google adds later are open.
        package var otherRegions: Bool
        /// The offer that devices see that know nothing of tags.
        package var legacyCompatibleOfferID: String?
        /// What differs.
        package var members: FakeMembers

        package init(
            _ basePlanID: String,
            _ kind: Kind = .autoRenewing,
            state: String = "ACTIVE",
            billingPeriod: String = "P1M",
            tags: [String] = [],
            regions: [String] = ["US", "DE"],
            closedRegions: [String] = [],
            otherRegions: Bool = false,
            legacyCompatibleOfferID: String? = nil,
            members: FakeMembers = [:]
        ) {
            self.basePlanID = basePlanID
            self.kind = kind
            self.state = state
            self.billingPeriod = billingPeriod
            self.tags = tags
            self.regions = regions
            self.closedRegions = closedRegions
            self.otherRegions = otherRegions
            self.legacyCompatibleOfferID = legacyCompatibleOfferID
            self.members = members
        }

        enum CodingKeys: String, CodingKey {
            case basePlanID = "basePlanId"
            case legacyCompatibleOfferID = "legacyCompatibleOfferId"
            case kind, state, billingPeriod, tags, regions, closedRegions, otherRegions, members
        }
    }

    /// An offer of a base plan; the base plan need not be there.
    package struct Offer: Encodable, Sendable {
        package var id: ResourceName
        package var state: String
        package var tags: [String]
        package var phases: [Phase]
        package var targeting: Targeting
        package var regions, closedRegions: [String]
        package var otherRegions: Bool
        /// What differs.
        package var members: FakeMembers

        /// An active developer-determined offer with the tag that hides it: a week for free.
        package init(
            _ offerID: String,
            of productID: String,
            _ basePlanID: String = "monthly",
            in packageName: String = firstApp,
            state: String = "ACTIVE",
            tags: [String] = ["ignore-offer"],
            phases: [Phase] = [Phase(.free, "P7D")],
            targeting: Targeting = .developerDetermined,
            regions: [String] = ["US", "DE"],
            closedRegions: [String] = [],
            otherRegions: Bool = false,
            members: FakeMembers = [:]
        ) {
            id = ResourceName(productID, basePlanID, offerID, in: packageName)
            self.state = state
            self.tags = tags
            self.phases = phases
            self.targeting = targeting
            self.regions = regions
            self.closedRegions = closedRegions
            self.otherRegions = otherRegions
            self.members = members
        }

        enum CodingKeys: String, CodingKey {
            case state, tags, phases, targeting, regions, closedRegions, otherRegions, members
        }

        package func encode(to encoder: any Encoder) throws {
            try id.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(state, forKey: .state)
            try container.encode(tags, forKey: .tags)
            try container.encode(phases, forKey: .phases)
            try container.encodeIfPresent(targeting.members, forKey: .targeting)
            try container.encode(regions, forKey: .regions)
            try container.encode(closedRegions, forKey: .closedRegions)
            try container.encode(otherRegions, forKey: .otherRegions)
            try container.encode(members, forKey: .members)
        }
    }

    package struct Phase: Encodable, Sendable {
        package enum Kind: String, Encodable, CaseIterable, Sendable {
            case free, price, relativeDiscount, absoluteDiscount
        }

        package var kind: Kind
        /// ISO 8601.
        package var duration: String
        package var recurrenceCount: Int
        /// What differs.
        package var members: FakeMembers

        package init(_ kind: Kind, _ duration: String, times recurrenceCount: Int = 1, members: FakeMembers = [:]) {
            self.kind = kind
            self.duration = duration
            self.recurrenceCount = recurrenceCount
            self.members = members
        }
    }

    /// Who decides who may have an offer.
    package enum Targeting: Sendable {
        /// The app does: there is no such member.
        case developerDetermined
        /// Customers who never had this subscription, or none in the app.
        case acquisition(anyInApp: Bool = false)
        /// Customers with this subscription.
        case upgrade
        /// The member with whatever is in it.
        case raw(FakeMembers)

        var members: FakeMembers? {
            switch self {
            case .developerDetermined: nil
            case .acquisition(anyInApp: false): ["acquisitionRule": ["scope": ["thisSubscription": [:]]]]
            case .acquisition(anyInApp: true): ["acquisitionRule": ["scope": ["anySubscriptionInApp": [:]]]]
            case .upgrade: ["upgradeRule": ["scope": ["thisSubscription": [:]], "oncePerUser": true]]
            case .raw(let members): members
            }
        }
    }

    /// Names a subscription, one of its base plans, or an offer of that.
    package struct ResourceName: Encodable, Hashable, Sendable {
        package var packageName, productID: String
        package var basePlanID, offerID: String?

        package init(
            _ productID: String,
            _ basePlanID: String? = nil,
            _ offerID: String? = nil,
            in packageName: String = firstApp
        ) {
            self.packageName = packageName
            self.productID = productID
            self.basePlanID = basePlanID
            self.offerID = offerID
        }

        enum CodingKeys: String, CodingKey {
            case productID = "productId"
            case basePlanID = "basePlanId"
            case offerID = "offerId"
            case packageName
        }
    }

    struct Written: Decodable {
        let text: String
    }

    private struct Edit: Encodable {
        let resource: ResourceName
        let path: String
        let value: FakeValue

        enum CodingKeys: CodingKey {
            case path, value
        }

        func encode(to encoder: any Encoder) throws {
            try resource.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(path, forKey: .path)
            try container.encode(value, forKey: .value)
        }
    }

    /// Puts a subscription into the catalog, in the place of the one of this name.
    package func setSubscription(_ subscription: Subscription) throws {
        try perform("setSubscription", subscription)
    }

    /// Puts an offer into the catalog, in the place of the one of this name.
    package func setOffer(_ offer: Offer) throws {
        try perform("setOffer", offer)
    }

    /// Sets a member that a JSON pointer names, as `/phases/0/duration`; `.null` takes it away, and `/-` appends.
    package func edit(_ resource: ResourceName, _ path: String, _ value: FakeValue) throws {
        try perform("edit", Edit(resource: resource, path: path, value: value))
    }

    /// The JSON that a good answer has for a subscription, a base plan or an offer.
    package func json(of resource: ResourceName) throws -> String {
        let written: Written = try call("readResource", resource)
        return written.text
    }

    /// Takes a subscription, a base plan or an offer out of the catalog.
    ///
    /// Offers stay without their base plan.
    package func remove(_ resource: ResourceName) throws {
        try perform("remove", resource)
    }
}
