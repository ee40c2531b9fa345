// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

/// Reads one object out of Google Play's lists, and notes what does not fit.
///
/// Google omits false, zero and empty values, so an absent member has the least possible value. An empty object that is
/// present has a meaning. `null` counts as absent, except for `targeting`: its absence has the widest meaning.
struct PlayCatalogEntryReader {
    private let value: JSONValue
    private var object: ObjectReader
    private let mismatches: Mismatches

    init(_ value: JSONValue, into mismatches: Mismatches) {
        self.value = value
        self.mismatches = mismatches
        object = ObjectReader(value, into: mismatches)
    }

    mutating func id<Kind>(_ name: StaticString, as kind: Identifier<Kind>.Type) -> Identifier<Kind>? {
        object.required(name, text: Identifier<Kind>.init)
    }

    // MARK: - Subscriptions

    mutating func subscription(_ productID: GooglePlayProductID?) -> GooglePlaySubscription? {
        let packageName = id("packageName", as: PackageName.self)
        let basePlans = elements("basePlans") { $0.basePlan() }
        guard let packageName, let productID, isUnique(basePlans.map(\.id), in: "basePlans") else { return nil }
        return GooglePlaySubscription(packageName: packageName, productID: productID, basePlans: basePlans)
    }

    private mutating func basePlan() -> GooglePlayBasePlan? {
        let autoRenewing = member("autoRenewingBasePlanType", "an object", as: \.object)
        let kinds: [GooglePlayBasePlanKind] = [
            autoRenewing.map { _ in .autoRenewing },
            member("prepaidBasePlanType", "an object", as: \.object).map { _ in .prepaid },
            member("installmentsBasePlanType", "an object", as: \.object).map { _ in .installments },
        ].compactMap { $0 }
        let legacyOffer = autoRenewing?["legacyCompatibleSubscriptionOfferId"]?.string
        let (state, tags, regions) = (state(), tags(), regions())
        let future = futureRegions("newSubscriberAvailability")
        guard let id = id("basePlanId", as: BasePlanID.self) else { return nil }
        var basePlan = GooglePlayBasePlan(
            id: id,
            state: state,
            kind: kinds.count == 1 ? kinds[0] : .unknown,
            tags: tags,
            regions: GooglePlayRegions(regions, includesFutureRegions: future)
        )
        basePlan.legacyCompatibleOfferID = legacyOffer.flatMap { try? GooglePlayOfferID($0) }
        return basePlan
    }

    // MARK: - Offers

    mutating func offer(at place: OfferPlace) -> GooglePlayOffer? {
        let packageName = id("packageName", as: PackageName.self)
        let phases = elements("phases") { $0.phase() }
        let (state, tags, regions) = (state(), tags(), regions())
        let future = futureRegions("otherRegionsNewSubscriberAvailability")
        guard let packageName else { return nil }
        let key = GooglePlayOfferKey(
            packageName: packageName,
            productID: place.productID,
            basePlanID: place.basePlanID,
            offerID: place.offerID
        )
        var offer = GooglePlayOffer(
            key: key,
            state: state,
            phases: phases,
            targeting: targeting,
            regions: GooglePlayRegions(regions, includesFutureRegions: future)
        )
        offer.tags = tags
        return offer
    }

    /// What counts is whether `targeting` is present; even `null` is a targeting that we do not understand.
    private var targeting: GooglePlayTargeting {
        guard let targeting = value.object?["targeting"] else { return .absent }
        switch (targeting.object?["acquisitionRule"]?.object, targeting.object?["upgradeRule"]?.object) {
        case (.some, nil): return .acquisition
        case (nil, .some): return .upgrade
        default: return .unknown
        }
    }

    private mutating func phase() -> GooglePlayPhase? {
        let duration = object.required("duration", "an ISO 8601 duration of days or more, such as P1W") {
            $0.string.flatMap(OfferDuration.init(iso8601:))
        }
        let count = object.required("recurrenceCount", "a whole number from 1 to 10000", as: \.wholeNumber)
        let kinds = elements("regionalConfigs") { config in
            let kind = config.phaseKind()
            return config.id("regionCode", as: Region.self).map { (region: $0, kind: kind) }
        }
        guard let duration, let count, isUnique(kinds.map(\.region), in: "regionalConfigs") else { return nil }
        return GooglePlayPhase(
            duration: duration,
            recurrenceCount: count,
            kinds: Dictionary(kinds.map { ($0.region, $0.kind) }) { first, _ in first }
        )
    }

    /// One of four kinds, by the member that is present; a trial has an empty `free`.
    private mutating func phaseKind() -> GooglePlayPhaseKind {
        let kinds: [GooglePlayPhaseKind] = [
            member("free", "an object", as: \.object).map { _ in .freeTrial },
            member("price", "an object", as: \.object).map { _ in .priceDiscount },
            member("absoluteDiscount", "an object", as: \.object).map { _ in .priceDiscount },
            member("relativeDiscount", "a number", as: \.double).map { _ in .priceDiscount },
        ].compactMap { $0 }
        return kinds.count == 1 ? kinds[0] : .unknown
    }

    // MARK: - What both have

    /// Empty if the member is missing; the empty state is not a known one.
    private mutating func state() -> Reported<GooglePlayState> {
        Reported(member("state", "a string", as: \.string) ?? "")
    }

    /// What has not the shape of a tag hides nothing, since no tag that is wanted can be equal to it.
    private mutating func tags() -> Set<OfferTag> {
        let texts = elements("offerTags") { $0.object.required("tag", "a string", as: \.string) }
        return Set(texts.compactMap { try? OfferTag($0) })
    }

    private mutating func regions() -> [(region: Region, isAvailable: Bool)] {
        let regions = elements("regionalConfigs") { config in
            let isAvailable = config.member("newSubscriberAvailability", "true or false", as: \.bool) ?? false
            return config.id("regionCode", as: Region.self).map { (region: $0, isAvailable: isAvailable) }
        }
        return isUnique(regions.map(\.region), in: "regionalConfigs") ? regions : []
    }

    private mutating func futureRegions(_ name: String) -> Bool {
        member("otherRegionsConfig", "an object", as: \.object)?[name]?.bool ?? false
    }

    private mutating func member<Value>(
        _ name: StaticString,
        _ expected: String,
        as parse: (JSONValue) -> Value?
    ) -> Value? {
        object.optional(name, expected, as: parse)
    }

    private mutating func elements<Value>(
        _ name: StaticString,
        _ read: (inout PlayCatalogEntryReader) -> Value?
    ) -> [Value] {
        object.elements(name, atMost: 1000) { [mismatches] value in
            var reader = PlayCatalogEntryReader(value, into: mismatches)
            return read(&reader)
        }
    }

    /// What is named twice could be either.
    private func isUnique(_ ids: [some Hashable], in name: StaticString) -> Bool {
        guard Set(ids).count < ids.count else { return true }
        object.note(name, "names the same thing twice")
        return false
    }
}

extension GooglePlayRegions {
    fileprivate init(_ regions: [(region: Region, isAvailable: Bool)], includesFutureRegions: Bool) {
        self.init(
            listed: Set(regions.map(\.region)),
            available: Set(regions.filter(\.isAvailable).map(\.region)),
            includesFutureRegions: includesFutureRegions
        )
    }
}

extension JSONValue {
    /// From 1 to 10000, written as a number or, as protocol buffers allow for any of their integers, as a string.
    fileprivate var wholeNumber: Int? {
        let number = integer ?? string.flatMap { $0.utf8.count <= 5 ? Int64($0) : nil }
        return number.flatMap { (1...10_000).contains($0) ? Int($0) : nil }
    }
}
