// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain
import Testing

@testable import Ledger
@testable import OfferService
@testable import Stores

@Suite("Google Play: reading the lists")
struct CatalogReadingTests {
    @Test
    func `keeps values that it does not know`() throws {
        var sample = try ListedSample()
        try sample.set(.offer, "/state", #""PAUSED_BY_GOOGLE""#)
        try sample.set(.subscription, "/basePlans/1/state", #""ARCHIVED""#)
        let playCatalog = try sample.playCatalog()
        #expect(playCatalog.offers[sample.key]?.value?.state == .unknown("PAUSED_BY_GOOGLE"))
        let plans = try #require(playCatalog.subscriptions[sample.key.productID]?.value?.basePlans)
        #expect(plans.map(\.state) == [.known(.active), .unknown("ARCHIVED")])
        #expect(plans.map(\.kind) == [.autoRenewing, .prepaid])
    }

    @Test
    func `takes what is left out for false, and what is named for listed`() throws {
        var sample = try ListedSample()
        try sample.set(.offer, "/regionalConfigs/1/newSubscriberAvailability", nil)
        try sample.set(.offer, "/otherRegionsConfig/otherRegionsNewSubscriberAvailability", nil)
        let regions = try #require(sample.playCatalog().offers[sample.key]?.value?.regions)
        #expect(regions.listed == [try Region("US"), try Region("DE")])
        #expect(regions.available == [try Region("US")])
        #expect(!regions.includesFutureRegions)
        #expect(try ListedSample().playCatalog().offers[sample.key]?.value?.regions.includesFutureRegions == true)
    }

    @Test
    func `reads whole numbers that are written as text`() throws {
        var sample = try ListedSample()
        try sample.set(.offer, "/phases/1/recurrenceCount", #""3""#)
        #expect(try sample.verdict().get().phases.map(\.recurrenceCount) == [1, 3])
        for text in [#""three""#, #""""#, "3.5", #""-1""#, "10001", #""999999999999""#] {
            try sample.set(.offer, "/phases/1/recurrenceCount", text)
            #expect(try sample.code() == "offer-malformed", "\(text)")
        }
    }

    @Test
    func `says where an entry is malformed, and uses the others`() throws {
        let sample = try ListedSample()
        let bad = sample.offer.with(.text("other"), at: "/offerId").with(.text("a week"), at: "/phases/0/duration")
        let catalog = try Self.catalog(offers: [bad, sample.offer])
        let key = try GooglePlayOfferKey.of("premium", "monthly", "other")
        let fault = try #require(catalog.offers[key]?.fault)
        #expect(fault.place == "/phases/0/duration")
        #expect(fault.reason == "expected an ISO 8601 duration of days or more, such as P1W, found “a week”")
        #expect(catalog.offers[sample.key]?.value != nil)
        #expect(catalog.unusableCount == 1)
    }

    @Test
    func `keeps count of what it can't even name`() throws {
        let sample = try ListedSample()
        let nameless = sample.offer.with(nil, at: "/offerId")
        let catalog = try Self.catalog(offers: [sample.offer, nameless, .text("what?"), .null])
        #expect(catalog.offers.count == 1)
        #expect(catalog.strays.map(\.place) == ["", "", "/offerId"])
        #expect(catalog.unusableCount == 3)
    }

    @Test
    func `reads pages without a list as empty`() throws {
        let empty = try [JSONDocument(listing: "{}"), JSONDocument(listing: #"{"subscriptions":[]}"#)]
        for pages in [[], empty] {
            let catalog = try PlayCatalog(
                of: ListedSample.key.packageName,
                subscriptions: pages,
                offers: pages,
                readAt: ListedSample.readAt
            )
            #expect(catalog.subscriptions.isEmpty && catalog.offers.isEmpty && catalog.strays.isEmpty)
        }
    }

    @Test(arguments: ["[]", #""subscriptions""#, #"{"subscriptions":{}}"#, #"{"subscriptions":"none"}"#])
    func `does not take for a list what is none`(text: String) throws {
        let page = try JSONDocument(listing: text)
        #expect(throws: StoreError.self) {
            try PlayCatalog(
                of: ListedSample.key.packageName,
                subscriptions: [page],
                offers: [],
                readAt: ListedSample.readAt
            )
        }
    }

    @Test
    func `tells a tag that Google does not allow from the one that is like it`() throws {
        var sample = try ListedSample()
        try sample.set(.offer, "/offerTags", #"[{"tag":"IGNORE-OFFER"},{"tag":"ignore_offer"},{"tag":"a"}]"#)
        #expect(try sample.playCatalog().offers[sample.key]?.value?.tags == [try OfferTag("a")])
        #expect(try sample.code() == "hide-tag-missing")
    }

    @Test
    func `survives damage of every byte`() throws {
        let whole = Array(#"{"subscriptionOffers":[\#(try ListedSample().offer.json)]}"#.utf8)
        var readable = 0
        for index in whole.indices {
            for byte: UInt8 in [0x20, 0x30, 0x61, 0x22, 0x7D, 0xFF] {
                var damaged = whole
                damaged[index] = byte
                guard let page = try? JSONDocument(damaged, limits: .googlePlayListing) else { continue }
                readable += 1
                _ = try? PlayCatalog(
                    of: ListedSample.key.packageName,
                    subscriptions: [],
                    offers: [page],
                    readAt: ListedSample.readAt
                )
            }
        }
        #expect(readable > 1000)
    }

    private static func catalog(offers: [Tree]) throws -> PlayCatalog {
        try PlayCatalog(
            of: ListedSample.key.packageName,
            subscriptions: [],
            offers: [JSONDocument(listing: #"{"subscriptionOffers":\#(Tree.array(offers).json)}"#)],
            readAt: ListedSample.readAt
        )
    }
}
