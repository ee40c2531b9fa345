// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import OfferDomain

struct GooglePlayRegionsTests {
    private static let letters = (0x41...0x5A as ClosedRange<UInt8>).map { String(decoding: [$0], as: UTF8.self) }
    private static let all = letters.flatMap { first in letters.map { first + $0 } }

    @Test
    func `distinguishes each region from the next one`() throws {
        let regions = try Self.all.map { try Region($0) }
        for (one, next) in zip(regions, regions.dropFirst() + [regions[0]]) {
            let here = GooglePlayRegions(listed: [one], available: [one])
            #expect(here.isAvailableSomewhere(with: here) && here.isAvailableEverywhere(with: here))
            let there = GooglePlayRegions(listed: [one], available: [next])
            #expect(!here.isAvailableSomewhere(with: there) && !here.isAvailableEverywhere(with: there))
        }
    }

    @Test
    func `compares as sets do`() throws {
        var random = SplitMix(seed: 20)
        let regions = try Self.all.map { try Region($0) }
        for round in 0..<500 {
            func some() -> Set<Region> { Set((0..<round % 9).map { _ in random.pick(Array(regions.prefix(8))) }) }
            let one = GooglePlayRegions(listed: some(), available: some())
            let other = GooglePlayRegions(listed: some(), available: some())
            let both = one.available.intersection(other.available)
            #expect(one.isAvailableSomewhere(with: other) == !both.isEmpty)
            #expect(one.isAvailableEverywhere(with: other) == one.listed.isSubset(of: both))
        }
    }
}
