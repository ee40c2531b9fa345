// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// What the next entry changes of the log's tree, in memory: its frontier, and the tile of each level that is not full.
///
/// Adding an entry takes one hash for it and one for each node that it completes, one in the long run.
package struct TreeEdge: Hashable, Sendable {
    /// A tile as it is stored.
    package struct Tile: Hashable, Sendable {
        let level: Int
        let index: Int64
        /// 32 bytes for each hash.
        let hashes: [UInt8]
    }

    private var frontier = Frontier()
    /// By level, the hashes of the tile that is not full.
    private var partials: [[UInt8]] = [[]]
    private var filled: [Tile] = []
    /// A bit for each level above 0 whose partial tile has changed.
    private var changedLevels: UInt64 = 0

    private static let fullByteCount = TileCoordinate.fullWidth * SHA256Digest.byteCount

    /// The edge of a tree without entries.
    package init() {}

    /// The edge of a tree of `size` entries, from the hashes of its partial tiles by level.
    ///
    /// - Returns: nil unless each is as wide as the size wants it.
    init?(size: Int64, partials: [[UInt8]]) {
        var roots: [SHA256Digest] = []
        for (level, bytes) in partials.enumerated().reversed() {
            let width = TileCoordinate.extent(level: level, treeSize: size).partialWidth
            guard bytes.count == width * SHA256Digest.byteCount else { return nil }
            var start = 0
            for bit in (0..<TileCoordinate.height).reversed() where width >> bit & 1 == 1 {
                guard let hashes = bytes.hashes(in: start..<start + 1 << bit) else { return nil }
                roots.append(TreeHash.root(abovePerfect: hashes))
                start += 1 << bit
            }
        }
        guard size >> (TileCoordinate.height * partials.count) == 0 else { return nil }
        frontier = Frontier(size: size, roots: roots)
        self.partials = partials.isEmpty ? [[]] : partials
    }

    /// How many entries the tree has.
    package var size: Int64 { frontier.size }
    /// Size and root hash of the tree; each call computes the hash.
    package var head: TreeHead { frontier.head }

    /// Adds an entry, by its hash.
    package mutating func append(_ leaf: SHA256Digest) {
        let completed = frontier.append(leaf)
        add(leaf, toLevel: 0)
        for (index, root) in completed.enumerated() { add(root, toLevel: index + 1) }
    }

    private mutating func add(_ hash: SHA256Digest, toLevel level: Int) {
        if level == partials.count { partials.append([]) }
        hash.append(to: &partials[level])
        if partials[level].count == Self.fullByteCount {
            let full = TileCoordinate.extent(level: level, treeSize: size).full
            filled.append(Tile(level: level, index: full - 1, hashes: partials[level]))
            partials[level] = []
            changedLevels &= ~(1 << UInt64(level))
        } else if level > 0 {
            changedLevels |= 1 << UInt64(level)
        }
    }

    /// The tiles to be written since the last time: full ones, and of levels above 0 partial ones too.
    ///
    /// The partial tile of level 0 can be had from its at most 255 entries.
    package mutating func takeChanges() -> [Tile] {
        guard changedLevels != 0 || !filled.isEmpty else { return [] }
        let partial = partials.indices.filter { changedLevels >> UInt64($0) & 1 == 1 }.map { level in
            let full = TileCoordinate.extent(level: level, treeSize: size).full
            return Tile(level: level, index: full, hashes: partials[level])
        }
        defer { (filled, changedLevels) = ([], 0) }
        return filled + partial
    }
}

extension [UInt8] {
    /// The hashes of a tile at these places; nil where it is too short.
    func hashes(in range: Range<Int>) -> [SHA256Digest]? {
        guard range.upperBound * SHA256Digest.byteCount <= count else { return nil }
        return range.compactMap { SHA256Digest(bytes: self, from: $0 * SHA256Digest.byteCount) }
    }
}
