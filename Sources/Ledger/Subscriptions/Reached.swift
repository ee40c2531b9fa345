// SPDX-License-Identifier: Apache-2.0

/// Visits linked chains, purchases or subscriptions, each once, up to `limit`.
struct Reached<Key: Hashable> {
    /// In the order in which they were reached.
    private(set) var all: [Key] = []
    private var known: Set<Key> = []
    private var position = 0
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    mutating func add(_ keys: some Sequence<Key>) {
        for key in keys where all.count < limit && known.insert(key).inserted { all.append(key) }
    }

    /// The next key from which links are still to be followed.
    mutating func next() -> Key? {
        guard position < all.count else { return nil }
        defer { position += 1 }
        return all[position]
    }

    func contains(_ key: Key) -> Bool { known.contains(key) }
}
