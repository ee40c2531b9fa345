// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// Which hashes prove that an entry is in a tree, or that a tree begins with an earlier one; and what they prove.
///
/// Source: RFC 6962 sections 2.1.1 and 2.1.2, and RFC 9162 sections 2.1.3.2 and 2.1.4.2 for the checks.
package enum MerkleProof {
    /// The spans of leaves whose hashes prove the inclusion of one leaf; the span nearest to the leaf is first.
    static func inclusion(of index: Int64, inSize size: Int64) -> [Range<Int64>] {
        precondition(0..<size ~= index, "the tree has the leaf")
        var spans: [Range<Int64>] = []
        var span = 0..<size
        while span.count > 1 {
            let middle = span.lowerBound + split(span)
            let (left, right) = (span.lowerBound..<middle, middle..<span.upperBound)
            spans.append(index < middle ? right : left)
            span = index < middle ? left : right
        }
        return spans.reversed()
    }

    /// The spans of leaves whose hashes prove that a tree begins with an older tree; none if that is empty or the same.
    static func consistency(from old: Int64, to new: Int64) -> [Range<Int64>] {
        precondition(0...new ~= old, "the tree was not larger before")
        guard old > 0, old < new else { return [] }
        var spans: [Range<Int64>] = []
        var span = 0..<new
        while span.upperBound != old {
            let middle = span.lowerBound + split(span)
            let (left, right) = (span.lowerBound..<middle, middle..<span.upperBound)
            spans.append(old <= middle ? right : left)
            span = old <= middle ? left : right
        }
        // The span that begins at 0 is the old tree itself, which the verifier knows.
        if span.lowerBound > 0 { spans.append(span) }
        return spans.reversed()
    }

    /// How many leaves the left one of the two trees below a node has: the largest power of two below all.
    static func split(_ span: Range<Int64>) -> Int64 {
        1 << (Int64.bitWidth - 1 - (Int64(span.count) - 1).leadingZeroBitCount)
    }

    /// The root that a proof of inclusion leads to; nil if the proof has too few or too many hashes for the position.
    package static func root(
        of leaf: SHA256Digest,
        at index: Int64,
        inSize size: Int64,
        proof: [SHA256Digest]
    ) -> SHA256Digest? {
        guard index >= 0, index < size else { return nil }
        var (place, last) = (index, size - 1)
        var hash = leaf
        for sibling in proof {
            guard last > 0 else { return nil }
            if place & 1 == 1 || place == last {
                hash = TreeHash.node(sibling, hash)
                while place & 1 == 0, place > 0 { (place, last) = (place >> 1, last >> 1) }
            } else {
                hash = TreeHash.node(hash, sibling)
            }
            (place, last) = (place >> 1, last >> 1)
        }
        return last == 0 ? hash : nil
    }

    /// Whether a proof shows that `new` begins with all of `old`.
    package static func isConsistent(_ old: TreeHead, with new: TreeHead, proof: [SHA256Digest]) -> Bool {
        guard old.size > 0, old.size < new.size else {
            guard old.size == new.size else { return old == .empty && new.size > 0 && proof.isEmpty }
            return old == new && proof.isEmpty
        }
        var hashes = ArraySlice(proof)
        let isPerfect = old.size.nonzeroBitCount == 1
        guard let first = isPerfect ? old.rootHash : hashes.popFirst() else { return false }
        var (place, last) = (old.size - 1, new.size - 1)
        while place & 1 == 1 { (place, last) = (place >> 1, last >> 1) }
        var (oldHash, newHash) = (first, first)
        for sibling in hashes {
            guard last > 0 else { return false }
            if place & 1 == 1 || place == last {
                oldHash = TreeHash.node(sibling, oldHash)
                newHash = TreeHash.node(sibling, newHash)
                while place & 1 == 0, place > 0 { (place, last) = (place >> 1, last >> 1) }
            } else {
                newHash = TreeHash.node(newHash, sibling)
            }
            (place, last) = (place >> 1, last >> 1)
        }
        return last == 0 && oldHash == old.rootHash && newHash == new.rootHash
    }
}
