// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import Storage

/// Reads the log as a tree: heads, proofs, tiles, bundles of entries.
///
/// One thread uses it, through a connection that may be read-only. The contents of a tree of a given size never change,
/// so several reads need no common snapshot.
package struct LogReader {
    let tables: LogTables

    package init(connection: any DatabaseConnection) {
        tables = LogTables(connection: connection)
    }

    /// The newest tree; without entries where there are none.
    package func head() throws(AuditReadError) -> TreeHead { try tables.head() }

    /// The head, checked against the entries and tiles as a writer checks it; others may add to the log meanwhile.
    ///
    /// - Throws: ``AuditReadError/log(_:)`` where the log is not as it was written.
    package func checkedHead() throws(AuditReadError) -> TreeHead {
        let (head, count) = try tables.headAndEntryCount()
        guard head.size == count else { throw .log(.sizeDiffers(head: head.size, entries: count)) }
        guard try rootHash(ofSize: head.size) == head.rootHash else { throw .log(.rootDiffers(size: head.size)) }
        return head
    }

    /// The root that the log had when it was of that size.
    package func rootHash(ofSize size: Int64) throws(AuditReadError) -> SHA256Digest {
        try nodes(ofSize: size).hash(of: 0..<size)
    }

    /// The hashes that lead from an entry to the root of a tree of that size, the one next to the entry first.
    ///
    /// - Throws: ``AuditReadError/noSuchTree(size:)`` also where the tree has no such entry.
    package func inclusionProof(of index: Int64, inSize size: Int64) throws(AuditReadError) -> [SHA256Digest] {
        let nodes = try nodes(ofSize: size)
        guard index >= 0, index < size else { throw .noSuchTree(size: size) }
        return try nodes.hashes(of: MerkleProof.inclusion(of: index, inSize: size))
    }

    /// The hashes that prove that the tree of size `new` begins with the tree of size `old`.
    package func consistencyProof(from old: Int64, to new: Int64) throws(AuditReadError) -> [SHA256Digest] {
        let nodes = try nodes(ofSize: new)
        guard old >= 0, old <= new else { throw .noSuchTree(size: old) }
        return try nodes.hashes(of: MerkleProof.consistency(from: old, to: new))
    }

    /// 32 bytes for each hash of a tile; nil if the log's tree does not have the tile, or not yet.
    package func tile(_ tile: TileCoordinate) throws(AuditReadError) -> [UInt8]? {
        let head = try head()
        guard tile.isImplied(byTreeSize: head.size) else { return nil }
        let hashes = try NodeReader(tables, size: head.size).tile(level: tile.level, index: tile.index)
        return Array(hashes.prefix(tile.width * SHA256Digest.byteCount))
    }

    /// `width` entries, 1...256, from index 256 times `n` on; each follows its length in two bytes, big-endian.
    ///
    /// - Returns: nil if the log has fewer entries.
    package func entryBundle(_ n: Int64, width: Int) throws(AuditReadError) -> [UInt8]? {
        guard let tile = TileCoordinate(level: 0, index: n, width: width) else { return nil }
        guard tile.isImplied(byTreeSize: try head().size) else { return nil }
        let first = n * Int64(TileCoordinate.fullWidth)
        var bundle: [UInt8] = []
        for entry in try entries(in: first..<first + Int64(width)) {
            bundle.append(UInt8(truncatingIfNeeded: entry.count >> 8))
            bundle.append(UInt8(truncatingIfNeeded: entry.count))
            bundle.append(contentsOf: entry)
        }
        return bundle
    }

    /// The exact bytes of an entry; nil if the log has fewer entries.
    package func entry(_ index: Int64) throws(AuditReadError) -> [UInt8]? {
        guard index >= 0, index < (try head().size) else { return nil }
        return try entries(in: index..<index + 1).first
    }

    /// Entries of one tile of level 0, checked against the tile's hashes if it is full, and so stored.
    private func entries(in span: Range<Int64>) throws(AuditReadError) -> [[UInt8]] {
        var entries: [[UInt8]] = []
        try tables.entries(in: span) { entries.append($0) }
        let width = Int64(TileCoordinate.fullWidth)
        let hashes = try tables.tile(level: 0, index: span.lowerBound / width)
        for (index, entry) in zip(span, entries) {
            let place = Int(index % width) * SHA256Digest.byteCount
            guard entry.count <= Int(UInt16.max),
                hashes.map({ SHA256Digest(bytes: $0, from: place) == TreeHash.leaf(entry) }) ?? true
            else { throw .damaged(index: index) }
        }
        return entries
    }

    private func nodes(ofSize size: Int64) throws(AuditReadError) -> NodeReader {
        guard size >= 0, size <= (try head().size) else { throw .noSuchTree(size: size) }
        return NodeReader(tables, size: size)
    }
}
