// SPDX-License-Identifier: Apache-2.0
import Cryptography

/// A Merkle tree exactly as RFC 6962 section 2.1 defines it, by recursion over lists, to hold ours to.
///
/// It only remembers what it has worked out of a span of leaves.
final class MerkleOracle {
    private let entries: [[UInt8]]
    private var known: [Range<Int>: SHA256Digest] = [:]

    init(_ entries: [[UInt8]]) {
        self.entries = entries
    }

    /// Entries that differ from each other in length and bytes.
    static func entries(_ count: Int) -> [[UInt8]] {
        (0..<count).map { Array("entry \($0)".utf8) + [UInt8](repeating: UInt8($0 % 251), count: $0 % 70) }
    }

    /// MTH(D[span]).
    func root(_ span: Range<Int>) -> SHA256Digest {
        if let hash = known[span] { return hash }
        let hash: SHA256Digest
        switch span.count {
        case 0: hash = SHA256.digest(of: [])
        case 1: hash = SHA256.digest(of: [0] + entries[span.lowerBound])
        default:
            let middle = span.lowerBound + Self.largestPowerOfTwo(below: span.count)
            let (left, right) = (root(span.lowerBound..<middle), root(middle..<span.upperBound))
            hash = SHA256.digest(of: [1] + left.bytes + right.bytes)
        }
        known[span] = hash
        return hash
    }

    /// PATH(m, D[span]).
    func path(_ index: Int, _ span: Range<Int>) -> [SHA256Digest] {
        guard span.count > 1 else { return [] }
        let half = Self.largestPowerOfTwo(below: span.count)
        let (left, right) = (
            span.lowerBound..<span.lowerBound + half, span.lowerBound + half..<span.upperBound
        )
        return index < half ? path(index, left) + [root(right)] : path(index - half, right) + [root(left)]
    }

    /// PROOF(m, D[n]).
    func proof(_ old: Int, _ new: Int) -> [SHA256Digest] { subproof(old, 0..<new, isWhole: true) }

    private func subproof(_ old: Int, _ span: Range<Int>, isWhole: Bool) -> [SHA256Digest] {
        guard old < span.count else { return isWhole ? [] : [root(span)] }
        let half = Self.largestPowerOfTwo(below: span.count)
        let (left, right) = (
            span.lowerBound..<span.lowerBound + half, span.lowerBound + half..<span.upperBound
        )
        return old <= half
            ? subproof(old, left, isWhole: isWhole) + [root(right)]
            : subproof(old - half, right, isWhole: false) + [root(left)]
    }

    private static func largestPowerOfTwo(below count: Int) -> Int {
        var power = 1
        while power * 2 < count { power *= 2 }
        return power
    }
}
