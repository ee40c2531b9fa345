// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// A tree that only grows, held by the roots of the perfect trees that it consists of.
///
/// There is one for each bit of its size, the largest first, so it takes at most 63 hashes however many leaves there are.
/// Also called a compact range.
package struct Frontier: Hashable, Sendable {
    /// How many leaves there are.
    package private(set) var size: Int64 = 0
    private var roots: [SHA256Digest] = []

    /// A tree without leaves.
    package init() {
        roots.reserveCapacity(64)
    }

    /// A tree of `size` leaves from the roots of its perfect trees, the largest first.
    init(size: Int64, roots: [SHA256Digest]) {
        precondition(roots.count == size.nonzeroBitCount, "one root for each bit of the size")
        self.size = size
        self.roots = roots
    }

    /// Adds a leaf, by its hash.
    ///
    /// - Returns: The roots of the trees of 256, 65,536, … leaves that it completes, the smallest first; mostly none.
    @discardableResult
    package mutating func append(_ leaf: SHA256Digest) -> [SHA256Digest] {
        var completed: [SHA256Digest] = []
        var hash = leaf
        var height = 0
        while size >> height & 1 == 1, let left = roots.popLast() {
            hash = TreeHash.node(left, hash)
            height += 1
            if height.isMultiple(of: TileCoordinate.height) { completed.append(hash) }
        }
        roots.append(hash)
        size += 1
        return completed
    }

    /// The hash over all leaves and their order.
    package var rootHash: SHA256Digest {
        guard var hash = roots.last else { return TreeHash.empty }
        for root in roots.dropLast().reversed() { hash = TreeHash.node(root, hash) }
        return hash
    }

    /// Size and root hash of the tree; each call computes the hash.
    package var head: TreeHead { TreeHead(size: size, rootHash: rootHash) }
}
