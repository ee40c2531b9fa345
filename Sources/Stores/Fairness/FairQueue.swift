// SPDX-License-Identifier: Apache-2.0

/// A queue that is fair to all parties: classes take turns in a circle, parties take turns within a class, and the
/// items of each party are first come, first served.
struct FairQueue<Class: Hashable & CaseIterable, Party: Hashable, Item> {
    /// What waits of one class.
    private struct Ring {
        var items: [Party: [Item]] = [:]
        /// The parties with waiting items, in the order of their turns.
        var turns: [Party] = []
        var count = 0

        /// Removes the last item of the party with the most items, if that party has more than `fewest`.
        mutating func removeLast(ofWhoeverHasMoreThan fewest: Int) -> Item? {
            guard let most = items.max(by: { $0.value.count < $1.value.count }), most.value.count > fewest else {
                return nil
            }
            count -= 1
            return items[most.key]?.removeLast()
        }
    }

    private var rings: [Class: Ring] = [:]
    private var nextClass = 0
    private let mostOfClass: Int

    /// An empty queue that holds at most `mostOfClass` items of each class.
    init(mostOfClass: Int) { self.mostOfClass = mostOfClass }

    /// The result of adding an item.
    enum Addition {
        case added
        /// Added; the queue dropped the last item of the party with the most items.
        case displaced(Item)
        /// Not added, because a limit is reached.
        case refused
    }

    var isEmpty: Bool { rings.values.allSatisfy { $0.count == 0 } }

    /// Appends an item to those of its party, up to `mostOfParty` items.
    mutating func add(_ item: Item, of kind: Class, for party: Party, atMost mostOfParty: Int) -> Addition {
        var ring = rings.removeValue(forKey: kind) ?? Ring()
        defer { rings[kind] = ring }
        let own = ring.items[party]?.count ?? 0
        guard own < mostOfParty else { return .refused }
        var displaced: Item?
        if ring.count >= mostOfClass {
            displaced = ring.removeLast(ofWhoeverHasMoreThan: own + 1)
            if displaced == nil { return .refused }
        }
        if own == 0 { ring.turns.append(party) }
        ring.items[party, default: []].append(item)
        ring.count += 1
        return displaced.map(Addition.displaced) ?? .added
    }

    /// Removes and returns the next item; `nil` if the queue is empty.
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
