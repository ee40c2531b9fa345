// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Testing

@testable import OfferService

@Suite("Google Play: the ladder")
struct OfferLadderTests {
    @Test(arguments: LadderRow.all)
    func `refuses an offer with one fault, and names the fault`(row: LadderRow) throws {
        #expect(try row.sample().code() == row.code)
    }

    @Test
    func `passes an offer with nothing wrong, and says what to expect on the device`() throws {
        let offer = try ListedSample().verdict().get()
        #expect(offer.key == ListedSample.key)
        #expect(offer.tags.all.map(\.text) == ["ignore-offer", "standard", "winback"])
        #expect(offer.tags.own.map(\.text).sorted() == ["ignore-offer", "winback"])
        #expect(offer.tags.inherited.map(\.text) == ["standard"])
        #expect(offer.hideTags.map(\.tag.text) == ["ignore-offer"])
        #expect(offer.hideTags.map(\.place) == [.offer])
        #expect(offer.phases.map(\.kind) == [.freeTrial, .priceDiscount])
        #expect(offer.phases.map(\.duration.iso8601) == ["P1W", "P1M"])
        #expect(offer.phases.map(\.recurrenceCount) == [1, 3])
        #expect(offer.readAt == ListedSample.readAt)
    }

    @Test(arguments: [(true, true, TagPlace.both), (true, false, .offer), (false, true, .basePlan)])
    func `says where the tag is`(isOnOffer: Bool, isOnBasePlan: Bool, place: TagPlace) throws {
        var sample = try ListedSample()
        if !isOnOffer { try sample.set(.offer, "/offerTags", nil) }
        if isOnBasePlan { try sample.set(.subscription, "/basePlans/0/offerTags/1", #"{"tag":"ignore-offer"}"#) }
        #expect(try sample.verdict().get().hideTags.map(\.place) == [place])
    }

    @Test
    func `is content with any of several tags`() throws {
        var sample = try ListedSample()
        sample.hideTags = [try OfferTag("rc-ignore-offer"), try OfferTag("winback")]
        #expect(try sample.verdict().get().hideTags.map(\.tag.text) == ["winback"])
    }

    @Test
    func `passes an offer of one phase, of either kind and in either order`() throws {
        for taken in 0...1 {
            var sample = try ListedSample()
            try sample.set(.offer, "/phases/\(taken)", nil)
            #expect(try sample.verdict().get().phases.count == 1)
        }
        var sample = try ListedSample()
        let (first, second) = (sample.offer["phases"][0].json, sample.offer["phases"][1].json)
        try sample.set(.offer, "/phases", "[\(second),\(first)]")
        #expect(try sample.verdict().get().phases.map(\.kind) == [.priceDiscount, .freeTrial])
    }

    @Test
    func `needs no region where the offer is to be had in each that the base plan names`() throws {
        var sample = try ListedSample()
        sample.region = nil
        #expect(try sample.code() == nil)
    }

    @Test
    func `compares all four ids of the answer with those asked for`() throws {
        let sample = try ListedSample()
        let key = sample.key
        let offer = try #require(sample.playCatalog().offers[key]?.value)
        let subscription = try #require(sample.playCatalog().subscriptions[key.productID])
        let others = [
            "packageName": GooglePlayOfferKey(
                packageName: try PackageName("com.example.other"),
                productID: key.productID,
                basePlanID: key.basePlanID,
                offerID: key.offerID
            ),
            "productId": try .of("other", "monthly", "winback-50"),
            "basePlanId": try .of("premium", "other", "winback-50"),
            "offerId": try .of("premium", "monthly", "other"),
        ]
        for (member, other) in others {
            var playCatalog = PlayCatalog(packageName: key.packageName, readAt: ListedSample.readAt)
            playCatalog.add(subscription, as: key.productID)
            var answered = GooglePlayOffer(
                key: other,
                state: offer.state,
                phases: offer.phases,
                targeting: offer.targeting,
                regions: offer.regions
            )
            answered.tags = offer.tags
            playCatalog.add(.usable(answered), as: key.offerID, of: key.basePlanID, in: key.productID)
            let verdict = GooglePlayOfferCheck.validate(
                key,
                region: sample.region,
                hideTags: sample.hideTags,
                in: playCatalog
            )
            #expect(verdict == .failure(.answerNamesAnotherOffer(member: member)))
        }
    }

    @Test
    func `tells all that is wrong, in the order of the ladder`() throws {
        var sample = try ListedSample()
        try sample.set(.subscription, "/basePlans/0/state", #""DRAFT""#)
        try sample.set(.subscription, "/basePlans/0/autoRenewingBasePlanType", nil)
        try sample.set(.offer, "/state", #""DRAFT""#)
        try sample.set(.offer, "/targeting", "{}")
        try sample.set(.offer, "/offerTags", "[]")
        try sample.set(.offer, "/phases/1/regionalConfigs/1", nil)
        try sample.set(.offer, "/regionalConfigs/0/newSubscriberAvailability", nil)
        try sample.set(.offer, "/regionalConfigs/1/newSubscriberAvailability", nil)
        let faults = GooglePlayOfferCheck.faults(
            of: sample.key,
            hideTags: sample.hideTags,
            in: try sample.playCatalog()
        )
        #expect(
            faults.map(\.code) == [
                "base-plan-not-active", "base-plan-not-auto-renewing", "offer-draft", "targeting-unknown",
                "hide-tag-missing", "phase-region-missing", "region-not-available",
            ]
        )
        #expect(try sample.code() == "base-plan-not-active")
    }

    @Test(arguments: LadderRow.all)
    func `has a sentence and an advice for each refusal`(row: LadderRow) throws {
        guard case .failure(let fault) = try row.sample().verdict() else { return }
        for text in [fault.sentence, fault.advice] {
            #expect(text.hasSuffix("."))
            #expect(text.first?.isUppercase == true)
            #expect(!text.contains("  ") && !text.contains("Optional"))
        }
    }
}
