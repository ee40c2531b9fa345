// SPDX-License-Identifier: Apache-2.0
import Cryptography

extension LogTables {
    /// The edge of the stored tree, built from its last tiles and the entries after them, and checked against its head.
    package func edge() throws(AuditReadError) -> TreeEdge {
        let head = try head()
        var partials: [[UInt8]] = []
        var level = 0
        while head.size >> (TileCoordinate.height * level) > 0 {
            partials.append(try partial(level: level, treeSize: head.size))
            level += 1
        }
        guard let edge = TreeEdge(size: head.size, partials: partials), edge.head == head else {
            throw .log(.rootDiffers(size: head.size))
        }
        return edge
    }

    /// The hashes of the tile of a level that is not full.
    private func partial(level: Int, treeSize: Int64) throws(AuditReadError) -> [UInt8] {
        let (full, width) = TileCoordinate.extent(level: level, treeSize: treeSize)
        guard level > 0 else {
            let first = full * Int64(TileCoordinate.fullWidth)
            var hashes: [UInt8] = []
            try entries(in: first..<treeSize) { TreeHash.leaf($0).append(to: &hashes) }
            return hashes
        }
        guard width > 0 else { return [] }
        let stored = try tile(level: level, index: full)
        guard let stored, stored.count == width * SHA256Digest.byteCount else {
            throw .log(.tileDamaged(level: level, index: full))
        }
        return stored
    }
}
