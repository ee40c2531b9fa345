// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain
import Testing

@testable import OfferService
@testable import Stores

@Suite("Google Play: what is left out or added")
struct OfferRemovalTests {
    /// Each refusal that comes of what the store says, asked about in each way.
    static let refused = LadderRow.all.filter { !$0.isContradiction }

    @Test(arguments: refused)
    func `never turns a refusal into an approval by leaving out a member`(row: LadderRow) throws {
        let sample = try row.sample()
        // An offer that is wrong in one region only may be right in another.
        let refused = try [sample.region, nil, try Region("US"), try Region("DE")].filter { region in
            refuses(sample, in: region, try sample.playCatalog())
        }
        #expect(refused.contains(sample.region))
        for pointer in sample.offer.memberPointers where pointer != "/targeting" {
            try expectRefusals(of: sample, without: pointer, of: .offer, in: refused)
        }
        for pointer in sample.subscription.memberPointers {
            try expectRefusals(of: sample, without: pointer, of: .subscription, in: refused)
        }
    }

    private func expectRefusals(
        of sample: ListedSample,
        without pointer: String,
        of part: ListedSample.Part,
        in regions: [Region?]
    ) throws {
        var changed = sample
        try changed.set(part, pointer, nil)
        let playCatalog = try changed.playCatalog()
        for region in regions { #expect(refuses(sample, in: region, playCatalog), "\(part) \(pointer)") }
    }

    private func refuses(_ sample: ListedSample, in region: Region?, _ playCatalog: PlayCatalog) -> Bool {
        let verdict = GooglePlayOfferCheck.validate(
            sample.key,
            region: region,
            hideTags: sample.hideTags,
            in: playCatalog
        )
        if case .failure = verdict { return true }
        return false
    }

    @Test
    func `leaves members out of the whole of both texts`() throws {
        let sample = try ListedSample()
        #expect(sample.offer.memberPointers.count == 37)
        #expect(sample.subscription.memberPointers.count == 46)
    }

    @Test
    func `takes an offer without targeting for the developer's, and only then`() throws {
        var sample = try ListedSample()
        try sample.set(.offer, "/targeting", #"{"acquisitionRule":{"scope":{"anySubscriptionInApp":{}}}}"#)
        for pointer in ["/targeting/acquisitionRule/scope", "/targeting/acquisitionRule"] {
            var changed = sample
            try changed.set(.offer, pointer, nil)
            #expect(try changed.code() != nil)
        }
        try sample.set(.offer, "/targeting", nil)
        #expect(try sample.code() == nil)
    }

    @Test
    func `approves nothing more by adding members, and passes over those it does not know`() throws {
        let rows = try [ListedSample()] + LadderRow.all.map { try $0.sample() }
        for sample in rows {
            let code = try sample.code()
            for value in [#"{"futureMember":[{}]}"#, "true", "null"] {
                for pointer in sample.offer.objectPointers where !pointer.hasPrefix("/targeting") {
                    var changed = sample
                    try changed.set(.offer, "\(pointer)/futureMember", value)
                    #expect(try changed.code() == code, "offer \(pointer)")
                }
                for pointer in sample.subscription.objectPointers {
                    var changed = sample
                    try changed.set(.subscription, "\(pointer)/futureMember", value)
                    #expect(try changed.code() == code, "subscription \(pointer)")
                }
            }
        }
    }

    @Test
    func `comes to the same catalog whatever the order and size of the pages`() throws {
        let sample = try ListedSample()
        let other = sample.offer.with(.text("other"), at: "/offerId")
        let offers = [
            sample.offer, other, other.with(.text("DRAFT"), at: "/state"), sample.offer.with(nil, at: "/offerId"),
            sample.offer.with(nil, at: "/productId"),
        ]
        let subscriptions = [
            sample.subscription, sample.subscription.with(.text("basic"), at: "/productId"), sample.subscription,
        ]
        let expected = try playCatalog(subscriptions, offers, pageSize: 100)
        #expect(expected.offers.count == 2)
        #expect(expected.offers.values.count { $0.fault == .listedTwice } == 1)
        #expect(expected.strays.count == 2)
        for order in permutations(offers) {
            for pageSize in 1...2 {
                #expect(try playCatalog(subscriptions.reversed(), order, pageSize: pageSize) == expected)
            }
        }
    }

    private func playCatalog(_ subscriptions: [Tree], _ offers: [Tree], pageSize: Int) throws -> PlayCatalog {
        try PlayCatalog(
            of: ListedSample.key.packageName,
            subscriptions: pages("subscriptions", subscriptions, pageSize),
            offers: pages("subscriptionOffers", offers, pageSize),
            readAt: ListedSample.readAt
        )
    }

    private func pages(_ name: String, _ entries: [Tree], _ size: Int) throws -> [JSONDocument] {
        try stride(from: 0, to: entries.count, by: size).map { start in
            let page = Tree.object([name: .array(Array(entries[start..<min(start + size, entries.count)]))])
            return try JSONDocument(listing: page.json)
        }
    }

    private func permutations(_ elements: [Tree]) -> [[Tree]] {
        guard let first = elements.first else { return [[]] }
        return permutations(Array(elements.dropFirst())).flatMap { rest in
            (0...rest.count).map { place in rest[..<place] + [first] + rest[place...] }
        }
    }
}
