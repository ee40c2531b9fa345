// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// The hashes of a Merkle tree whose leaves are the entries of the log.
///
/// A leaf and a node begin with bytes of their own, so that neither can pass for the other. Source: RFC 6962, section 2.1.
package enum TreeHash {
    /// The root of a tree without leaves: the digest of nothing.
    package static let empty = SHA256.digest(of: [])

    /// The hash of an entry.
    package static func leaf(_ entry: [UInt8]) -> SHA256Digest {
        SHA256.digest(of: 0, then: entry)
    }

    /// The hash of a node above two others.
    package static func node(_ left: SHA256Digest, _ right: SHA256Digest) -> SHA256Digest {
        SHA256.digest(of: 1, then: left, right)
    }

    /// The root above neighbors whose number is a power of two.
    static func root(abovePerfect hashes: [SHA256Digest]) -> SHA256Digest {
        precondition(hashes.count.nonzeroBitCount == 1, "a perfect tree has a power of two of leaves")
        var hashes = hashes
        while hashes.count > 1 {
            let half = hashes.count / 2
            for index in 0..<half { hashes[index] = node(hashes[2 * index], hashes[2 * index + 1]) }
            hashes.removeLast(half)
        }
        return hashes[0]
    }
}
