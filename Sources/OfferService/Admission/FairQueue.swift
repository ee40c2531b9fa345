// SPDX-License-Identifier: Apache-2.0

/// What waits, in an order that is fair to those it waits for: one turn for each class in a circle, within a class one turn
/// for each party, and for each party first come, first served.
struct FairQueue<Class: Hashable & CaseIterable, Party: Hashable, Item> {
    /// What waits of one class.
    private struct Ring {
        var items: [Party: [Item]] = [:]
        /// Those who have something waiting, whose turn is next first.
        var turns: [Party] = []
        var count = 0
    }

    private var rings: [Class: Ring] = [:]
    private var nextClass = 0
    private let mostOfClass: Int
    private let mostOfParty: Int

    /// An empty one that holds so much of each class, and of each party.
    init(mostOfClass: Int, mostOfParty: Int) {
        self.mostOfClass = mostOfClass
        self.mostOfParty = mostOfParty
    }

    var isEmpty: Bool { rings.values.allSatisfy { $0.count == 0 } }

    /// Adds an item at the end of its party's; false if there is no room for it.
    mutating func add(_ item: Item, of kind: Class, for party: Party) -> Bool {
        var ring = rings[kind] ?? Ring()
        rings[kind] = nil
        defer { rings[kind] = ring }
        guard ring.count < mostOfClass, (ring.items[party]?.count ?? 0) < mostOfParty else { return false }
        if ring.items[party] == nil { ring.turns.append(party) }
        ring.items[party, default: []].append(item)
        ring.count += 1
        return true
    }

    /// Takes the item whose turn it is; `nil` if none waits.
    mutating func next() -> Item? {
        let classes = Array(Class.allCases)
        for step in classes.indices {
            let place = (nextClass + step) % classes.count
            guard let item = next(of: classes[place]) else { continue }
            nextClass = (place + 1) % classes.count
            return item
        }
        return nil
    }

    private mutating func next(of kind: Class) -> Item? {
        guard var ring = rings.removeValue(forKey: kind) else { return nil }
        defer { rings[kind] = ring }
        guard let party = ring.turns.first else { return nil }
        ring.turns.removeFirst()
        var items = ring.items.removeValue(forKey: party) ?? []
        guard !items.isEmpty else { return nil }
        let item = items.removeFirst()
        ring.count -= 1
        if !items.isEmpty {
            ring.items[party] = items
            ring.turns.append(party)
        }
        return item
    }
}
