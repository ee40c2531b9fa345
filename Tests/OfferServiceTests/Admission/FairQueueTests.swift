// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import OfferService

/// Whoever waits has a turn, however much others have waiting.
struct FairQueueTests {
    private enum Kind: CaseIterable { case a, b }

    private static func all(_ queue: inout FairQueue<Kind, String, Int>) -> [Int] {
        var items: [Int] = []
        while let item = queue.next() { items.append(item) }
        return items
    }

    @Test func `takes turns by class, then by party, and of each party the first come first`() {
        var queue = FairQueue<Kind, String, Int>(mostOfClass: 100, mostOfParty: 100)
        for item in 0..<4 { _ = queue.add(item, of: .a, for: "flood") }
        _ = queue.add(10, of: .a, for: "other")
        for item in 20..<22 { _ = queue.add(item, of: .b, for: "flood") }
        #expect(!queue.isEmpty)
        #expect(Self.all(&queue) == [0, 20, 10, 21, 1, 2, 3])
        #expect(queue.isEmpty)
    }

    @Test func `holds so much of a party and of a class, and gives room back`() {
        var queue = FairQueue<Kind, String, Int>(mostOfClass: 5, mostOfParty: 3)
        func taken(_ kind: Kind, _ party: String) -> Int { (0..<9).count { queue.add($0, of: kind, for: party) } }
        #expect(taken(.a, "one") == 3)
        #expect(taken(.a, "two") == 2)
        #expect(taken(.b, "one") == 3, "another class has its own room")
        let first = queue.next()
        #expect(first == 0)
        #expect(taken(.a, "two") == 1)
    }

    /// Against a plain list: nothing is lost, nothing twice, and a party's order stays.
    @Test(arguments: UInt64(1)...20)
    func `loses nothing and keeps each party's order`(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var queue = FairQueue<Kind, Int, Int>(mostOfClass: .max, mostOfParty: .max)
        var (added, taken): ([Int: [Int]], [Int: [Int]]) = ([:], [:])
        for number in 0..<400 {
            if Bool.random(using: &random) {
                let party = Int.random(in: 0..<6, using: &random)
                _ = queue.add(party * 1000 + number, of: party % 2 == 0 ? .a : .b, for: party)
                added[party, default: []].append(party * 1000 + number)
            } else if let item = queue.next() {
                taken[item / 1000, default: []].append(item)
            }
        }
        while let item = queue.next() { taken[item / 1000, default: []].append(item) }
        #expect(taken == added)
    }
}
