// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// Finds the hashes of a tree of one size in its tiles; reads each tile once.
///
/// A tree of a million entries has its nodes in three levels of tiles, so any proof takes a handful of them.
final class NodeReader {
    private struct Place: Hashable {
        let level: Int
        let index: Int64
    }

    private let tables: LogTables
    private let size: Int64
    private var tiles: [Place: [UInt8]] = [:]

    /// Reads of a tree of `size` leaves, which the log has had.
    init(_ tables: LogTables, size: Int64) {
        self.tables = tables
        self.size = size
    }

    /// The root above a span of leaves as it comes about in a tree: its left end is a multiple of the power of two that
    /// its length does not exceed.
    func hash(of span: Range<Int64>) throws(AuditReadError) -> SHA256Digest {
        guard span.count > 0 else { return TreeHash.empty }
        if span.count.nonzeroBitCount == 1 {
            let height = span.count.trailingZeroBitCount
            return try node(height: height, index: span.lowerBound >> height)
        }
        let middle = span.lowerBound + MerkleProof.split(span)
        return TreeHash.node(
            try hash(of: span.lowerBound..<middle),
            try hash(of: middle..<span.upperBound)
        )
    }

    /// The hashes at several spans, in their order.
    func hashes(of spans: [Range<Int64>]) throws(AuditReadError) -> [SHA256Digest] {
        var hashes: [SHA256Digest] = []
        for span in spans { hashes.append(try hash(of: span)) }
        return hashes
    }

    /// The root above `1 << height` leaves, counted from the left.
    private func node(height: Int, index: Int64) throws(AuditReadError) -> SHA256Digest {
        let (level, rest) = (height / TileCoordinate.height, height % TileCoordinate.height)
        let first = index << rest
        let width = Int64(TileCoordinate.fullWidth)
        let tile = first / width
        let start = Int(first % width)
        guard let hashes = try self.tile(level: level, index: tile).hashes(in: start..<start + 1 << rest) else {
            throw .log(.tileDamaged(level: level, index: tile))
        }
        return TreeHash.root(abovePerfect: hashes)
    }

    /// All hashes that a tree of this size has in a tile.
    func tile(level: Int, index: Int64) throws(AuditReadError) -> [UInt8] {
        let place = Place(level: level, index: index)
        if let known = tiles[place] { return known }
        let (full, partialWidth) = TileCoordinate.extent(level: level, treeSize: size)
        let width = index < full ? TileCoordinate.fullWidth : partialWidth
        let hashes = try read(place, width)
        tiles[place] = hashes
        return hashes
    }

    private func read(_ place: Place, _ width: Int) throws(AuditReadError) -> [UInt8] {
        let byteCount = width * SHA256Digest.byteCount
        if let stored = try tables.tile(level: place.level, index: place.index) {
            guard stored.count >= byteCount else { throw .log(.tileDamaged(level: place.level, index: place.index)) }
            return Array(stored.prefix(byteCount))
        }
        guard place.level == 0 else { throw .log(.tileDamaged(level: place.level, index: place.index)) }
        var hashes: [UInt8] = []
        hashes.reserveCapacity(byteCount)
        let first = place.index * Int64(TileCoordinate.fullWidth)
        try tables.entries(in: first..<first + Int64(width)) { TreeHash.leaf($0).append(to: &hashes) }
        return hashes
    }
}
