// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import OfferService
@testable import Stores

/// Every waiting party gets a turn, however many items other parties have waiting.
struct FairQueueTests {
    private enum Kind: CaseIterable { case a, b }

    private static func all(_ queue: inout FairQueue<Kind, String, Int>) -> [Int] {
        var items: [Int] = []
        while let item = queue.next() { items.append(item) }
        return items
    }

    @Test func `takes turns by class, then by party, and of each party the first come first`() {
        var queue = FairQueue<Kind, String, Int>(mostOfClass: 100)
        for item in 0..<4 { _ = queue.add(item, of: .a, for: "flood", atMost: 100) }
        _ = queue.add(10, of: .a, for: "other", atMost: 100)
        for item in 20..<22 { _ = queue.add(item, of: .b, for: "flood", atMost: 100) }
        #expect(!queue.isEmpty)
        #expect(Self.all(&queue) == [0, 20, 10, 21, 1, 2, 3])
        #expect(queue.isEmpty)
    }

    @Test func `holds so much of a party and of a class, and gives room back`() {
        var queue = FairQueue<Kind, String, Int>(mostOfClass: 5)
        func taken(_ kind: Kind, _ party: String) -> Int {
            (0..<9).count {
                if case .added = queue.add($0, of: kind, for: party, atMost: 3) { true } else { false }
            }
        }
        #expect(taken(.a, "one") == 3)
        #expect(taken(.a, "two") == 2)
        #expect(taken(.b, "one") == 3, "another class has its own room")
        let first = queue.next()
        #expect(first == 0)
        #expect(taken(.a, "two") == 1)
    }

    @Test func `a party with nothing waiting gets room in a full class from the party with the most`() {
        var queue = FairQueue<Kind, String, Int>(mostOfClass: 6)
        for (party, count) in [("flood", 4), ("other", 2)] {
            for item in 0..<count { _ = queue.add(item, of: .a, for: party, atMost: 100) }
        }
        var displaced: [Int] = []
        var refused = 0
        for item in 10..<14 {
            switch queue.add(item, of: .a, for: "late", atMost: 100) {
            case .added: Issue.record("there was no room")
            case .displaced(let other): displaced.append(other)
            case .refused: refused += 1
            }
        }
        #expect(displaced == [3, 2] && refused == 2)
        #expect(Self.all(&queue) == [0, 0, 10, 1, 1, 11])
    }

    /// Against a plain list: nothing is lost, nothing twice, and a party's order stays.
    @Test(arguments: UInt64(1)...20)
    func `loses nothing and keeps each party's order`(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var queue = FairQueue<Kind, Int, Int>(mostOfClass: .max)
        var (added, taken): ([Int: [Int]], [Int: [Int]]) = ([:], [:])
        for number in 0..<400 {
            if Bool.random(using: &random) {
                let party = Int.random(in: 0..<6, using: &random)
                _ = queue.add(party * 1000 + number, of: party % 2 == 0 ? .a : .b, for: party, atMost: .max)
                added[party, default: []].append(party * 1000 + number)
            } else if let item = queue.next() {
                taken[item / 1000, default: []].append(item)
            }
        }
        while let item = queue.next() { taken[item / 1000, default: []].append(item) }
        #expect(taken == added)
    }
}
